"""A tensor as a mosaic: cells that cover it exactly, and the moves of operators on them.

>>> import onnx_ir as ir
>>> from onnx_scatterx.engine.terms import size
>>> n = size("n")
>>> x = Mosaic.of(ir.Value(name="x"), (n, term(4)))
>>> x.transposed((1, 0)).cells[0]
[0, 4) x [0, n) <- x[1, 0]

Coalescing: neighbouring cells that continue each other are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Shape
from onnx_scatterx.engine.mosaic.cells import Cell, every, full_box, with_interval
from onnx_scatterx.engine.mosaic.strided_interval import (
    ONE,
    ZERO,
    AxisMap,
    StridedInterval,
    View,
)
from onnx_scatterx.engine.terms import Facts, Term, term
from onnx_scatterx.grouping import grouped

T = TypeVar("T")


@dataclass(frozen=True)
class Mosaic:
    """A tensor's shape and the cells that cover it: disjoint, and every element is in one."""

    shape: Shape
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, value: ir.Value, shape: Shape) -> Mosaic:
        """Return a tensor that is its own source."""
        axis_maps = tuple(AxisMap(d, 1, ZERO) for d in range(len(shape)))
        return cls(shape, (Cell(full_box(shape), View(value, shape, axis_maps)),))

    @property
    def weight(self) -> int:
        """About how many nodes write the tensor: its cells, and what computes their bounds."""
        bounds = {t for c in self.cells for s in c.box for t in (s.low, s.high)}
        computed = (t for t in bounds.difference(self.shape) if t.constant is None)
        return len(self.cells) + sum(len(t.all_atoms()) for t in computed)

    def with_shape(self, shape: Shape) -> Mosaic | None:
        """Return a tensor that is a whole other one, with the same sizes in other terms."""
        if len(self.cells) != 1 or len(shape) != len(self.shape):
            return None
        (cell,) = self.cells
        view = cell.source
        if not isinstance(view, View) or view.is_reshaped or cell.box != full_box(self.shape):
            return None
        if {w.dim for w in view.axis_maps} < set(range(len(shape))):
            return None  # broadcast: nothing ties the source to the other sizes
        extents = list(view.shape)
        for axis, w in enumerate(view.axis_maps):
            if w.dim is None:
                continue
            if (w.step, w.start.constant) != (1, 0) or extents[axis] is not self.shape[w.dim]:
                return None
            extents[axis] = shape[w.dim]
        view = view._replace(shape=tuple(extents))
        return Mosaic(shape, (Cell(full_box(shape), view),))

    def each(self, shape: Shape, change: Callable[[Cell], Cell | None]) -> Mosaic | None:
        """Return the mosaic of a shape with every cell changed, or None if one cannot be."""
        cells = [change(c) for c in self.cells]
        if any(c is None for c in cells):
            return None
        return Mosaic(shape, tuple(c for c in cells if c is not None))

    def transposed(self, perm: Sequence[int]) -> Mosaic:
        """Return the tensor with its axes in another order: new axis d is the old ``perm[d]``."""
        new_axis = {old: new for new, old in enumerate(perm)}
        cells = tuple(
            Cell(tuple(c.box[p] for p in perm), c.source.mapped(_renamed(new_axis)))
            for c in self.cells
        )
        return Mosaic(tuple(self.shape[p] for p in perm), cells)

    def unsqueezed(self, axes: Iterable[int]) -> Mosaic:
        """Return the tensor with axes of extent 1 inserted at these places of the result."""
        new = set(axes)
        old = [d for d in range(len(self.shape) + len(new)) if d not in new]
        new_axis = dict(enumerate(old))
        unit = StridedInterval.interval(ZERO, ONE)

        cells = tuple(
            Cell(_spread(c.box, new, unit), c.source.mapped(_renamed(new_axis))) for c in self.cells
        )
        return Mosaic(_spread(self.shape, new, ONE), cells)

    def squeezed(self, axes: Iterable[int]) -> Mosaic | None:
        """Return the tensor without these axes of extent 1."""
        gone = set(axes)
        kept = [d for d in range(len(self.shape)) if d not in gone]
        new_axis = {old: new for new, old in enumerate(kept)}

        def change(c: Cell) -> Cell | None:
            if any(c.box[d] != StridedInterval.interval(ZERO, ONE) for d in gone):
                return None

            def changed(w: AxisMap) -> AxisMap:
                if w.dim in gone:
                    return AxisMap(None, 0, w.start)
                return _renamed(new_axis)(w)

            return Cell(tuple(c.box[d] for d in kept), c.source.mapped(changed))

        return self.each(tuple(self.shape[d] for d in kept), change)

    def expanded(self, shape: Shape) -> Mosaic | None:
        """Return the tensor broadcast to a shape."""
        lead = len(shape) - len(self.shape)
        spread = self.unsqueezed(range(lead))
        wide = {d for d, (a, b) in enumerate(zip(spread.shape, shape, strict=True)) if a is not b}
        if any(spread.shape[d].constant != 1 for d in wide):
            return None

        def change(c: Cell) -> Cell | None:
            if any(c.box[d] != StridedInterval.interval(ZERO, ONE) for d in wide):
                return None

            def changed(w: AxisMap) -> AxisMap:
                return AxisMap(None, 0, w.start) if w.dim in wide else w

            box = tuple(
                StridedInterval.interval(ZERO, shape[d]) if d in wide else s
                for d, s in enumerate(c.box)
            )
            return Cell(box, c.source.mapped(changed))

        return spread.each(shape, change)

    def sliced(self, axis: int, first: Term, count: Term, step: int, facts: Facts) -> Mosaic | None:
        """Return the positions ``first + step * i``, ``0 <= i < count``, of an axis."""
        shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
        if step == -1:
            cells = [c.relocated(axis, -1, first) for c in self.cells]
        elif step == 1:
            cells = [c.relocated(axis, 1, -first) for c in self.cells]
        elif step > 1:
            cells = [every(c, axis, first, step) for c in self.cells]
        else:
            return None
        window = StridedInterval.interval(ZERO, count)
        parts: list[Cell] = []
        for old, cell in zip(self.cells, cells, strict=True):
            if cell is None:
                return None
            reaches = _reaches(old.box[axis], self.shape[axis], facts)
            box = with_interval(cell.box, axis, _stretched(cell.box[axis], count, reaches, step))
            part = Cell(box, cell.source).within(with_interval(box, axis, window), facts)
            if part is not None:
                parts.append(part)
        return Mosaic(shape, tuple(parts))

    def overlaid(self, cells: Iterable[Cell], facts: Facts) -> Mosaic:
        """Return the tensor with cells written over it."""
        kept = list(self.cells)
        for new in cells:
            if new.is_empty(facts):
                continue
            kept = [part for old in kept for part in _uncovered(old, new, facts)] + [new]
        return Mosaic(self.shape, tuple(kept))


