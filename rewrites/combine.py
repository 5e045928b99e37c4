"""A reducing write without collisions is the elementwise operator on the region.

    before   y = ScatterND(data, [[2], [3]], updates, reduction="add")
    after    y = Concat(data[:2], Add(data[2:4], updates), data[4:])

A reducing write that covers all of the data is combined too: the result is never the updates alone.
"""

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Cell,
    Plan,
    Planner,
    Reduced,
    Reducer,
    Refusal,
    Region,
    RegionRule,
    Traffic,
)


class CombineRule(RegionRule):
    """Writes a region whose elements are each combined from two sources."""

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        both, (cell,) = region.only_source(Reduced), region.cells
        reduction = Reducer(planner.writer, both.reduction, planner.dtype)
        ops = reduction.operators
        cells = (Cell(cell.box, source) for source in (both.data, both.updates))
        parts = [planner.require(region._replace(cells=(part,))) for part in cells]

        def write() -> ir.Value:
            x, u = (p.write() for p in parts)
            return reduction.combined(x, u)

        traffic = [Traffic("Elementwise", region.extents, 0)] * len(ops)
        return planner.plan(self, write, *parts, traffic=traffic)
