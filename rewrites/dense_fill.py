"""One number written to any positions is a comparison with the positions and a Where.

    before   y = ScatterND(x, i, number for every update)            i of shape [N, 1], x of [P]
    after    hit = ReduceMax(Cast(i == Range(P)))                    over the N
             y   = Where(hit, number, x)

The order of the updates does not matter, as all are the same: they may collide, whatever the
indices are. That also holds for ``min`` and ``max``, where a second write of it changes nothing.
A sum or a product depends on how often the number is written: such a scatter is kept.

The work is positions times updates, as for any dense form.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.emit.reduce import reduced, reducers
from onnx_scatterx.emit.select import select
from onnx_scatterx.lift.scatters import Scatter
from onnx_scatterx.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.rewrites.dense_write import Search, allow, matches, search_of
from onnx_scatterx.text.reasons import Reason, Refusal

_BOOL, _INT32 = ir.DataType.BOOL, ir.DataType.INT32


class DenseFillRule(ScatterRule):
    """Rewrites writes of one number to any positions."""

    name = "dense_fill"
    is_dense = True
    searches = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        number = context.constants.splat(scatter.updates)
        if number is None or scatter.reduction not in ("none", "min", "max"):
            return Refusal(Reason.NO_RULE)
        search = search_of(scatter, context)
        if search is None:
            return Refusal(Reason.NO_RULE)
        layout, w, dtype = search.layout, context.writer, scatter.dtype
        ops = reducers(w, scatter.reduction, dtype)

        def write() -> ir.Value:
            hit, x = _hit(search), layout.data(context)
            new = reduced(w, ops, x, w.constant(number, dtype), dtype)
            return layout.back(select(w, hit, new, x, dtype), context)

        return Plan(write, allow(search.compared, search))


def _hit(search: Search) -> ir.Value:
    """Write which positions are updated, [L..., P, R...], with 1 for dims that all share."""
    w, layout = search.context.writer, search.layout
    found, _ = matches(search, padded=search.padded)
    counted = w.node("Cast", [found], _INT32, to=_INT32.value)
    ahead = 0 if search.places.shared else layout.place
    hit = w.reduce("ReduceMax", counted, _INT32, ahead + 1)
    hit = w.node("Cast", [hit], _BOOL, to=_BOOL.value)
    if search.places.shared:
        hit = w.axes("Unsqueeze", hit, _BOOL, [1 + d for d in range(len(layout.right))])
    return hit


dense_fill = DenseFillRule()
