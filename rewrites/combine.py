"""A reducing write without collisions is the elementwise operator on the region.

    before   y = ScatterND(data, [[2], [3]], updates, reduction="add")
    after    y = Concat(data[:2], Add(data[2:4], updates), data[4:])

A reducing write that covers all of the data is combined too: the result is never the updates alone.
"""

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.reduce import reduced, reducers
from onnx_scatterx.optimizer.lowering.planner import Planner
from onnx_scatterx.optimizer.lowering.rule import Plan, Region, RegionRule
from onnx_scatterx.optimizer.mosaic.cells import Cell
from onnx_scatterx.optimizer.mosaic.strided_interval import Reduced
from onnx_scatterx.optimizer.targets.cost_model.costs import Work
from onnx_scatterx.text.reasons import Reason, Refusal


class CombineRule(RegionRule):
    """Writes a region whose elements are each combined from two sources."""

    name = "combine"

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        if len(region.cells) != 1 or not isinstance(region.cells[0].source, Reduced):
            return Refusal(Reason.NO_RULE)
        (cell,) = region.cells
        both = cell.source
        assert isinstance(both, Reduced)
        ops = reducers(planner.writer, both.reduction, planner.dtype)
        parts = [
            planner.require(Region((Cell(cell.box, source),), region.low, region.high))
            for source in (both.data, both.updates)
        ]

        def write() -> ir.Value:
            x, u = (p.write() for p in parts)
            return reduced(planner.writer, ops, x, u, planner.dtype)

        work = [Work("Elementwise", region.extents, 0)] * len(ops)
        return planner.plan(self, write, *parts, work=work)


combine = CombineRule()
