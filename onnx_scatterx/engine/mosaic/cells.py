"""A cell of a mosaic: a box of a tensor, and the region of a source that its elements come from."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from onnx_scatterx.engine.analysis.domain.tensor import Shape
from onnx_scatterx.engine.mosaic.strided_interval import ZERO, AxisMap, Source, StridedInterval
from onnx_scatterx.engine.terms.prove import Facts
from onnx_scatterx.engine.terms.terms import Term

Box: TypeAlias = "tuple[StridedInterval, ...]"


class Cell(NamedTuple):
    """A box of the tensor and the source that its elements come from."""

    box: Box
    source: Source

    def spanning(self, axis: int, span: StridedInterval) -> Cell:
        """Return the cell with another span of the same numbers on an axis."""
        return self._replace(box=with_interval(self.box, axis, span))

    def is_empty(self, facts: Facts) -> bool:
        """Return whether it is proven that the cell is empty."""
        return any(s.is_empty(facts) for s in self.box)

    def relocated(self, axis: int, scale: int, offset: Term) -> Cell | None:
        """Return the cell with position x on an axis moved to ``scale * x + offset``."""
        moved = self.box[axis].moved(scale, offset)
        if moved is None:
            return None
        span, sign, shift = moved
        return self.renumbered(axis, span, sign, -sign * shift)  # q = sign (q' - shift)

    def renumbered(self, axis: int, span: StridedInterval, times: int, first: Term | int) -> Cell:
        """Return the cell over other numbers on an axis: ``q = times q' + first``."""

        def change(w: AxisMap) -> AxisMap:
            return w if w.dim != axis else AxisMap(axis, w.step * times, w.start + w.step * first)

        return Cell(with_interval(self.box, axis, span), self.source.mapped(change))

    def restricted(self, axis: int, span: StridedInterval) -> Cell:
        """Return the cell on a part of its own span on an axis (a refinement of its modulus)."""
        own = self.box[axis]
        if own.modulus == span.modulus:
            return Cell(with_interval(self.box, axis, span), self.source)
        times, rest = span.modulus // own.modulus, span.residue - own.residue
        # m q + r = M q' + r', so q = (M / m) q' + (r' - r) / m
        return self.renumbered(axis, span, times, rest // own.modulus)

    def within(self, box: Box, facts: Facts) -> Cell | None:
        """Return the part of the cell that lies in a box, or None if this part is empty."""
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
        return f"{' x '.join(map(repr, self.box))} <- {self.source}"


def with_interval(box: Box, axis: int, interval: StridedInterval) -> Box:
    """Return a box with another interval on an axis."""
    return (*box[:axis], interval, *box[axis + 1 :])


def every(cell: Cell, axis: int, first: Term, step: int) -> Cell | None:
    """Return a cell at every step-th position of an axis: ``x = first + step * x'``."""
    residue = (first - step * (first // step)).constant
    own = cell.box[axis]
    if own.modulus == 1:
        # q = first + step q', so low <= q becomes ceil((low - first) / step) <= q'.
        def ceil(q: Term) -> Term:
            return (q - first + step - 1) // step

        span = StridedInterval.interval(ceil(own.low), ceil(own.high))
        return cell.renumbered(axis, span, step, first)
    if residue is None or step % own.modulus:
        return None
    if residue % own.modulus != own.residue:
        return Cell(
            with_interval(cell.box, axis, StridedInterval.interval(ZERO, ZERO)), cell.source
        )
    lattice = own.refined(step, residue)
    shift = first // step  # x = step q + residue = first + step (q - first // step)
    span = StridedInterval.interval(lattice.low - shift, lattice.high - shift)
    return cell.restricted(axis, lattice).renumbered(axis, span, 1, shift)


def full_box(shape: Shape) -> Box:
    """Return the box of all positions of a shape."""
    return tuple(StridedInterval.interval(ZERO, n) for n in shape)
