"""Largest and smallest integers, and sums of them, by operators that a target takes.

    Max(a, c)          =   Clip(a, c)      if c is one number; Min(a, c) = Clip(a, max=c)
    Clip(a, c, d)      =   Min(Max(a, c), d), each written as Where(a > c, a, c) if a may be large
    Clip(Pad(x, n), c, d) =  Pad(x, Clip(n, c, d))    if x lies between c and d
    Max(a, b)          =   Where(a > b, a, b)
    ReduceMax(x)       =   the first of TopK(x, 1)
                       =   Max(x[:h], x[n - h:]),  h = ceil(n / 2), until one is left
                       =   Cast(Cast<bool>(ReduceSum(x)))     if all are 0 or 1, and there are some
    ReduceSum(x)       =   x @ [[1], [1], ...]                if all sums are exact as floats
    Where(c, a, b)     =   b + Cast(c) * (a - b)

They hold for integers: of floats, NaNs and the signs of zeros would differ, and a Clip without a
bound ends at the largest finite number. Some versions of ONNX
Runtime compare the lower halves of int64 as signed numbers if the upper ones are equal, in Max and
in ReduceMax (``reduction.py``). So what is reduced must be known to lie below 2^31, and no
difference overflows either. A Max of two is written as ONNX defines it.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, require, required
from onnx_scatterx.engine.write.forms.casts import EXACT
from onnx_scatterx.engine.write.forms.request import Request, bounds, lies
from onnx_scatterx.engine.write.ordered import top
from onnx_scatterx.graphs import attribute_of, made_by

_BOOL, _FLOAT = ir.DataType.BOOL, ir.DataType.FLOAT
_INT32, _INT64 = ir.DataType.INT32, ir.DataType.INT64
_CLIPPED = frozenset(
    {_INT32, _INT64, ir.DataType.INT8, *(ir.DataType[f"UINT{bits}"] for bits in (8, 32, 64))}
)
"""Types of which ONNX Runtime clips what it takes the largest of."""
_CLIPS_INTEGERS = 12  # the first operator set in which Clip takes integers
_GREATER = {"Max": "Greater", "Min": "Less"}
_OF_TWO = {"ReduceMax": "Max", "ReduceMin": "Min"}
_HALVED = 1 << 10  # elements along an axis that is halved
_SMALL = 1 << 31


def _range(request: Request, at: int) -> tuple[int, int]:
    """Return the range of integers that are small enough."""
    require(request.known_of(at).dtype in (_INT32, _INT64))
    low, high = required(bounds(request.known[at], request))
    require(low > -_SMALL, high < _SMALL)
    return low, high


def _is_small(request: Request, at: int) -> bool:
    """Return whether integers are known to be small enough."""
    try:
        _range(request, at)
    except NotKnownError:
        return False
    return True


def of_two(request: Request) -> ir.Value:
    """Choose the larger or smaller of two by a comparison."""
    dtype, w, operands = request.kind, request.writer, list(request.inputs)
    require(len(operands) == 2, dtype in (_INT32, _INT64))
    first = w.node(_GREATER[request.op], operands, _BOOL)
    return w.node("Where", [first, *operands], dtype)


def by_clip(request: Request) -> ir.Value:
    """Clip one operand at the other one, if this is one number."""
    dtype, w = request.kind, request.writer
    require(len(request.inputs) == 2, dtype in _CLIPPED, w.version >= _CLIPS_INTEGERS)
    require(request.takes("Clip"))
    for i in (0, 1):
        x, bound = request.known_of(i), request.known_of(1 - i)
        if bound.static_shape is None or x.rank is None or any(n != 1 for n in bound.static_shape):
            continue
        if len(bound.static_shape) > x.rank:
            continue
        limit, number = request.input(1 - i), request.constant(request.input(1 - i))
        if number is not None:
            limit = w.constant(number.numpy().reshape(()), dtype)
        elif bound.static_shape:
            continue
        limits = [limit] if request.op == "Max" else [None, limit]
        return w.node("Clip", [request.input(i), *limits], dtype)
    raise NotKnownError


def by_bounds(request: Request) -> ir.Value:
    """Take the larger of the number and the lower bound, then the smaller of it and the upper."""
    dtype, w, x = request.kind, request.writer, request.input(0)
    bounded = [i for i in (1, 2) if request.has(i)]
    require(bounded, dtype in (_INT32, _INT64))
    small = dtype == _INT32 or all(_is_small(request, i) for i in (0, *bounded))
    for i in bounded:
        op, operands = ("Max", "Min")[i - 1], [x, request.input(i)]
        if small:
            x = w.node(op, operands, dtype)
        else:
            x = w.node("Where", [w.node(_GREATER[op], operands, _BOOL), *operands], dtype)
    return x


def clipped_padding(request: Request) -> ir.Value:
    """Clip the number with which integers are padded, if these lie between the bounds."""
    low, high = (_bound(request, i) for i in (1, 2))
    made = required(made_by(request.input(0), "Pad"))
    require(request.kind in (_INT32, _INT64), low <= high, len(made.inputs) > 1)
    data, pads, fill, *axes = [*made.inputs, None][:4]
    require(attribute_of(made, "mode", "constant") == "constant")
    require(lies(request.of(required(data)), low, high, request))
    number = 0 if fill is None else required(request.constant(fill)).numpy().item()
    clipped = np.array(min(max(number, low), high), request.kind.numpy())
    inputs = [data, pads, request.writer.constant(clipped, request.kind), *filter(None, axes)]
    return request.writer.spelled_node("Pad", inputs, request.dtype, mode="constant")


def _bound(request: Request, i: int) -> float:
    """Return a bound of a Clip; an infinity if there is none."""
    if not request.has(i):
        return (-math.inf, math.inf)[i - 1]
    (number,) = request.numbers(i)
    return number


def on_numbers(request: Request) -> ir.Value:
    """Add the difference where the condition holds."""
    dtype, w = request.kind, request.writer
    require(not request.takes("Where"), request.inputs[1] is not request.inputs[2])
    _range(request, 1)
    _range(request, 2)
    c, a, b = (request.input(i) for i in range(3))
    difference = w.node("Sub", [a, b], dtype)
    if dtype == _INT32:  # the difference of two may pass 2^31
        require(max(*_range(request, 1)) - min(*_range(request, 2)) < _SMALL)
        require(max(*_range(request, 2)) - min(*_range(request, 1)) < _SMALL)
    chosen = w.node("Mul", [w.cast(c, _BOOL, dtype), difference], dtype)
    return w.node("Add", [b, chosen], dtype)


def _axis(request: Request) -> int:
    """Return the one axis that is reduced, counted from the start."""
    axes = request.attributes.get("axes")
    named = list(axes) if axes is not None else request.numbers(1)
    require(len(named) == 1, not request.attributes.get("noop_with_empty_axes"))
    return int(named[0]) % len(required(request.known_of(0).shape))


def _reduced(request: Request, x: ir.Value, dtype: ir.DataType, axis: int) -> ir.Value:
    """Write a tensor of one element along an axis as the result has it."""
    keeps = request.attributes.get("keepdims", 1)
    return x if keeps else request.writer.axes("Squeeze", x, dtype, [axis])


def by_top(request: Request) -> ir.Value:
    """Sort an axis, and keep the first element."""
    w, dtype, axis = request.writer, request.kind, _axis(request)
    if dtype == _INT64:
        _range(request, 0)
    require(dtype in (_INT32, _INT64), w.version >= 11, request.takes("TopK"))
    require(_length(request, axis))
    largest = request.op == "ReduceMax"
    values, _ = top(w, request.input(0), dtype, w.constant([1]), axis, largest=largest)
    return _reduced(request, values, dtype, axis)


def _length(request: Request, axis: int) -> int:
    """Return how many elements an axis has."""
    return required(request.known_of(0).dims[axis].constant)


def _is_filled(request: Request, axis: int) -> bool:
    """Return whether an axis has elements: the largest of none is the least number of the type."""
    return request.writer.facts.is_nonnegative(request.known_of(0).dims[axis] - 1)


def by_halves(request: Request) -> ir.Value:
    """Compare the halves of an axis, which overlap if it is odd, until one element is left."""
    w, dtype, axis = request.writer, request.kind, _axis(request)
    _range(request, 0)
    size, x, op = _length(request, axis), request.input(0), _OF_TWO[request.op]
    require(0 < size <= _HALVED)
    while size > 1:
        half = (size + 1) // 2
        ends = ((0, half), (size - half, size))
        first, second = (w.slice(x, dtype, [axis], [a], [b], [1]) for a, b in ends)
        x = w.node(op, [first, second], dtype)
        size = half
    return _reduced(request, x, dtype, axis)


def by_sum(request: Request) -> ir.Value:
    """Find whether any of some zeros and ones is a one."""
    w, dtype = request.writer, request.kind
    low, high = _range(request, 0)
    axis, keeps = _axis(request), request.attributes.get("keepdims", 1)
    require(request.op == "ReduceMax", low >= 0, high <= 1, _is_filled(request, axis))
    axes = w.constant([axis])
    total = w.node("ReduceSum", [request.inputs[0], axes], dtype, keepdims=keeps)
    return w.cast(w.cast(total, dtype, _BOOL), _BOOL, dtype)


def sum_by_product(request: Request) -> ir.Value:
    """Multiply by ones."""
    w, dtype, axis = request.writer, request.kind, _axis(request)
    low, high = _range(request, 0)
    size, rank = _length(request, axis), len(request.known_of(0).dims)
    require(rank > 1, size > 0, max(-low, high) * size <= EXACT)
    x = request.cast(0, _FLOAT)
    order = [d for d in range(rank) if d != axis]
    x = w.transpose(x, _FLOAT, [*order, axis])
    ones = w.constant(np.ones((size, 1), np.float32), _FLOAT)
    total = w.node("MatMul", [x, ones], _FLOAT)
    if request.attributes.get("keepdims", 1):
        total = w.transpose(total, _FLOAT, [*range(axis), rank - 1, *range(axis, rank - 1)])
    else:
        total = w.axes("Squeeze", total, _FLOAT, [rank - 1])
    return w.cast(total, _FLOAT, dtype)