def _spread(box: Sequence[T], new: set[int], fill: T) -> tuple[T, ...]:
    """Return what a box has for each axis, with new axes at these places."""
    old = iter(box)
    return tuple(fill if d in new else next(old) for d in range(len(box) + len(new)))


def _uncovered(old: Cell, new: Cell, facts: Facts) -> list[Cell]:
    return [part for part in old.outside(new.box, facts) if not part.is_empty(facts)]


def _reaches(span: StridedInterval, extent: Term, facts: Facts) -> tuple[bool, bool]:
    """Return whether a span begins and ends with its axis."""
    if span.modulus != 1:
        return False, False
    return facts.equal(span.low, 0), facts.equal(span.high, extent)


def _stretched(
    span: StridedInterval, count: Term, reaches: tuple[bool, bool], step: int
) -> StridedInterval:
    """Let a span that reaches an end of the axis reach that end of the slice.

    A slice that is not empty lies within its axis. In an empty slice every span is empty.
    """
    if span.modulus != 1:
        return span
    first, last = reaches if step > 0 else reaches[::-1]
    return StridedInterval.interval(ZERO if first else span.low, count if last else span.high)


def _renamed(new_axis: dict[int, int]) -> Callable[[AxisMap], AxisMap]:
    return lambda w: w if w.dim is None else AxisMap(new_axis[w.dim], w.step, w.start)


def joined(parts: Sequence[Mosaic], axis: int, shape: Shape) -> Mosaic | None:
    """Return tensors concatenated along an axis."""
    cells: list[Cell] = []
    start = term(0)
    for part in parts:
        for cell in part.cells:
            moved = cell.relocated(axis, 1, start)
            if moved is None:
                return None
            cells.append(moved)
        start = start + part.shape[axis]
    return Mosaic(shape, tuple(cells))


def coalesced(mosaic: Mosaic, facts: Facts) -> Mosaic:
    """Return the mosaic with as few cells as merging neighbours gives.

    A region that is written back unchanged has the same source and coordinates as its neighbours,
    and so disappears.
    """
    groups = grouped(((cell.source, *map(_class, cell.box)), cell) for cell in mosaic.cells)
    if all(len(g) == 1 for g in groups.values()):
        return mosaic
    cells = tuple(c for group in groups.values() for c in _merged(group, facts))
    return Mosaic(mosaic.shape, cells)


def _class(span: StridedInterval) -> tuple[int, int]:
    return span.modulus, span.residue


def _merged(cells: list[Cell], facts: Facts) -> list[Cell]:
    changed = len(cells) > 1
    while changed:
        changed = False
        for i, a in enumerate(cells):
            for j in range(i + 1, len(cells)):
                together = _together(a, cells[j], facts)
                if together is not None:
                    cells = [*cells[:i], together, *cells[i + 1 : j], *cells[j + 1 :]]
                    changed = True
                    break
            if changed:
                break
    return cells


def _together(a: Cell, b: Cell, facts: Facts) -> Cell | None:
    """Return the union of two boxes with one source if it is a box."""
    differ = [d for d, (s, t) in enumerate(zip(a.box, b.box, strict=True)) if s != t]
    if len(differ) != 1:
        return a if not differ else None
    (d,) = differ
    first, second = a.box[d], b.box[d]
    if facts.equal(second.high, first.low):
        first, second = second, first
    if not facts.equal(first.high, second.low):
        return None
    # [a, b) and [b, c) are [a, c) only if both run forwards.
    if not (facts.is_nonnegative(first.length) and facts.is_nonnegative(second.length)):
        return None
    span = StridedInterval(first.modulus, first.residue, first.low, second.high)
    return Cell((*a.box[:d], span, *a.box[d + 1 :]), a.source)
