"""Every position finds its last update by sorting all positions and updates together.

    before   y = ScatterND(x, i, u)                          i of shape [N, 1], x of [P, ...]
    after    _, order = TopK(Concat(1 + Range(P), i), P + N, largest=0)
             _, rank  = TopK(order, P, largest=0)
             last = Gather(order, rank - 1)
             y    = Gather(Concat(x, u), Where(last >= P, last, Range(P)))

Position p has the key ``p + 1``, before the updates to ``p + 1``. Equal keys keep their order, so
the entry right before it is the last update to p, or another position if there is no such update.
Before the first entry comes the last of all, which is a position too: no update is written to P.

Holds for any indices. If all updates are one number, they need not be read, and ``max`` and ``min``
are allowed too. The work is that of sorting at any sizes, so no size must be known. If the target
has the scatter, this form is used only if the target takes dense forms.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    is_lacked,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.search import (
    Search,
    filled,
    number_of,
    search_of,
    taken,
)

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64


class SortedWriteRule(ScatterRule):
    """Rewrites writes to any positions, where the last update wins."""

    reads_all_data = True
    searches = True
    takes_last = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        target = context.target
        wanted = target.dense_limit is not None or is_lacked(scatter.node, target)
        refuse_unless(context.writer.runs("TopK", _INT64) and wanted and target.has("TopK"))
        number = number_of(scatter, context)
        moved = scatter.reduction == "none" and not context.collides(scatter)
        refuse_unless(number is not None or moved)
        search = search_of(scatter, context, behind=True)

        def write() -> ir.Value:
            hit, last, line = _last(search)
            if number is not None:
                return filled(search, hit, number)
            return taken(search, context.writer.node("Where", [hit, last, line], _INT64))

        return Plan(write)


def _last(search: Search) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Write which positions have updates, P + the last one of each, and the positions.

    The shapes are [P] if all rows of the data share their indices, else [l..., P, r...] and, of
    the positions, [P, 1, ...].
    """
    w, numbers, layout = search.context.writer, search.context.numbers, search.layout
    shape, middle, shared = (
        search.positions.shape,
        layout.middle,
        search.positions.shared,
    )
    at, line = search.positions.write(), numbers.positions(layout.positions)
    keys = w.node("Add", [line, w.constant([1])], _INT64)
    axis, op = (0, "Gather") if shared else (middle, "GatherElements")
    if shared:
        at = search.vector(at)
    else:
        behind = [1 + d for d in range(len(layout.right))]
        line, keys = (w.axes("Unsqueeze", x, _INT64, behind) for x in (line, keys))
        sizes = (*shape[:middle], layout.positions, *shape[middle + 1 :])
        keys = w.node("Expand", [keys, numbers.shape(sizes)], _INT64)
    count = numbers.vector(layout.positions + layout.updates)
    order = numbers.argsort(w.concat([keys, at], _INT64, axis), count, axis)
    rank = numbers.argsort(order, numbers.vector(layout.positions), axis)
    before = w.node("Sub", [rank, w.constant([1])], _INT64)
    if search.is_chosen:  # the last of all may be an update to no position
        before = w.node("Max", [before, w.constant([0])], _INT64)
    last = w.node(op, [order, before], _INT64, axis=axis)
    hit = w.node("Less", [numbers.vector(layout.positions - 1), last], _BOOL)
    return hit, last, line
