"""All rows of GatherND: elements of a table at tuples of indices, of which each row has its own.

    GatherND(t, i[m])           GatherND(t, Where(m, i, 0))
    GatherND(t, i[m]), [K, 1]   Gather(t, Where(m, i, 0))          a tuple of one index

The table is the same for all rows. Index 0 is read where no row is chosen, so it must have one.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.rules import granted, refuse_unless
from onnx_scatterx.rewrites.helpers.row_part import Part, guarded, indices_of
from onnx_scatterx.rewrites.helpers.whole import Whole


def taken_at(part: Part) -> Whole:
    """GatherND: rows run along an axis of the indices, but not along that of the tuples."""
    table, at = part.input(0), part.input(1)
    shape, indices = part.rows.given_shape(table), part.rows.shape(at)
    last = len(indices) - 1
    refuse_unless(part.attribute("batch_dims", 0) == 0 and part.axis < last)
    length = granted(indices[last].constant)
    x, inner = indices_of(part, 1, part.axis), Part(part.rows, part.node, at, part.axis, part.has)
    rows, facts = part.rows.sizes(x.dims), part.facts
    for n in shape[:length]:  # as many as rows: if there are none, no index is read
        refuse_unless(facts.is_nonnegative(n - 1) or any(facts.equal(n, m) for m in rows))
    if length > 1:
        return part.node_of([table, guarded(inner, x, x.dims, 0, last + 1)], x.dims)
    x = x.moved(range(len(x.order) - 1), x.axis)

    def make(made: list[ir.Value]) -> ir.Value:
        return part.context.writer.node("Gather", [table, made[0]], part.dtype, axis=0)

    return part.whole(make, [guarded(inner, x, x.dims, 0, last)], x.dims)
