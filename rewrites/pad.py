"""A box on a constant is a Pad.

    before   y = ScatterND(zeros, rows 1 .. n, updates)
    after    y = Pad(updates, [1, 0, 1, 0], 0.0)

Holds if everything outside a box is filled with the same number, bit for bit. The content of the
box is written by whichever rule is cheapest.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Cell,
    Plan,
    Planner,
    Reason,
    Refusal,
    Region,
    RegionRule,
    StridedInterval,
    Term,
    Traffic,
    View,
    refuse_unless,
)


class PadRule(RegionRule):
    """Writes a region that is one box on a constant."""

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        refuse_unless(len(region.cells) >= 2)
        fills = [_fill(c, planner) for c in region.cells]
        inner = [c for c, f in zip(region.cells, fills, strict=True) if f is None]
        numbers = {f.tobytes(): f for f in fills if f is not None}
        refuse_unless(inner and len(numbers) == 1)
        (number,) = numbers.values()
        lows, highs = [], []
        for d in range(region.rank):
            bounds = [c.box[d].ends for c in inner]
            lows.append(_outermost([low for low, _ in bounds], planner, -1))
            highs.append(_outermost([high for _, high in bounds], planner, 1))
            # An empty box has no negative length.
            if not planner.facts.is_nonnegative(highs[d] - lows[d]):
                proper = StridedInterval.interval(lows[d], highs[d]).not_negative(planner.facts)
                highs[d] = planner.simplified(proper.high)
        box = tuple(map(StridedInterval.interval, lows, highs))
        before = [planner.simplified(a - b) for a, b in zip(lows, region.low, strict=True)]
        after = [planner.simplified(b - a) for a, b in zip(highs, region.high, strict=True)]
        amounts: list[Term] = [*before, *after]
        refuse_unless(any(t.constant != 0 for t in amounts))
        held = all(map(planner.facts.is_nonnegative, (*amounts, *(s.length for s in box))))
        refuse_unless(held, Reason.UNKNOWN_BOUNDS, "how much is padded")
        cells = [part for c in region.cells if (part := c.within(box, planner.facts)) is not None]
        body = planner.require(Region(tuple(cells), tuple(lows), tuple(highs)))

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            x = body.write()
            value = w.constant(number, dtype)
            return w.pad(x, dtype, planner.numbers.shape(amounts), value)

        cut = max(d for d in range(region.rank) if not before[d] == after[d] == 0)
        traffic = [Traffic("Pad", region.extents, cut)]
        return planner.plan(self, write, body, traffic=traffic)


def _fill(cell: Cell, planner: Planner) -> np.ndarray | None:
    return planner.constants.splat(cell.source.value) if isinstance(cell.source, View) else None


def _outermost(bounds: list[Term], planner: Planner, sign: int) -> Term:
    """Return the bound that is proven to be the least (sign -1) or the largest (sign 1)."""
    best = bounds[0]
    for t in bounds[1:]:
        if planner.facts.is_nonnegative(sign * (t - best)):
            best = t
        else:
            ordered = planner.facts.is_nonnegative(sign * (best - t))
            refuse_unless(ordered, Reason.NO_CUT, "what is padded")
    return best
