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

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    granted,
    term,
)
from onnx_scatterx.rewrites.helpers.search import (
    Search,
    allow,
    filled,
    matches,
    number_of,
    search_of,
)

_BOOL, _INT32 = ir.DataType.BOOL, ir.DataType.INT32


class DenseFillRule(ScatterRule):
    """Rewrites writes of one number to any positions."""

    reads_all_data = True
    searches = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        number, search = granted(number_of(scatter, context)), search_of(scatter, context)
        return Plan(lambda: filled(search, _hit(search), number), allow(search.compared, search))


def _hit(search: Search) -> ir.Value:
    """Write which positions are updated, [P] if all rows of the data share their indices."""
    w = search.context.writer
    matched, _ = matches(search, padded=search.padded)
    ones = w.cast(matched, _BOOL, _INT32)
    w.note_index(ones, term(2), from_zero=True)
    hit = w.reduce("ReduceMax", ones, _INT32, search.ahead + 1)
    return w.cast(hit, _INT32, _BOOL)
