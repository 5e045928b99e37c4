"""A tensor as a mosaic: boxes that cover it exactly, each a region of some source.

>>> import onnx_ir as ir
>>> from onnx_scatterx.indexing.terms import size
>>> n = size("n")
>>> x = Mosaic.of(ir.Value(name="x"), (n, term(4)))
>>> x.transposed((1, 0)).cells[0]
[0, 4) x [0, n) <- x[1, 0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.indexing.abstract import Shape
from onnx_scatterx.indexing.prove import Facts
from onnx_scatterx.indexing.terms import Term, floor_div, term
from onnx_scatterx.mosaic.sources import Source, View, Walk
from onnx_scatterx.mosaic.span import ONE, ZERO, Span

Box: TypeAlias = "tuple[Span, ...]"


@dataclass(frozen=True)
class Cell:
    """A box of the tensor and the source that its elements come from."""

    box: Box
    source: Source

    def is_empty(self, facts: Facts) -> bool:
        """Return whether it is proven that the cell has no element."""
        return any(s.is_empty(facts) for s in self.box)

    def relocated(self, axis: int, scale: int, offset: Term) -> Cell | None:
        """Return the cell with position x on an axis moved to ``scale * x + offset``."""
        moved = self.box[axis].moved(scale, offset)
        if moved is None:
            return None
        span, sign, shift = moved

        def change(w: Walk) -> Walk:  # q = sign (q' - shift)
            if w.dim != axis:
                return w
            return Walk(axis, sign * w.step, w.start - sign * w.step * shift)

        return Cell(_put(self.box, axis, span), self.source.mapped(change))

    def restricted(self, axis: int, span: Span) -> Cell:
        """Return the cell on a part of its own span on an axis (a refinement of its modulus)."""
        own = self.box[axis]
        times, rest = span.modulus // own.modulus, span.residue - own.residue
        first = rest // own.modulus  # m q + r = M q' + r', so q = (M / m) q' + (r' - r) / m

        def change(w: Walk) -> Walk:
            return w if w.dim != axis else Walk(axis, w.step * times, w.start + w.step * first)

        return Cell(_put(self.box, axis, span), self.source.mapped(change))

    def within(self, box: Box, facts: Facts) -> Cell | None:
        """Return the part of the cell that lies in a box, or None where there is none."""
        cell = self
        for axis, other in enumerate(box):
            common = cell.box[axis].meet(other, facts)
            if common is None or common.is_empty(facts):
                return None
            cell = cell.restricted(axis, common)
        return cell

    def outside(self, box: Box, facts: Facts) -> list[Cell]:
        """Return the parts of the cell that lie outside a box, disjoint."""
        parts, cell = [], self
        for axis, other in enumerate(box):
            parts += [cell.restricted(axis, span) for span in cell.box[axis].without(other, facts)]
            common = cell.box[axis].meet(other, facts)
            if common is None or common.is_empty(facts):
                return [self]
            cell = cell.restricted(axis, common)
        return parts

    def __repr__(self) -> str:
        return f"{' x '.join(repr(s)[5:-1] for s in self.box)} <- {self.source}"


def _put(box: Box, axis: int, span: Span) -> Box:
    return (*box[:axis], span, *box[axis + 1 :])


@dataclass(frozen=True)
class Mosaic:
    """A tensor's shape and the cells that cover it: disjoint, and every element is in one."""

    shape: Shape
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, value: ir.Value, shape: Shape) -> Mosaic:
        """Return a tensor that is its own source."""
        walks = tuple(Walk(d, 1, ZERO) for d in range(len(shape)))
        return cls(shape, (Cell(full_box(shape), View(value, shape, walks)),))

    def with_shape(self, shape: Shape) -> Mosaic | None:
        """Return a tensor that is one other, whole, with the same sizes in other terms."""
        if len(self.cells) != 1 or len(shape) != len(self.shape):
            return None
        (cell,) = self.cells
        view = cell.source
        if not isinstance(view, View) or view.is_reshaped or cell.box != full_box(self.shape):
            return None
        if {w.dim for w in view.walks} < set(range(len(shape))):
            return None  # broadcast: nothing ties the source to the other sizes
        extents = list(view.shape)
        for axis, w in enumerate(view.walks):
            if w.dim is None:
                continue
            if (w.step, w.start.constant) != (1, 0) or extents[axis] is not self.shape[w.dim]:
                return None
            extents[axis] = shape[w.dim]
        view = replace(view, shape=tuple(extents))
        return Mosaic(shape, (Cell(full_box(shape), view),))

    def _each(self, shape: Shape, change: Callable[[Cell], Cell | None]) -> Mosaic | None:
        cells = [change(c) for c in self.cells]
        if any(c is None for c in cells):
            return None
        return Mosaic(shape, tuple(c for c in cells if c is not None))

    def transposed(self, perm: Sequence[int]) -> Mosaic:
        """Return the tensor with its axes in another order: new axis d is the old ``perm[d]``."""
        place = {old: new for new, old in enumerate(perm)}
        cells = tuple(
            Cell(tuple(c.box[p] for p in perm), c.source.mapped(_renamed(place)))
            for c in self.cells
        )
        return Mosaic(tuple(self.shape[p] for p in perm), cells)

    def unsqueezed(self, axes: Iterable[int]) -> Mosaic:
        """Return the tensor with axes of extent 1 put in at these places of the result."""
        new = set(axes)
        rank = len(self.shape) + len(new)
        old = [d for d in range(rank) if d not in new]
        place = dict(enumerate(old))
        unit = Span.interval(ZERO, ONE)

        def spread(box: Sequence[object], fill: object) -> list[object]:
            it = iter(box)
            return [fill if d in new else next(it) for d in range(rank)]

        cells = tuple(
            Cell(tuple(spread(c.box, unit)), c.source.mapped(_renamed(place)))  # type: ignore[arg-type]
            for c in self.cells
        )
        return Mosaic(tuple(spread(self.shape, ONE)), cells)  # type: ignore[arg-type]

    def squeezed(self, axes: Iterable[int]) -> Mosaic | None:
        """Return the tensor without these axes of extent 1."""
        gone = set(axes)
        kept = [d for d in range(len(self.shape)) if d not in gone]
        place = {old: new for new, old in enumerate(kept)}

        def change(c: Cell) -> Cell | None:
            if any(c.box[d] != Span.interval(ZERO, ONE) for d in gone):
                return None

            def walk(w: Walk) -> Walk:
                if w.dim in gone:
                    return Walk(None, 0, w.start)
                return _renamed(place)(w)

            return Cell(tuple(c.box[d] for d in kept), c.source.mapped(walk))

        return self._each(tuple(self.shape[d] for d in kept), change)

    def expanded(self, shape: Shape) -> Mosaic | None:
        """Return the tensor broadcast to a shape."""
        lead = len(shape) - len(self.shape)
        spread = self.unsqueezed(range(lead))
        wide = {d for d, (a, b) in enumerate(zip(spread.shape, shape, strict=True)) if a is not b}
        if any(spread.shape[d].constant != 1 for d in wide):
            return None

        def change(c: Cell) -> Cell | None:
            if any(c.box[d] != Span.interval(ZERO, ONE) for d in wide):
                return None

            def walk(w: Walk) -> Walk:
                return Walk(None, 0, w.start) if w.dim in wide else w

            box = tuple(
                Span.interval(ZERO, shape[d]) if d in wide else s for d, s in enumerate(c.box)
            )
            return Cell(box, c.source.mapped(walk))

        return spread._each(shape, change)

    def sliced(self, axis: int, first: Term, count: Term, step: int, facts: Facts) -> Mosaic | None:
        """Return the positions ``first + step * i``, ``0 <= i < count``, of an axis."""
        shape = (*self.shape[:axis], count, *self.shape[axis + 1 :])
        if step == -1:
            cells = [c.relocated(axis, -1, first) for c in self.cells]
        elif step == 1:
            cells = [c.relocated(axis, 1, -first) for c in self.cells]
        elif step > 1:
            cells = [_every(c, axis, first, step) for c in self.cells]
        else:
            return None
        window = Span.interval(ZERO, count)
        found: list[Cell] = []
        for old, cell in zip(self.cells, cells, strict=True):
            if cell is None:
                return None
            reaches = _reaches(old.box[axis], self.shape[axis], facts)
            box = _put(cell.box, axis, _stretched(cell.box[axis], count, reaches, step))
            part = Cell(box, cell.source).within(_put(box, axis, window), facts)
            if part is not None:
                found.append(part)
        return Mosaic(shape, tuple(found))

    def overlaid(self, cells: Iterable[Cell], facts: Facts) -> Mosaic:
        """Return the tensor with cells written over it."""
        kept = list(self.cells)
        for new in cells:
            if new.is_empty(facts):
                continue
            kept = [part for old in kept for part in _uncovered(old, new, facts)] + [new]
        return Mosaic(self.shape, tuple(kept))


