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

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    made_by,
    term,
)
from onnx_scatterx.rewrites.helpers.masked_updates import is_head
from onnx_scatterx.rewrites.helpers.masks import Masked, fitting, masked, placed

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64


class MaskedScatterRule(ScatterRule):
    """Rewrites masked writes of any updates."""

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        by_mask = masked(scatter, context)
        w, dtype = context.writer, scatter.dtype
        updates = _source(scatter, context)

        def write() -> ir.Value:
            mask = fitting(by_mask, context)
            others = [c for c, _ in by_mask.others]
            counts = _counts(by_mask, mask, context)
            rows = _rows(by_mask, updates, context)
            x = scatter.data
            for at in by_mask.rounds:
                hit = placed(mask, _BOOL, by_mask, context, others, at)
                new = _taken(
                    by_mask, rows, placed(counts, _INT64, by_mask, context, (), at), context
                )
                x = Reducer(w, scatter.reduction, dtype).where(hit, x, new)
            return x

        return Plan(write)


def _source(scatter: Scatter, context: Context) -> ir.Value:
    """Return the updates, or the vector whose first elements they are."""
    node = made_by(scatter.updates, "Slice")
    if node is None or node.graph is not context.graph:
        return scatter.updates
    first = node.inputs[0] if is_head(node, context) else None
    return scatter.updates if first is None else first


def _counts(by_mask: Masked, mask: ir.Value, context: Context) -> ir.Value:
    """Write for each element of the mask how many before it are true."""
    w, numbers, s = context.writer, context.numbers, by_mask.scatter
    line = w.node("Reshape", [w.cast(mask, _BOOL, _INT64), w.constant([-1])], _INT64)
    count = w.node("CumSum", [line, w.constant(np.array(0))], _INT64, exclusive=1)
    total = math.prod(by_mask.sizes, start=term(1))
    return numbers.reshape(count, _INT64, (total,), by_mask.sizes, s.facts)


def _rows(by_mask: Masked, updates: ir.Value, context: Context) -> ir.Value:
    """Write the updates, one after the other, and one more."""
    w, numbers, s = context.writer, context.numbers, by_mask.scatter
    u = w.transpose(updates, s.dtype, [by_mask.dim, *(d for _, d in by_mask.others)])
    more = w.constant(np.zeros([1] * len(s.shape), s.dtype.numpy()), s.dtype)
    if by_mask.others:
        shape = numbers.shape([term(1), *(s.data_shape[c] for c, _ in by_mask.others)])
        more = w.node("Expand", [more, shape], s.dtype)
    return w.concat([u, more], s.dtype, 0)


def _taken(by_mask: Masked, rows: ir.Value, counts: ir.Value, context: Context) -> ir.Value:
    """Write for each element of the data the update that the mask gives it."""
    w, s = context.writer, by_mask.scatter
    x = w.node("Gather", [rows, counts], s.dtype, axis=0)
    order = [*sorted(by_mask.named), *(c for c, _ in by_mask.others)]
    return w.transpose(x, s.dtype, [order.index(c) for c in range(len(order))])
