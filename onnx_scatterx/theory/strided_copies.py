"""Writes a scattering or a gathering as a list of strided copies (moves).

    for every i with 0 <= i_d < n_d:     to[t + sum i_d b_d] = from[s + sum i_d a_d]

A device that copies memory in strides runs such a list: s and t are flat offsets, n_d extents, a_d
and b_d strides, in elements of row-major tensors. A scattering copies from updates to data, a
gathering from data to its output. No element is written twice, so the copies may run in any order.

The dims along which all elements move alike are taken first. In each order of the other dims,
elements at equal steps are joined, and then copies of the same extents and strides at equal steps,
until no two join.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, Generic, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.grouping import grouped
from onnx_scatterx.theory.components import N
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer

Integers: TypeAlias = NDArray[np.int64]
Point: TypeAlias = tuple[N, N]
"""The offsets, or the strides, in the source and in the target."""
Dims: TypeAlias = tuple[tuple[N, Point[N]], ...]
"""The extent and the strides of each dim."""
Grid: TypeAlias = tuple[Point[N], Dims[N]]

_TRIED = 1 << 18  # the most elements that are joined, over all orders of the dims


@dataclass(frozen=True, slots=True)
class Move(Generic[N]):
    """One strided copy; the outermost dim is first, and dims of extent 1 are left out.

    Offsets and strides count elements; they are numbers or terms. ``bytes`` is the number of
    written bytes. A stride of the source may be 0 or negative. If the strides of the target are
    numbers, they are positive.
    """

    source: N
    target: N
    extents: tuple[N, ...]
    source_strides: tuple[N, ...]
    target_strides: tuple[N, ...]
    bytes: N

    def copy(self: "Move[int]", source: NDArray[Any], target: NDArray[Any]) -> None:
        """Copy between two flat arrays.

        >>> target = np.zeros(6, int)
        >>> Move(2, 1, (2,), (-2,), (3,), 16).copy(np.array([7, 8, 9]), target)
        >>> target
        array([0, 9, 0, 0, 7, 0])
        """
        steps = np.indices(self.extents, np.int64)
        taken = self.source + np.tensordot(np.array(self.source_strides, np.int64), steps, 1)
        target[self.target + np.tensordot(np.array(self.target_strides, np.int64), steps, 1)] = (
            source[taken]
        )

    @property
    def runs(self: "Move[int]") -> int:
        """The number of contiguous runs: if the strides of the last dim are 1, this dim is a run.

        >>> Move(0, 4, (2, 3), (3, 1), (8, 1), 24).runs
        2
        """
        joined = (self.source_strides[-1:], self.target_strides[-1:]) == ((1,), (1,))
        return prod(self.extents[:-1] if joined else self.extents)


def moves(
    subject: XTransformer | Scattering | Gathering,
    itemsize: int | None = None,
    *,
    last_wins: bool = False,
) -> tuple[Move[int], ...]:
    """Return the strided copies of a scattering or a gathering, ordered by target.

    A transformer counts as a scattering. ``itemsize`` is the bytes of an element, by default those
    of the data, or 1 for a transformer. If ``last_wins``, updates that a later update overwrites
    are left out.

    Raises ValueError if an update is out of bounds, if updates collide without ``last_wins``, or if
    the scattering has a reduction, because a copy does not read its target.

    >>> from onnx_scatterx.theory.picks import Pick
    >>> rows = XTransformer((2, 3), (4, 3), [[3], [1]], Pick((0,)), Pick((1,)), Pick.identity(2))
    >>> moves(rows, 4)  # row 1 of updates to row 1, row 0 to row 3
    (Move(source=3, target=3, extents=(2, 3), source_strides=(-3, 1), target_strides=(6, 1), \
bytes=24),)
    """
    transformer = subject if isinstance(subject, XTransformer) else subject.transformer
    own = 1 if isinstance(subject, XTransformer) else subject.data.dtype.itemsize
    targets = transformer.offsets()
    sources = np.arange(targets.size, dtype=np.int64).reshape(targets.shape)
    if isinstance(subject, Gathering):
        sources, targets = targets, sources
    elif isinstance(subject, Scattering) and subject.reduction is not Reduction.NONE:
        raise ValueError(f"no copy does the reduction {subject.reduction}: it reads its target")
    elif not transformer.is_injective():
        if not last_wins:
            first = transformer.collisions()[0]
            raise ValueError(f"updates {first[0]} and {first[1]} go to one element")
        last = np.unique(targets.ravel()[::-1], return_index=True)[1]
        sources = np.sort(targets.size - 1 - last)
        targets = targets.ravel()[sources]
    size = own if itemsize is None else itemsize
    grids = _fewest(np.stack([sources, targets], -1)) if targets.size else []
    return tuple(sorted((as_move(*g, size) for g in grids), key=lambda m: m.target))


def as_move(first: Point[Any], dims: Dims[Any], size: int) -> Move[Any]:
    """Return a grid of elements of ``size`` bytes as a move, with as few dims as possible."""
    source, target = first
    folded: list[tuple[Any, Point[Any]]] = []
    if all(isinstance(b, int) for _, (_, b) in dims):
        dims = tuple(sorted(dims, key=lambda d: -abs(d[1][1])))
    for n, (a, b) in dims:
        if isinstance(b, int) and b < 0:  # reverse the dim, so that the target ascends
            source, target, a, b = source + (n - 1) * a, target + (n - 1) * b, -a, -b
        if folded and folded[-1][1] == (n * a, n * b):
            n *= folded.pop()[0]
        folded.append((n, (a, b)))
    extents = tuple(n for n, _ in folded)
    from_, to = (tuple(steps[side] for _, steps in folded) for side in (0, 1))
    return Move(source, target, extents, from_, to, prod(extents) * size)


def _fewest(points: Integers) -> list[Grid[int]]:
    """Return the grids of the elements of a tensor, ``(source, target)`` on the last axis."""
    common: list[tuple[int, Point[int]]] = []
    for d in range(points.ndim - 1):
        steps = np.diff(points, axis=d)
        if steps.size and (steps == (step := steps[(0,) * (points.ndim - 1)])).all():
            common.append((points.shape[d], (int(step[0]), int(step[1]))))
            points = points[(slice(None),) * d + (slice(1),)]
    shared = tuple(common)
    orders = ([((s, t), shared) for s, t in flat.tolist()] for flat in _orders(points))
    return min(map(joined, orders), key=len)


def _orders(points: Integers) -> Iterator[Integers]:
    """Yield the elements in each order of the remaining dims, and in the order of targets."""
    wide = [d for d, n in enumerate(points.shape[:-1]) if n > 1]
    for order in itertools.islice(itertools.permutations(wide), max(1, 2 * _TRIED // points.size)):
        rest = (d for d in range(points.ndim) if d not in order)
        yield points.transpose(*order, *rest).reshape(-1, 2)
    yield (flat := points.reshape(-1, 2))[np.argsort(flat[:, 1])]


def joined(grids: list[Grid[Any]]) -> list[Grid[Any]]:
    """Join grids of the same extents and strides at equal steps, until no two grids join.

    Offsets may be terms. If the grids do not overlap, the joined grids do not overlap.

    >>> joined([((i, 2 * i), ()) for i in (0, 1, 2, 7, 8, 9)])
    [((0, 0), ((2, (7, 14)), (3, (1, 2))))]
    """
    while True:
        stretches: list[Grid[Any]] = []
        for group in grouped((grid[1], grid) for grid in grids).values():
            stretches += _stretches(group)
        if len(stretches) == len(grids):
            return stretches
        grids = stretches


def _stretches(grids: list[Grid[Any]]) -> list[Grid[Any]]:
    """Join neighbours at equal steps, from the first on, which gives the fewest stretches."""
    stretches, begin, dims = list[Grid[Any]](), 0, grids[0][1]
    points = [first for first, _ in grids]
    steps = [(s1 - s, t1 - t) for (s, t), (s1, t1) in itertools.pairwise(points)]
    while begin < len(points):
        end = begin + 1
        while end < len(points) and steps[end - 1] == steps[begin]:
            end += 1
        more = ((end - begin, steps[begin]),) if end - begin > 1 else ()
        stretches.append((points[begin], (*more, *dims)))
        begin = end
    return stretches
