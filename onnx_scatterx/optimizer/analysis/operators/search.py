"""Transfer functions of the operators that return positions: NonZero and TopK.

The positions are known only at run time. They count from the start, so they are not negative. The
first row of those of NonZero never decreases, and neither do the least values that TopK sorts.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.origins import ElementOf
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.elements import Elements
from onnx_scatterx.optimizer.symbolic.terms import (
    Term,
    coord,
    element,
    equals,
    floor_div,
    modulo,
    term,
)


def non_zero(call: Call) -> Result:
    x = call.known(0)
    if x.constant is not None:
        # A scalar counts as one dim.
        return [TensorValue.of(np.array(np.nonzero(np.atleast_1d(x.constant)), dtype=np.int64))]
    rank = max(len(x.dims), 1)
    content = x.content.constant if isinstance(x.content, Term) else None
    if content is None or not x.dims:
        count = call.unknown_size(1)
        rises = Elements(distinct=rank == 1, ordered=True, row=0)
        call.facts.learn_elements(ElementOf(call.scope, call.node.outputs[0]), rises)
        return [TensorValue(ir.DataType.INT64, (term(rank), count), position_of(call, 0, 2))]
    # All or nothing: row d of the result is the d-th digit of the flat position.
    total = math.prod(x.dims, start=term(1)) if content else term(0)
    rows, flat, which = term(0), coord(1), coord(0)
    for d in range(rank):
        stride = math.prod(x.dims[d + 1 :], start=term(1))
        digit = floor_div(flat, stride)
        digit = modulo(digit, x.dims[d]) if d else digit
        rows = rows + digit * (equals(which, d) if rank > 1 else 1)
    return [TensorValue(ir.DataType.INT64, (term(rank), total), rows)]


def position_of(call: Call, output: int, rank: int, size: int | None = None) -> Term:
    """Return the elements of an output that holds positions: they count from the start."""
    value = call.node.outputs[output]
    coords = [coord(d) for d in range(rank)]
    high = float("inf") if size is None else max(size - 1, 0)
    return element(ElementOf(call.scope, value), coords, name=value.name or "?", low=0, high=high)


def top_k(call: Call) -> Result:
    """Transfer a TopK: its shapes, and its second output as positions."""
    x = call.inputs[0]
    if x is None or not x.shape:
        return None
    axis = call.integer("axis", -1) % len(x.shape)
    if call.version < 10:
        count: Term | None = term(call.integer("k", 0))
    else:
        given = call.input(1)
        count = None if given is None else given.scalar
    if count is None:
        count = call.unknown_size(axis)
    shape_ = tuple(count if d == axis else n for d, n in enumerate(x.shape))
    at = position_of(call, 1, len(shape_), x.shape[axis].constant)
    values = TensorValue(x.dtype, shape_, _chosen(call, x, axis))
    return [values, TensorValue(ir.DataType.INT64, shape_, at)]


def _chosen(call: Call, x: TensorValue, axis: int) -> Term | None:
    """Return the values that a TopK takes: integers between the least and the greatest."""
    if not x.is_integer or x.index_map is None or x.shape is None:
        return None
    value = call.node.outputs[0]
    source, (low, high) = ElementOf(call.scope, value), x.index_map.interval()
    least = not call.integer("largest", 1) and call.integer("sorted", 1)
    if least and axis == len(x.shape) - 1 and call.version >= 10:
        call.facts.learn_elements(source, Elements(ordered=True))
    coords = [coord(d) for d in range(len(x.shape))]
    return element(source, coords, name=value.name or "?", low=low, high=high)
