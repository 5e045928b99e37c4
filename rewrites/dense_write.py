"""Every position looks up its update among all updates.

    before   y = ScatterND(x, i, u)                          i of shape [N, 1], x of [P, ...]
    after    row = ReduceMax(Where(i == Range(P), P + Range(N), Range(P)))    over the N
             y   = Gather(Concat(x, u), row)

``row`` is the last update that is written to a position, as ONNX Runtime writes them on one thread.
If no update is written to the position, ``row`` is the position's own row. If the target lacks an
operator of this, at most 16 updates are written one by one (``side_by_side``).

Holds for any indices, unless updates are known to collide: ONNX does not define that result, so the
scatter is kept. The work is positions times updates. The work is negligible if it is small beside
the elements that the scatter moves, as for long rows. If there are few positions, it is a few
passes over the updates. Otherwise the target must allow this form and its size.
"""

from __future__ import annotations

from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.search import (
    Search,
    allow,
    matches,
    search_of,
    taken,
)
from onnx_scatterx.rewrites.helpers.side_by_side import are_few, one_by_one

_INT64 = ir.DataType.INT64


class DenseWriteRule(ScatterRule):
    """Rewrites writes to any positions, where the last update wins."""

    reads_all_data = True
    searches = True
    takes_last = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        search = search_of(scatter, context)
        refuse_unless(scatter.reduction == "none" and not context.collides(scatter))
        work = allow(search.compared, search)

        def write() -> ir.Value:
            return taken(search, _rows(search))

        refused = isinstance(context.writer.fragment_of(write), Refusal)
        chain = partial(one_by_one, search)
        if refused and are_few(search):
            refused = isinstance(context.writer.fragment_of(chain), Refusal)
            return Plan(write if refused else chain, work)
        return Plan(write, work)


def _rows(search: Search) -> ir.Value:
    """Write for each position P + its last update, or the position if it is not updated.

    The shape is [P] if all rows of the data share their indices, else [l..., P, r...].
    """
    w, numbers, layout = search.context.writer, search.context.numbers, search.layout
    hit, line = matches(search, padded=search.padded)
    updates = numbers.positions(layout.updates + search.padded)
    updates = w.node("Add", [updates, numbers.vector(layout.positions)], _INT64)
    updates = w.axes("Unsqueeze", updates, _INT64, [1 + d for d in range(search.behind)])
    rows = w.node("Where", [hit, updates, line], _INT64)
    count = layout.positions + layout.updates + search.padded
    w.note_index(rows, count, from_zero=True)
    last = w.reduce("ReduceMax", rows, _INT64, search.ahead + 1)
    w.note_index(last, layout.positions + layout.updates, from_zero=True)
    return last
