"""Rows in the order of a mask, read at the running count of it.

    d of shape [K, ...], K elements of m are true      Gather(d, CumSum(m, exclusive))

An operand of a function of chosen rows may have the rows in the mask's order without a read by the
mask, as the updates of a masked scatter have. Row i of the whole tensor is the row at the number of
true elements before i.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import refuse_unless, term
from onnx_scatterx.rewrites.helpers.whole import Whole
from onnx_scatterx.rewrites.helpers.whole_rows import WholeRows

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64


def counted(rows: WholeRows, value: ir.Value, axis: int, *, is_long: bool = False) -> Whole:
    """Return the rows of a value that has them in the mask's order, or one for all, or refuse.

    A row that is not chosen is any of them; a row is added, since there may be none. If it
    ``is_long``, the value surely has all chosen rows.
    """
    w, numbers = rows.context.writer, rows.context.numbers
    dtype, old = rows.dtype(value), rows.given_shape(value)
    depth = rows.depth
    refuse_unless(rows.is_whole() and not rows.is_windowed)
    dims = tuple(range(depth))
    clamped = not is_long and not rows.facts.equal(old[axis], rows.count)
    sizes = rows.sizes(dims)
    shape = (*old[:axis], *sizes, *old[axis + 1 :])

    def make(_: list[ir.Value]) -> ir.Value:
        at = _running_count(rows, depth)
        more = (*old[:axis], term(1), *old[axis + 1 :])
        zero = w.constant(np.zeros([1] * len(old), dtype.numpy()), dtype)
        if any(n.constant != 1 for n in more):
            zero = w.node("Expand", [zero, numbers.shape(more)], dtype)
        x = w.concat([value, zero], dtype, axis)
        if clamped:
            last = w.axes("Squeeze", numbers.vector(old[axis] - 1), _INT64, [0])
            at = w.node("Min", [at, last], _INT64)
        return w.node("Gather", [x, at], dtype, axis=axis)

    order = tuple(range(len(shape)))
    return rows.without_merged(Whole(make, dtype, axis, dims, shape, order, is_read=True))


def _running_count(rows: WholeRows, depth: int) -> ir.Value:
    """Write for each place of the first dims of the mask at how many before it is true."""
    w, sizes = rows.context.writer, rows.extents[:depth]
    number = w.cast(rows.mask_over(depth), _BOOL, _INT64)
    line = w.node("Reshape", [number, w.constant([-1])], _INT64)
    count = w.node("CumSum", [line, w.constant(np.array(0))], _INT64, exclusive=1)
    total = math.prod(sizes, start=term(1))
    return rows.context.numbers.reshape(count, _INT64, (total,), sizes, rows.facts)
