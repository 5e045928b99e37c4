"""A box on a constant is a Pad.

    before   y = ScatterND(zeros, rows 1 .. n, updates)
    after    y = Pad(updates, [1, 0, 1, 0], 0.0)

Holds where every cell but one is filled with the same number, bit for bit.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.indexing.terms import Term
from onnx_scatterx.mosaic.cells import Cell, View
from onnx_scatterx.mosaic.plan import Form, Plan, Planner, Region
from onnx_scatterx.reasons import Reason, Refusal


class PadForm(Form):
    """Writes a region that is one box on a constant."""

    name = "pad"

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        if len(region.cells) < 2:
            return Refusal(Reason.NO_RULE)
        fills = [_fill(c, planner) for c in region.cells]
        inner = [c for c, f in zip(region.cells, fills, strict=True) if f is None]
        numbers = {f.tobytes(): f for f in fills if f is not None}
        if len(inner) != 1 or len(numbers) != 1 or any(s.modulus != 1 for s in inner[0].box):
            return Refusal(Reason.NO_RULE)
        (number,) = numbers.values()
        box = inner[0].box
        before = [planner.simplified(s.low - a) for s, a in zip(box, region.low, strict=True)]
        after = [planner.simplified(b - s.high) for s, b in zip(box, region.high, strict=True)]
        counts = [s.high - s.low for s in box]
        if not all(planner.facts.proves(t) for t in (*before, *after, *counts)):
            return Refusal(Reason.UNKNOWN_BOUNDS, "how much is padded")
        planner.writer.require("Pad", planner.dtype)
        amounts: list[Term] = [*before, *after]
        fixed = all(t.constant is not None for t in amounts)
        if planner.writer.version < 11 and not (fixed and number.dtype.kind == "f"):
            return Refusal(Reason.OPSET, "Pad with computed amounts needs operator set 11")
        body = planner.require(
            Region((inner[0],), tuple(s.low for s in box), tuple(s.high for s in box))
        )

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            x = body.write()
            if w.version < 11:
                pads = [t.constant or 0 for t in amounts]
                return w.node("Pad", [x], dtype, pads=pads, value=float(number))
            value = w.constant(number, dtype)
            return w.node("Pad", [x, planner.numbers.shape(amounts), value], dtype)

        return planner.plan(1 + planner.numbers.shape_cost(amounts), self, write, body)


def _fill(cell: Cell, planner: Planner):  # type: ignore[no-untyped-def]
    return planner.fills.fill(cell.source.value) if isinstance(cell.source, View) else None


pad = PadForm()
