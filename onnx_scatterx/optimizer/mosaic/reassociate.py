"""A Reshape that splits or merges whole axes, as a move on mosaics.

If no cell is cut along the axes of a group, and its source runs over them whole and in order, the
same cells cover the new shape, and the source is viewed in another shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.mosaic.cells import Cell
from onnx_scatterx.optimizer.mosaic.mosaic import Mosaic
from onnx_scatterx.optimizer.mosaic.regions import AxisMap, Reduced, Source, View
from onnx_scatterx.optimizer.mosaic.strided_interval import ZERO, StridedInterval
from onnx_scatterx.optimizer.symbolic.terms import Term

Groups = Sequence[tuple[range, range]]


def reassociated(mosaic: Mosaic, shape: Shape, groups: Groups) -> Mosaic | None:
    """Return a mosaic in a shape whose groups of axes have the elements of the old groups."""
    change = _Reassociation(mosaic.shape, shape, groups)
    cells = [change.cell(c) for c in mosaic.cells]
    if any(c is None for c in cells):
        return None
    return Mosaic(shape, tuple(c for c in cells if c is not None))


@dataclass(frozen=True)
class _Reassociation:
    old: Shape
    new: Shape
    groups: Groups

    def cell(self, cell: Cell) -> Cell | None:
        box: list[StridedInterval] = []
        for before, after in self.groups:
            if len(before) == len(after) == 1:
                box.append(cell.box[before[0]])
                continue
            if any(cell.box[d] != StridedInterval.interval(ZERO, self.old[d]) for d in before):
                return None
            box += [StridedInterval.interval(ZERO, self.new[d]) for d in after]
        source = self.source(cell.source)
        return None if source is None else Cell(tuple(box), source)

    def source(self, source: Source) -> Source | None:
        if isinstance(source, Reduced):
            data, updates = self.source(source.data), self.source(source.updates)
            if data is None or updates is None:
                return None
            return Reduced(source.reduction, data, updates)
        return self.view(source)

    def view(self, view: View) -> View | None:
        axis_maps: list[AxisMap] = []
        extents: list[Term] = []
        place = {b[0]: a[0] for b, a in self.groups if len(b) == len(a) == 1}
        group_of = {d: g for g in self.groups for d in g[0] if d not in place}
        axis, is_reshaped = 0, view.is_reshaped
        while axis < len(view.axis_maps):
            axis_map = view.axis_maps[axis]
            if axis_map.dim is None or axis_map.dim in place:
                dim = None if axis_map.dim is None else place[axis_map.dim]
                axis_maps.append(AxisMap(dim, axis_map.step, axis_map.start))
                extents.append(view.shape[axis])
                axis += 1
                continue
            before, after = group_of[axis_map.dim]
            run = view.axis_maps[axis : axis + len(before)]
            if [w.dim for w in run] != list(before):
                return None
            for d, w, extent in zip(before, run, view.shape[axis:], strict=False):
                if (w.step, w.start.constant) != (1, 0) or extent is not self.old[d]:
                    return None
            axis_maps += [AxisMap(d, 1, ZERO) for d in after]
            extents += [self.new[d] for d in after]
            is_reshaped = True
            axis += len(before)
        return View(view.value, tuple(extents), tuple(axis_maps), is_reshaped)
