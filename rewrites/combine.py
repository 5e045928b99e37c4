"""A reducing write without collisions is the elementwise operator on the region.

    before   y = ScatterND(data, [[2], [3]], updates, reduction="add")
    after    y = Concat(data[:2], Add(data[2:4], updates), data[4:])

``max`` and ``min`` compare as ONNX Runtime's scatter kernels do, ``x > u ? x : u``, which differs
from Max and Min where one is NaN or both are zeros.
A full cover is combined too: it is never just the updates.
"""

import onnx_ir as ir

from onnx_scatterx.emit.kernels import has_kernel
from onnx_scatterx.emit.select import select, select_cost
from onnx_scatterx.mosaic.cells import Cell
from onnx_scatterx.mosaic.plan import Form, Plan, Planner, Region
from onnx_scatterx.mosaic.sources import Combined
from onnx_scatterx.reasons import Reason, Refusal
from onnx_scatterx.weighing.costs import Work

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
        ops = _operators(both.reduction, planner)
        if ops is None:
            return Refusal(Reason.NO_KERNEL, f"{both.reduction} of {planner.dtype.name.lower()}")
        parts = [
            planner.require(Region((Cell(cell.box, source),), region.low, region.high))
            for source in (both.data, both.updates)
        ]

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            x, u = (p.write() for p in parts)
            if len(ops) == 1:
                return w.node(ops[0], [x, u], dtype)
            takes_x = w.node(ops[0], [x, u], _BOOL)
            return select(w, takes_x, x, u, dtype, keeps_zeros=False)

        work = [Work("Elementwise", region.extents, 0)] * len(ops)
        return planner.plan(len(ops), self, write, *parts, work=work)


def _operators(reduction: str, planner: Planner) -> tuple[str, ...] | None:
    """Return the operators that combine, in the model's version, or None."""
    dtype = planner.dtype
    if dtype == _BOOL:
        one = {"add": "Or", "mul": "And"}.get(reduction)
    else:
        one = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}.get(reduction)
        if reduction in ("max", "min") and not dtype.is_integer():
            one = None
    if one is not None and has_kernel(one, planner.writer.version, dtype):
        return (one,)
    compare = {"max": "Greater", "min": "Less"}.get(reduction)
    if compare is None or dtype == _BOOL:
        return None
    planner.writer.require(compare, dtype)
    return (compare, *("Where",) * select_cost(planner.writer, dtype, keeps_zeros=False))


combine = CombineForm()
