"""The cells that a scatter writes: its footprint, with the regions of the updates that fill it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from onnx_scatterx.lift.bounds import written_line
from onnx_scatterx.lift.footprint import Line, Piece, pieces
from onnx_scatterx.lift.scatters import Scatter
from onnx_scatterx.mosaic.cells import Cell, full_box
from onnx_scatterx.mosaic.mosaic import Mosaic
from onnx_scatterx.mosaic.regions import AxisMap, Reduced
from onnx_scatterx.mosaic.span import StridedInterval
from onnx_scatterx.symbolic.prove import Facts
from onnx_scatterx.text.reasons import Reason, RefusedError


def written(scatter: Scatter, data: Mosaic, updates: Mosaic, facts: Facts) -> Mosaic:
    """Return the mosaic of a scatter's output, or refuse.

    ``updates`` is their mosaic in the shape that the operator requires.
    """
    cells: list[Cell] = []
    for piece in pieces(scatter):
        cells += _filled(scatter, piece, updates, facts)
    for a, b in combinations(cells, 2):
        if not disjoint(a, b, facts):
            reason = Reason.COLLIDES if _meet(a, b, facts) else Reason.MAY_COLLIDE
            raise RefusedError(reason, "boxes of one scatter overlap")
    if scatter.reduction != "none":
        cells = [c for new in cells for c in _combined(scatter.reduction, data, new, facts)]
    # An empty tensor has no cells: it equals the data.
    result = data.overlaid(cells, facts)
    return result if result.cells else Mosaic.of(scatter.data, scatter.data_shape)


def disjoint(a: Cell, b: Cell, facts: Facts) -> bool:
    """Return whether it is proven that two cells share no element."""
    for one, other in zip(a.box, b.box, strict=True):
        common = one.meet(other, facts)
        if common is None or common.is_empty(facts):
            return True
    return False


def _meet(a: Cell, b: Cell, facts: Facts) -> bool:
    """Return whether it is proven that two cells share an element."""
    common = [one.meet(other, facts) for one, other in zip(a.box, b.box, strict=True)]
    return all(c is not None and facts.is_nonnegative(c.length - 1) for c in common)


def _filled(scatter: Scatter, piece: Piece, updates: Mosaic, facts: Facts) -> Iterable[Cell]:
    lines = _paired(piece, facts)
    limits = dict(zip(range(len(piece.counts)), piece.counts, strict=True))
    for axis, line in enumerate(lines):
        line, limit, _ = written_line(scatter, piece, axis, line, facts)
        lines[axis] = line
        if line.dim is not None:
            limits[line.dim] = limit
    region = tuple(
        StridedInterval.interval(first, first + limits[d]) for d, first in enumerate(piece.first)
    )
    whole = full_box(scatter.data_shape)
    for cell in updates.cells:
        part = cell.within(region, facts)
        if part is None:
            continue
        moved = _placed(part, piece, lines)
        inside = moved.within(whole, facts) if whole else moved
        if inside is not None:
            yield inside


def _paired(piece: Piece, facts: Facts) -> list[Line]:
    """Let axes of one position run over the unused dims of extent 1, so that no dim is lost."""
    used = {line.dim for line in piece.lines}
    free = [d for d, n in enumerate(piece.counts) if d not in used]
    for d in free:
        if not (
            facts.is_nonnegative(piece.counts[d] - 1) and facts.is_nonnegative(1 - piece.counts[d])
        ):
            raise RefusedError(Reason.UNKNOWN_BOUNDS, f"dim {d} of the updates may be empty")
    lines = list(piece.lines)
    fixed = [axis for axis, line in enumerate(lines) if line.dim is None]
    # Dims and axes keep their order, and a dim prefers the axis at its own place.
    for d in free:
        axis = d if d in fixed and len(free) != len(fixed) else (fixed[0] if fixed else None)
        if axis is not None:
            fixed.remove(axis)
            lines[axis] = Line(lines[axis].start, 1, d)
    return lines


def _placed(cell: Cell, piece: Piece, lines: list[Line]) -> Cell:
    """Return a cell of the updates at its place in the data."""
    for line in lines:
        if line.dim is not None:
            offset = line.start - line.step * piece.first[line.dim]
            moved = cell.relocated(line.dim, line.step, offset)
            if moved is None:
                raise RefusedError(
                    Reason.UNKNOWN_INDICES, f"start of a strided write: {line.start}"
                )
            cell = moved
    axis_of = {line.dim: axis for axis, line in enumerate(lines) if line.dim is not None}
    box = tuple(
        StridedInterval.interval(line.start, line.start + 1)
        if line.dim is None
        else cell.box[line.dim]
        for line in lines
    )

    def walk(w: AxisMap) -> AxisMap:
        if w.dim is None:
            return w
        if w.dim in axis_of:
            return AxisMap(axis_of[w.dim], w.step, w.start)
        # A dim of extent 1 without an axis: its only position.
        return AxisMap(None, 0, w.start + w.step * cell.box[w.dim].low)

    return Cell(box, cell.source.mapped(walk))


def _combined(reduction: str, data: Mosaic, new: Cell, facts: Facts) -> Iterable[Cell]:
    for old in data.cells:
        under = old.within(new.box, facts)
        if under is None:
            continue
        over = new.within(under.box, facts)
        if over is not None:
            yield Cell(over.box, Reduced(reduction, under.source, over.source))
