"""A write by a mask takes, for each true element, the update at that element's running count.

    before   y = ScatterND(x, Transpose(NonZero(m)), u)
    after    y = Where(m, Gather(u, CumSum(m, exclusive)), x)

Holds for any updates in the order of the mask's true elements, as in masked_scatter. The count at a
false element is not used. It must be a valid row all the same, so the updates get one more row. The
first elements of a vector need not be cut from it.

If several true elements name one element (a token that an expert is given twice), it is written
that often, in their order:

    before   y = ScatterND<reduction="add">(x, NonZero(m)[1], u)             m of shape [K, N]
    after    y_k+1 = Where(m[k], y_k + Gather(u, count[k]), y_k)             K times
"""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    made_by,
)
from onnx_scatterx.rewrites.helpers.following import Has
from onnx_scatterx.rewrites.helpers.masked_write import whole_rows, written_by_mask
from onnx_scatterx.rewrites.helpers.masks import masked
from onnx_scatterx.rewrites.helpers.row_counts import counted
from onnx_scatterx.rewrites.helpers.row_reads import is_head


class MaskedScatterRule(ScatterRule):
    """Rewrites masked writes of any updates."""

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        by_mask = masked(scatter, context)
        source, dim = _source(scatter, context), by_mask.dim
        rows = whole_rows(by_mask, context)
        has = Has.ALL if source is scatter.updates else Has.MORE
        updates = counted(rows, source, dim, replace(rows.rows, has=has))
        return Plan(lambda: written_by_mask(by_mask, rows, updates))


def _source(scatter: Scatter, context: Context) -> ir.Value:
    """Return the updates, or the vector whose first elements they are."""
    node = made_by(scatter.updates, "Slice")
    if node is None or node.graph is not context.graph:
        return scatter.updates
    first = node.inputs[0] if is_head(node, context) else None
    return scatter.updates if first is None else first
