"""X-transformers: the element of data that each update is written to (Definition 10).

    J = T(I) = p( f(p1(I)) ++ p2(I) )

I is an index of updates, and J an index of data. p1, p2 and p are picks, and f is the provision
tensor of the inner transformer: the content of an indices input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.errors import check
from onnx_scatterx.theory.components import (
    Affine,
    Component,
    Constant,
    evaluate,
    fit_component,
    normal_picks,
    without_repeats,
)
from onnx_scatterx.theory.picks import Index, Pick
from onnx_scatterx.theory.verdict import Verdict, equals_coordinate, judge, prove


def as_index(index: Any) -> Index:
    """Return an index as a tuple of Python's integers."""
    return tuple(int(i) for i in index)


def checked_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """Return a shape, or raise ``ValueError`` if an extent is negative."""
    check(all(n >= 0 for n in shape), f"the shape {tuple(shape)} has a negative extent")
    return as_index(shape)


def permutation(perm: Sequence[int], rank: int) -> Pick:
    """Return a permutation of axes as a pick, or raise ``ValueError``."""
    pick = Pick(perm)
    if len(pick) != rank or not pick.is_shuffle:
        raise ValueError(f"a permutation of {rank} axes is needed, not {tuple(perm)}")
    return pick


def own_provision(f: Any) -> NDArray[np.int64]:
    """Return a read-only copy of a provision tensor, or raise ``ValueError``."""
    array = np.asarray(f)
    if array.size == 0:
        array = array.astype(np.int64)
    if not np.can_cast(array.dtype, np.int64) or array.dtype == np.bool_:
        raise ValueError(f"f must hold integers that int64 can hold, not {array.dtype}")
    return np.broadcast_to(np.array(without_repeats(array), np.int64), array.shape)  # read-only


