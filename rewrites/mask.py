"""A write to where a mask is true is a Where.

    before   y = ScatterND(x, Transpose(NonZero(m)), v for every true element)
    after    y = Where(m, v, x)

    before   y = ScatterND(x, Transpose(NonZero(m)), Mul(GatherND(x, Transpose(NonZero(m))), c))
    after    y = Where(m, Mul(x, c), x)

Holds if the indices are the coordinates of all true elements of a mask, in order, and the mask has
the shape of the data's leading axes. The updates must be in that order too: one value, a vector
over trailing axes that the mask does not depend on, or the elements of another tensor under the
same mask, or under one that this mask repeats. The n-th true element of such a mask has the
trailing position ``n mod (size of the trailing axes)``. Or they are an element-wise function of
such updates, which computes the same bits at any place (``engine/plan/last_bits.py``).

If the mask selects whole rows, they are read quickly. So where time counts, a function of rows is
kept: for all rows it may take any number of times as long.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reason,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    attempt,
    made_by,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.masked_updates import updates_in_order
from onnx_scatterx.rewrites.helpers.masks import (
    Masked,
    as_bools,
    fitting,
    masked,
    placed,
)

_BOOL = ir.DataType.BOOL


class MaskRule(ScatterRule):
    """Rewrites masked writes."""

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        by_mask = masked(scatter, context)
        refuse_unless(_is_leading(by_mask))
        depth = len(by_mask.axes)
        updates = attempt(lambda: updates_in_order(scatter, by_mask.mask, depth, context))
        if isinstance(updates, Refusal):
            return Refusal(Reason.UNKNOWN_INDICES, "whether the updates are in the mask's order")
        w, dtype = context.writer, scatter.dtype
        if updates.parts and depth < len(scatter.data_shape) and context.target.is_timed:
            return Refusal(Reason.NO_GAIN, "the mask may select few rows")

        def write() -> ir.Value:
            chosen = _condition(by_mask, context)
            new = updates.write(lambda: chosen)
            return Reducer(w, scatter.reduction, dtype).where(chosen, scatter.data, new)

        return Plan(write)


def _is_leading(by_mask: Masked) -> bool:
    """Return whether a mask covers the leading axes, in their order, and counts dim 0.

    Dim 0 of the updates counts the true elements if the other dims run along the other axes.
    """
    trailing = [(c, c - len(by_mask.axes) + 1) for c, _ in by_mask.others]
    return list(by_mask.axes) == list(range(len(by_mask.axes))) and list(by_mask.others) == trailing


def _condition(by_mask: Masked, context: Context) -> ir.Value:
    """Write the mask for the data; a mask that was only broadcast is written as it was before."""
    node = made_by(by_mask.mask.value, "Expand")
    first = node.inputs[0] if by_mask.fits and not by_mask.others and node is not None else None
    if first is None:
        return placed(
            fitting(by_mask, context), _BOOL, by_mask, context, [c for c, _ in by_mask.others]
        )
    return as_bools(first, by_mask.mask, context)
