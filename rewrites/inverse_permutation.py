"""A write to all positions in a computed order is a Gather in the inverse order.

    before   values, i = TopK(keys, S)        y = ScatterElements(x, i, u)     x, u of S rows
    after    y = GatherElements(u, j)         where _, j = TopK(i, S, largest=0)

Holds if the indices are those of a TopK that keeps all elements: a permutation of the positions,
for each row of the data. The order that sorts a permutation is its inverse.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    attribute_of,
    made_by,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.arrangement import Arrangement, arranged
from onnx_scatterx.rewrites.helpers.update_positions import positions_of

_INT64 = ir.DataType.INT64


class InversePermutationRule(ScatterRule):
    """Rewrites writes in a computed order."""

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        layout = arranged(scatter, apart=False)
        refuse_unless(_is_permutation(layout, context))
        positions = positions_of(layout, context)
        w, numbers, dtype = context.writer, context.numbers, scatter.dtype
        refuse_unless(w.runs("TopK", _INT64))
        shared, middle = positions.shared, layout.middle

        def write() -> ir.Value:
            at = positions.write()
            if shared:
                others = [d for d in range(layout.rank) if d != middle]
                at = w.axes("Squeeze", at, _INT64, others)
            order = numbers.argsort(at, numbers.vector(layout.updates), 0 if shared else middle)
            u = layout.update(context)
            new = numbers.take(u, order, dtype, middle, None if shared else layout.shape)
            if scatter.reduction != "none":
                reduction = Reducer(w, scatter.reduction, dtype)
                new = reduction.combined(layout.data(context), new)
            return layout.back(new, context)

        return Plan(write)


def _is_permutation(layout: Arrangement, context: Context) -> bool:
    """Return whether the indices are the positions of a TopK that keeps all: each occurs once."""
    s = layout.scatter
    if len(layout.axes) != 1 or len(layout.dims) != 1:
        return False
    (axis,), (dim,) = layout.axes, layout.dims
    read = context.element_read(s.index_exprs[axis])
    node = None if read is None else made_by(read[1], "TopK")
    if read is None or node is None or node.outputs[1] is not read[1]:
        return False
    keys = None if node.inputs[0] is None else context.known(node.inputs[0]).shape
    along = [d for d, part in enumerate(read[0].parts) if dim in part.coords]
    number = attribute_of(node, "axis", -1)
    if keys is None or number is None:
        return False
    sorted_axis = number % len(keys)
    if along != [sorted_axis] or read[0].parts[sorted_axis].dim != dim:
        return False
    sizes = keys[sorted_axis], s.shape[dim]
    return all(s.facts.equal(n, s.data_shape[axis]) for n in sizes)