def _uncovered(old: Cell, new: Cell, facts: Facts) -> list[Cell]:
    return [part for part in old.outside(new.box, facts) if not part.is_empty(facts)]


def _reaches(span: Span, extent: Term, facts: Facts) -> tuple[bool, bool]:
    """Return whether a span starts where its axis starts, and ends where it ends."""
    if span.modulus != 1:
        return False, False
    return facts.equal(span.low, 0), facts.equal(span.high, extent)


def _stretched(span: Span, count: Term, reaches: tuple[bool, bool], step: int) -> Span:
    """Let a span that reaches an end of the axis reach that end of the slice.

    A slice that is not empty lies within its axis; of an empty one every span is empty.
    """
    if span.modulus != 1:
        return span
    first, last = reaches if step > 0 else reaches[::-1]
    return Span.interval(ZERO if first else span.low, count if last else span.high)


def _every(cell: Cell, axis: int, first: Term, step: int) -> Cell | None:
    """Return a cell at every step-th position of an axis: ``x = first + step * x'``."""
    residue = (first - step * floor_div(first, step)).constant
    own = cell.box[axis]
    if own.modulus == 1:
        # q = first + step q', so low <= q becomes ceil((low - first) / step) <= q'.
        def ceil(q: Term) -> Term:
            return floor_div(q - first + step - 1, step)

        def change(w: Walk) -> Walk:
            return w if w.dim != axis else Walk(axis, w.step * step, w.start + w.step * first)

        span = Span.interval(ceil(own.low), ceil(own.high))
        return Cell(_put(cell.box, axis, span), cell.source.mapped(change))
    if residue is None or step % own.modulus:
        return None
    if residue % own.modulus != own.residue:
        return Cell(_put(cell.box, axis, Span.interval(ZERO, ZERO)), cell.source)
    lattice = own.refined(step, residue)
    moved = cell.restricted(axis, lattice)
    shift = floor_div(first, step)  # x = step q + residue = first + step (q - first // step)

    def back(w: Walk) -> Walk:
        return w if w.dim != axis else Walk(axis, w.step, w.start + w.step * shift)

    span = Span.interval(lattice.low - shift, lattice.high - shift)
    return Cell(_put(moved.box, axis, span), moved.source.mapped(back))


def _renamed(place: dict[int, int]) -> Callable[[Walk], Walk]:
    return lambda w: w if w.dim is None else replace(w, dim=place[w.dim])


def full_box(shape: Shape) -> Box:
    """Return the box of all positions of a shape."""
    return tuple(Span.interval(ZERO, n) for n in shape)


def joined(parts: Sequence[Mosaic], axis: int, shape: Shape) -> Mosaic | None:
    """Return tensors put side by side along an axis."""
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
