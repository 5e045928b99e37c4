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

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    made_by,
)
from onnx_scatterx.rewrites.rows import counted_write, masked


class MaskedScatterRule(ScatterRule):
    """Rewrites masked writes of any updates."""

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        by_mask = masked(scatter, context)
        return Plan(counted_write(by_mask, _source(scatter, context), context).write)


def _source(scatter: Scatter, context: Context) -> ir.Value:
    """Return the updates, or the vector whose first elements they are."""
    node = made_by(scatter.updates, "Slice")
    if node is None or node.graph is not context.graph:
        return scatter.updates
    first = node.inputs[0] if _is_head(node, context) else None
    return scatter.updates if first is None else first


def _is_head(node: ir.Node, context: Context) -> bool:
    """Return whether a Slice takes the first elements of a vector."""
    starts = node.inputs[1] if len(node.inputs) > 1 else None
    known = None if starts is None else context.known(starts).constant
    steps = node.inputs[4] if len(node.inputs) > 4 else None
    unit = steps is None or _all_equal(context.known(steps).constant, 1)
    first = node.inputs[0]
    rank = None if first is None else context.known(first).rank
    return rank == 1 and unit and _all_equal(known, 0)


def _all_equal(known: np.ndarray | None, number: int) -> bool:
    return known is not None and bool((known == number).all())
