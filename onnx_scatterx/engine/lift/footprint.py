"""The footprint: the boxes that updates fill, also those whose positions are a table.

A scatter is cut into pieces: boxes of the updates on which every target is a constant or
``start + step * x_d``, with each dim of the updates on one axis of the data. Such a piece fills a
(strided) box. A gather is cut likewise, into boxes of its output. A dim of the output may run along
no axis, since an element can be read often.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeAlias

import numpy as np

from onnx_scatterx.engine.analysis.domain.tensor import Shape
from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.engine.lift.access import Access
from onnx_scatterx.engine.lift.affine import AffineAxis, affine_along
from onnx_scatterx.engine.terms.prove import Facts
from onnx_scatterx.engine.terms.tabulate import tabulated
from onnx_scatterx.engine.terms.terms import (
    Atom,
    FloorDiv,
    Indicator,
    Lookup,
    Number,
    Term,
    as_numbers,
    coord,
    term,
)
from onnx_scatterx.text.reasons import (
    Detail,
    Reason,
    RefusedError,
    attempt,
    granted,
    refuse_unless,
)

Interval: TypeAlias = "tuple[Term | int, Term | int]"
"""A stretch of a dim: its first coordinate, and the one after its last."""


def runs(target: Term, axis: int, counts: Shape, *, pairs: bool) -> tuple[int, list[Interval]]:
    """Cut a table along the dim on which it consists of the fewest runs of equal steps."""
    dims = sorted(target.coords)
    extents = as_numbers(counts[d] for d in dims)
    if extents is None:
        raise RefusedError(Reason.UNKNOWN_INDICES, f"axis {axis}")
    refuse_unless(math.prod(extents) <= LIMITS.table_positions, Reason.IRREGULAR, f"axis {axis}")
    try:
        values = tabulated(target, dict(zip(dims, extents, strict=True)))
    except OverflowError as error:
        raise RefusedError(Reason.IRREGULAR, f"axis {axis}") from error
    best: tuple[int, list[Interval]] | None = None
    for position, dim in enumerate(dims):
        cuts = _breaks(np.moveaxis(values, position, 0), pairs=pairs)
        if len(cuts) > 1 and (best is None or len(cuts) < len(best[1])):
            best = dim, list(cuts)
    if best is None:  # a sum of affine terms in several dims
        raise RefusedError(Reason.IRREGULAR, f"axis {axis}")
    return best


def _breaks(values: np.ndarray, *, pairs: bool) -> list[tuple[int, int]]:
    """Return the maximal runs (first, end) of rows that differ by one constant.

    If ``pairs`` is false, two rows are a run only if they are neighbours.
    """
    rows = values.reshape(len(values), -1).astype(np.int64)
    spans, first = [], 0
    while first < len(rows):
        end = first + 1
        if end < len(rows):
            stride = rows[end] - rows[first]
            while end < len(rows) and (rows[end] - rows[end - 1] == stride).all():
                end += 1
            if (stride != stride[0]).any() or (end - first == 2 and stride[0] != 1 and not pairs):
                end = first + 1  # no run, or two rows that are as well each on its own
        spans.append((first, end))
        first = end
    return spans


def narrowed(target: Term, dim: int, begin: Term, count: Term) -> Term:
    """Return a term with its tables cut to the rows that ``x_dim + begin`` looks up."""
    if begin.constant is None or count.constant is None:
        return target
    index = coord(dim) + begin
    changes: dict[Atom, Number] = {}
    for atom in target.all_atoms():
        if isinstance(atom, Lookup) and index in atom.parts:
            axis = atom.parts.index(index)
            rows = np.arange(begin.constant, begin.constant + count.constant)
            changes[atom] = atom.of_rows(axis, rows, coord(dim))
    return target.replace(changes) if changes else target


_LONE = 4  # positions far apart that are better written one by one than as a strided box


class Piece(NamedTuple):
    """A box of the updates (``first[d] .. first[d] + counts[d]``) and the box that it fills.

    For a gather: a box of the output, and the box of the data that fills it.
    """

    first: Shape
    counts: Shape
    axes: tuple[AffineAxis, ...]


def pieces(access: Access) -> list[Piece]:
    """Return the boxes that a scatter fills or a gather reads, in row-major order, or refuse."""
    shapes = access.shape, access.data_shape
    key = "pieces", access.index_exprs, *shapes, access.nonnegative, access.may_repeat
    return granted(access.facts.memoised(key, lambda: attempt(lambda: _pieces(access))))


def _pieces(access: Access) -> list[Piece]:
    if any(access.facts.is_nonnegative(-n) for n in access.shape):
        return []  # an extent is proven to be 0
    zero = tuple(term(0) for _ in access.shape)
    whole = _UpdateBox(access, access.index_exprs, zero, access.shape, access.facts)
    boxes = list(islice(_cut(whole), LIMITS.boxes + 1))
    refuse_unless(len(boxes) <= LIMITS.boxes, Reason.IRREGULAR, f"more than {LIMITS.boxes} boxes")
    return boxes


class _UpdateBox(NamedTuple):
    """A box of updates, cut out so many times; ``targets`` are over its own coordinates."""

    access: Access
    targets: tuple[Term, ...]
    first: Shape
    counts: Shape
    facts: Facts
    depth: int = 0


def _cut(box: _UpdateBox) -> Iterator[Piece]:
    """Yield the pieces of a box of updates."""
    access, targets, first, counts, facts, depth = box
    refuse_unless(depth <= LIMITS.cuts, Reason.IRREGULAR, f"axis {len(targets) - 1}")
    axes: list[AffineAxis] = []
    for axis, target in enumerate(targets):
        affine = affine_along(target)
        if affine is None:
            yield from _cut_along(box, *_spans(access, target, axis, counts, facts))
            return
        axes.append(affine)
    for axis, affine in enumerate(axes):
        low, high = _ends(affine, counts)
        if access.nonnegative[axis] or facts.is_nonnegative(low):
            continue
        if facts.is_nonnegative(-high - 1):
            start = facts.simplify(affine.start + access.data_shape[axis])
            axes[axis] = AffineAxis(start, affine.step, affine.dim)
            continue
        turn = _turn(affine, counts)
        if turn is None:
            raise RefusedError(Reason.UNKNOWN_SIGN, Detail("axis {}: {}", axis, targets[axis]))
        assert affine.dim is not None
        spans = [(0, turn), (turn, counts[affine.dim].constant or 0)]
        yield from _cut_along(box, affine.dim, spans)
        return
    for axis, affine in enumerate(() if access.may_repeat else axes):
        count = None if affine.dim is None else counts[affine.dim].constant
        if count is None or abs(affine.step) < 2 or affine.dim is None:
            continue
        if count == 2 or (count <= _LONE and access.data_shape[axis].constant is None):
            yield from _cut_along(box, affine.dim, [(i, i + 1) for i in range(count)])
            return
    _check_dims(access, axes, counts, facts)
    yield Piece(first, counts, tuple(axes))


def _ends(affine: AffineAxis, counts: Shape) -> tuple[Term, Term]:
    if affine.dim is None:
        return affine.start, affine.start
    last = affine.start + affine.step * (counts[affine.dim] - 1)
    return (affine.start, last) if affine.step > 0 else (last, affine.start)


def _turn(affine: AffineAxis, counts: Shape) -> int | None:
    """Return the first place on an affine axis whose sign differs from that of the start."""
    if affine.dim is None or affine.start.constant is None or counts[affine.dim].constant is None:
        return None
    start = affine.start.constant
    return -(start // affine.step) if affine.step > 0 else start // -affine.step + 1


def _check_dims(access: Access, axes: list[AffineAxis], counts: Shape, facts: Facts) -> None:
    used = [affine.dim for affine in axes if affine.dim is not None]
    for dim, count in enumerate(counts):
        # A box has a separate axis for each, even if short.
        apart, role = used.count(dim) <= 1, access.tensor_role
        refuse_unless(apart, Reason.DIAGONAL, f"dim {dim} of the {role}")
        if used.count(dim) == 1 or facts.is_nonnegative(1 - count) or access.may_repeat:
            continue
        certain = facts.is_nonnegative(count - 2) and all(
            facts.is_nonnegative(n - 1) for d, n in enumerate(counts) if d != dim
        )
        reason = Reason.COLLIDES if certain else Reason.MAY_COLLIDE
        raise RefusedError(reason, f"dim {dim} of the updates")


def _spans(
    access: Access, target: Term, axis: int, counts: Shape, facts: Facts
) -> tuple[int, list[Interval]]:
    """Return a dim of the updates, and its spans: on each of them the target is simpler."""
    for atom in sorted(target.all_atoms(), key=lambda a: a.order):
        if isinstance(atom, Indicator) and len(atom.coords) == 1:
            affine = affine_along(atom.parts[0])
            if affine is not None and affine.dim is not None and abs(affine.step) == 1:
                # [x - c >= 0] turns at c, [c - x >= 0] at c + 1.
                at = -affine.start if affine.step == 1 else affine.start + 1
                if not (facts.is_nonnegative(at) and facts.is_nonnegative(counts[affine.dim] - at)):
                    continue
                return affine.dim, [(0, at), (at, counts[affine.dim])]
        if isinstance(atom, FloorDiv) and len(atom.coords) == 1:
            blocks = _blocks(atom, counts)
            if blocks is not None:
                return blocks
    known = all(a.dim >= 0 or isinstance(a, Lookup) for a in target.all_atoms())
    refuse_unless(known, Reason.UNKNOWN_INDICES, f"axis {axis}")
    dim, spans = runs(target, axis, counts, pairs=access.may_repeat)
    few = len(spans) <= LIMITS.boxes
    refuse_unless(few, Reason.IRREGULAR, f"axis {axis}: {len(spans)} runs")
    return dim, spans


def _blocks(atom: FloorDiv, counts: Shape) -> tuple[int, list[Interval]] | None:
    """Return the blocks of a dim on which ``x_dim // n`` is one number, if there are few blocks."""
    dividend, divisor = atom.parts
    affine = affine_along(dividend)
    if affine is None or affine.dim is None or affine.start.constant != 0 or affine.step != 1:
        return None
    for many in range(2, LIMITS.blocks + 1):
        if counts[affine.dim] is many * divisor:
            return affine.dim, [(i * divisor, (i + 1) * divisor) for i in range(many)]
    return None


def _cut_along(box: _UpdateBox, dim: int, spans: Sequence[Interval]) -> Iterator[Piece]:
    access, targets, first, counts, facts, depth = box
    for begin, end in spans:
        count = term(end) - begin
        inner = facts.assuming(extents={dim: count})
        moved = {dim: term(begin) if count.constant == 1 else coord(dim) + begin}
        parts = tuple(
            inner.simplify(narrowed(t.at(moved), dim, term(begin), count)) for t in targets
        )
        starts = tuple(s + begin if d == dim else s for d, s in enumerate(first))
        extents = tuple(count if d == dim else n for d, n in enumerate(counts))
        yield from _cut(_UpdateBox(access, parts, starts, extents, inner, depth + 1))
