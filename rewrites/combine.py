"""A reducing write without collisions is the elementwise operator on the region.

    before   y = ScatterND(data, [[2], [3]], updates, reduction="max")
    after    y = Concat(data[:2], Where(Greater(x, updates), x, updates), data[4:])     x = data[2:4]

``max`` and ``min`` compare as ONNX Runtime's scatter kernels do, ``x > u ? x : u``, which differs
from Max and Min where one is NaN. A full cover is combined too: it is never just the updates.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.mosaic.cells import Cell, Combined
from onnx_scatterx.mosaic.plan import Form, Plan, Planner, Region
from onnx_scatterx.reasons import Reason, Refusal

_BOOL = ir.DataType.BOOL


class CombineForm(Form):
    """Writes a region of which every element is combined from two sources."""

    name = "combine"

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        if len(region.cells) != 1 or not isinstance(region.cells[0].source, Combined):
            return Refusal(Reason.NO_RULE)
        (cell,) = region.cells
        both = cell.source
        assert isinstance(both, Combined)
        ops = _operators(both.reduction, planner.dtype)
        if ops is None:
            return Refusal(Reason.NO_KERNEL, f"{both.reduction} of {planner.dtype.name.lower()}")
        for op in ops:
            planner.writer.require(op, planner.dtype)
        parts = [
            planner.require(Region((Cell(cell.box, source),), region.low, region.high))
            for source in (both.data, both.updates)
        ]

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            x, u = (p.write() for p in parts)
            if len(ops) == 1:
                return w.node(ops[0], [x, u], dtype)
            kept = w.node(ops[0], [x, u], _BOOL)
            return w.node("Where", [kept, x, u], dtype)

        return planner.plan(len(ops), self, write, *parts)


def _operators(reduction: str, dtype: ir.DataType) -> tuple[str, ...] | None:
    if dtype == _BOOL:
        logical = {"add": ("Or",), "mul": ("And",)}
        return logical.get(reduction)
    return {
        "add": ("Add",),
        "mul": ("Mul",),
        "max": ("Greater", "Where"),
        "min": ("Less", "Where"),
    }.get(reduction)


combine = CombineForm()