@dataclass(frozen=True, eq=False)
class XTransformer:
    """The transformer of updates of a shape into data of a shape.

    ``f`` holds integers in the shape ``p1(shape) + (rank of data - len(p2),)``, and is copied.
    ``p`` is a permutation. Negative components count from the end. A target may be out of bounds:
    ``check_bounds`` checks this. Two transformers are equal if they are the same function between
    the same shapes, even if their representations differ.

    >>> rows = XTransformer((2, 3), (4, 3), [[1], [-1]], Pick((0,)), Pick((1,)), Pick.identity(2))
    >>> rows((1, 2))
    (3, 2)
    >>> rows.components
    (Affine(start=1, step=2, dim=0), Affine(start=0, step=1, dim=1))
    >>> rows == XTransformer.from_provision(rows.provision(), (4, 3))
    True
    """

    shape: tuple[int, ...]
    data_shape: tuple[int, ...]
    f: NDArray[np.integer[Any]]
    p1: Pick
    p2: Pick
    p: Pick

    def __post_init__(self) -> None:
        for name in ("shape", "data_shape"):
            object.__setattr__(self, name, checked_shape(getattr(self, name)))
        object.__setattr__(self, "f", own_provision(self.f))
        rank = len(self.data_shape)
        for name, pick in (("p1", self.p1), ("p2", self.p2)):
            if any(d >= len(self.shape) for d in pick):
                raise ValueError(f"{name} is {pick}, but updates has only {len(self.shape)} dims")
        check(len(self.p2) <= rank, f"p2 is {self.p2}, but data has only {rank} axes")
        if not self.p.is_shuffle or len(self.p) != rank:
            raise ValueError(f"p must be a permutation of the {rank} axes of data, not {self.p}")
        expected = (*self.p1(self.shape), rank - len(self.p2))
        shape = self.f.shape
        check(shape == expected, f"f has shape {shape}, but p1 and p2 ask for {expected}")

    @classmethod
    def from_provision(
        cls, provision: NDArray[np.integer[Any]], data_shape: Sequence[int]
    ) -> XTransformer:
        """Make the transformer with the provision tensor E (Definition 6): ``T(I) = E[I]``.

        E has the shape of updates and one more dim, whose extent is the rank of data.
        """
        dims = np.ndim(provision) - 1
        check(dims >= 0, "a provision tensor has the shape of updates and one dim more")
        shape, rank = np.shape(provision)[:-1], len(data_shape)
        p1, p = Pick.identity(dims), Pick.identity(rank)
        return cls(shape, tuple(data_shape), np.asarray(provision), p1, Pick(), p)

    def __call__(self, index: Sequence[int]) -> Index:
        """Return the target J of an update index I; ``IndexError`` if I is not in updates."""
        if len(index) != len(self.shape) or not all(
            0 <= i < n for i, n in zip(index, self.shape, strict=True)
        ):
            raise IndexError(f"{tuple(index)} is not an index of updates of shape {self.shape}")
        inner = tuple(int(j) for j in self.f[self.p1(index)])
        target = self.p(inner + self.p2(index))
        sizes = zip(target, self.data_shape, strict=True)
        return tuple(int(j) + (n if -n <= j < 0 else 0) for j, n in sizes)

    @cached_property
    def components(self) -> tuple[Component[int], ...]:
        """Each coordinate of the target as a function of I, in canonical form."""
        if 0 in self.shape:
            return (Constant(0),) * len(self.data_shape)
        return tuple(map(self._component, range(len(self.data_shape))))

    def _component(self, axis: int) -> Component[int]:
        column, width = self.p[axis], self.f.shape[-1]
        if column >= width:
            d = self.p2[column - width]
            return Affine(0, 1, d) if d in self.wide else Constant(0)
        dims = sorted(self.p1.codomain)
        # p1 may have any order and repeat a dim, so einsum is needed: it transposes, and takes
        # diagonals.
        values = np.einsum(self.f[..., column], list(self.p1), dims)
        spread = tuple(slice(None) if d in dims else None for d in range(len(self.shape)))
        return fit_component(values[spread], self.data_shape[axis])

    @property
    def wide(self) -> frozenset[int]:
        """The dims in which two update indices can differ."""
        if 0 in self.shape:
            return frozenset()
        return frozenset(d for d, extent in enumerate(self.shape) if extent > 1)

    def represented(self, p1: Pick, p2: Pick, p: Pick) -> XTransformer | None:
        """Return the same transformer with these picks, or None if they cannot represent it."""
        columns = p.inverse().coordinates
        by_f, by_p2 = columns[: len(p) - len(p2)], columns[len(p) - len(p2) :]
        for axis, d in zip(by_p2, p2, strict=True):
            if not equals_coordinate(self.components[axis], d, self.wide):
                return None
        f = np.empty((*p1(self.shape), len(by_f)), np.int64)
        for column, axis in enumerate(by_f):
            component = self.components[axis]
            if not p1.codomain.issuperset(component.dims):
                return None
            where = {d: i for i, d in enumerate(p1) if d in component.dims}
            along = np.ix_(*(np.arange(n) for n in p1(self.shape)))
            taken = tuple(along[where[d]] if d in where else 0 for d in range(len(self.shape)))
            f[..., column] = evaluate(component, self.shape)[taken]
        return replace(self, f=f, p1=p1, p2=p2, p=p)

    def normal(self) -> XTransformer:
        """Return the normal form: the same for every representation of the same transformer.

        >>> T = XTransformer.from_provision(np.array([[[3, 0], [3, 1]]]), (5, 2)).normal()
        >>> T.f, T.p1, T.p2, T.p
        (array([3]), Pick(()), Pick((1,)), Pick((0, 1)))
        """
        form = self.represented(*normal_picks(self.components))
        assert form is not None
        return form

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, XTransformer):
            return NotImplemented
        # The components and the normal form determine each other.
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.shape, self.data_shape, self.components

    def verdict(self) -> Verdict:
        """The verdict whether updates move as slices, with its picks or its witness."""
        verdict = judge(self.components, len(self.shape), self.wide)
        return prove(verdict, self.components, self.shape)

    def transpose_data(self, perm: Sequence[int]) -> XTransformer:
        """Return the transformer into ``data.transpose(perm)``, with the transpose in p."""
        pick = permutation(perm, len(self.data_shape))
        return replace(self, data_shape=pick(self.data_shape), p=pick @ self.p)

    def transpose_updates(self, perm: Sequence[int]) -> XTransformer:
        """Return the transformer of ``updates.transpose(perm)``, with the transpose in p1 and p2.

        The order of the updates changes. If updates collide, the result of a scattering may change.
        """
        pick = permutation(perm, len(self.shape))
        back = pick.inverse()
        return replace(self, shape=pick(self.shape), p1=self.p1 @ back, p2=self.p2 @ back)

    def provision(self) -> NDArray[np.int64]:
        """Compute the provision tensor E, ``E[I] = T(I)``; numbers in bounds are not negative."""
        provision = np.empty((*self.shape, len(self.data_shape)), np.int64)
        for axis, component in enumerate(self.components):
            provision[..., axis] = evaluate(component, self.shape)
        return provision

    def out_of_bounds(self) -> tuple[Index, ...]:
        """Find the update indices whose target is out of bounds, in row-major order."""
        mask = np.zeros(self.shape, np.bool_)
        for component, size in zip(self.components, self.data_shape, strict=True):
            values = evaluate(component, self.shape)
            mask |= (values < 0) | (values >= size)
        return tuple(map(as_index, np.argwhere(mask)))

    def check_bounds(self) -> None:
        """Raise ``ValueError`` if the target of an update is out of bounds."""
        if 0 in self.shape:
            return
        for axis, (t, size) in enumerate(zip(self.components, self.data_shape, strict=True)):
            values = evaluate(t, self.shape)
            outside = (values < 0) | (values >= size)
            if outside.any():
                index = np.unravel_index(int(outside.argmax()), outside.shape)
                raise ValueError(
                    f"update {as_index(index)} is out of bounds: "
                    f"component {axis} is {values[index]}, and that axis of data has size {size}"
                )

    def offsets(self) -> NDArray[np.int64]:
        """The flat, row-major targets of all updates; ``ValueError`` if out of bounds."""
        self.check_bounds()
        offsets = np.zeros(self.shape, np.int64)
        for axis, component in enumerate(self.components):
            stride = prod(self.data_shape[axis + 1 :])
            offsets += stride * evaluate(component, self.shape)
        return offsets

    def is_injective(self) -> bool:
        """Whether no two updates share a target; ``ValueError`` if out of bounds."""
        offsets = self.offsets()
        if not self.wide.issubset(d for t in self.components for d in t.dims):
            return False
        return np.unique(offsets).size == offsets.size

    def collisions(self) -> tuple[tuple[Index, ...], ...]:
        """Group the update indices that share a target; ``ValueError`` if out of bounds.

        >>> XTransformer.from_provision(np.array([[2], [0], [-1]]), (3,)).collisions()
        (((0,), (2,)),)
        """
        offsets = self.offsets()
        _, group = np.unique(offsets.ravel(), return_inverse=True)
        order = np.argsort(group, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
        shared = sorted((g for g in groups if len(g) > 1), key=lambda g: int(g[0]))
        return tuple(
            tuple(as_index(np.unravel_index(flat, self.shape)) for flat in g) for g in shared
        )
