"""Sums, remainders, comparisons and operators on bools by other operators.

CumSum<exclusive=1>(x)   =   CumSum(x) - x
CumSum(x)                =   x @ U,  U[i, j] = 1 where i <= j       along the last axis
Mod(a, b)                =   r                                      if a is not negative, and b > 0
                         =   Where(r < 0, r + b, r)                 else, if b > 0
                             r = a - Div(a, b) * b, which Div rounds towards 0
                             r = 1 + Div(-1, b) * b                 if a is 1
                             r = a                                  if -b <= a < b
                         =   Mod(Mod(a, b) + b, b)                  with the remainder of C

Not(a)          =   Equal(a, False)
Greater(a, b)   =   Less(b, a)
IsNaN(a)        =   Not(Equal(a, a))
And(a, b)       =   Mul, and Or(a, b) = Max, of the numbers 0 and 1
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, require, required
from onnx_scatterx.engine.terms import maximum
from onnx_scatterx.engine.write.abstract_values import IndexOf
from onnx_scatterx.engine.write.forms.casts import EXACT
from onnx_scatterx.engine.write.forms.request import Request, bounds

_INTEGERS = (ir.DataType.INT64, ir.DataType.INT32)
_FLOAT = ir.DataType.FLOAT
_LONGEST = 1 << 14  # elements of a line whose sums are products
_TRIANGLES = 1 << 12  # elements of the triangles
_TRIANGLE = 1 << 16  # of one that needs no other: fewer nodes, and 256 KiB at most


def exclusive_sum(request: Request) -> ir.Value:
    """Subtract each element from its inclusive sum; int64 as int32, if no sum overflows that."""
    dtype, w, attributes = request.kind, request.writer, dict(request.attributes)
    require(dtype in _INTEGERS)  # of floats the sum rounds
    kind = dtype if request.takes("CumSum") else ir.DataType.INT32
    exclusive = attributes.pop("exclusive", 0)
    require(request.takes("CumSum", kind), request.takes("Sub", kind))
    require(exclusive if kind == dtype else _largest_sum(request) < 1 << 31)
    x = w.cast(request.input(0), dtype, kind)
    sums = w.node("CumSum", [x, request.inputs[1]], kind, **attributes)
    if exclusive:
        sums = w.node("Sub", [sums, x], kind)
    return w.cast(sums, kind, dtype)


def sum_by_product(request: Request) -> ir.Value:
    """Multiply by triangles of ones, if all sums are exact as floats.

    A long line is cut into rows. A sum is the sum within its row plus the sum of all rows before.
    """
    dtype, w = request.kind, request.writer
    shape, axis = request.shape(0), request.numbers(1)
    require(dtype in _INTEGERS and shape and _largest_sum(request) <= EXACT)
    require(axis[0] % len(shape) == len(shape) - 1, not request.attributes.get("reverse"))
    rows = _rows(shape[-1])
    require(0 not in shape)
    require(*(request.takes(op, _FLOAT) for op in ("Cast", "MatMul", "Reshape", "Add")))
    lines, row = math.prod(shape[:-1]), shape[-1] // rows

    def product(x: ir.Value, by: np.ndarray) -> ir.Value:
        return w.node("MatMul", [x, w.constant(by.astype(np.float32), _FLOAT)], _FLOAT)

    def shaped(x: ir.Value, *sizes: int) -> ir.Value:
        return w.node("Reshape", [x, w.constant(list(sizes))], _FLOAT)

    x = request.cast(0, _FLOAT)
    is_flat = rows > 1 or len(shape) == 1
    x = shaped(x, lines, rows, row) if is_flat else x
    first = 1 if request.attributes.get("exclusive") else 0
    sums = product(x, np.triu(np.ones((row, row)), first))
    if rows > 1:
        totals = shaped(product(x, np.ones((row, 1))), lines, 1, rows)
        before = product(totals, np.triu(np.ones((rows, rows)), 1))
        sums = w.node("Add", [sums, shaped(before, lines, rows, 1)], _FLOAT)
    sums = shaped(sums, *shape) if is_flat else sums
    return w.node("Cast", [sums], dtype, to=dtype.value)


def _rows(size: int) -> int:
    """Return into how many rows a line is cut so that the triangles are small."""
    require(0 < size <= _LONGEST)
    if size * size <= _TRIANGLE:
        return 1
    cuts = [r for r in range(1, size + 1) if size % r == 0]
    best = min(cuts, key=lambda r: r * r + (size // r) ** 2)
    require(best * best + (size // best) ** 2 <= _TRIANGLES)
    return best


def _largest_sum(request: Request) -> int:
    """Return how large a sum can be."""
    low, high = required(bounds(request.known[0], request))
    shape, axis = request.shape(0), request.numbers(1)
    require(shape)
    return max(abs(low), abs(high)) * shape[axis[0] % len(shape)]


def remainder(request: Request) -> ir.Value:
    """Subtract a multiple of the divisor, which is positive; then add it to what is negative."""
    dtype, w = request.kind, request.writer
    number, divisor = bounds(request.known[0], request), required(bounds(request.known[1], request))
    require(dtype in _INTEGERS and divisor[0] >= (0 if number else 1))
    require(not request.attributes.get("fmod"), 2 * divisor[1] <= np.iinfo(dtype.numpy()).max)
    low, high = (-math.inf, math.inf) if number is None else number
    constant = None if request.known[0] is None else request.known[0].constant
    is_one = constant is not None and constant.size <= 1 and bool((constant == 1).all())
    fused = constant if is_one else None
    a, b = request.input(0), request.input(1)
    inner = replace(request, of_any_sign=True)
    is_within = _is_index(request) or (-divisor[0] <= low and high < divisor[0])
    outer = replace(request, known=[request.result, request.known[1]])
    takes_c = request.takes("Add") and not any(outer.use.objections(w.target))
    if low < 0 and not is_within and takes_c and divisor[0] > 0:
        return w.node("Mod", [w.node("Add", [w.as_it_is(inner), b], dtype), b], dtype)
    needed = [] if low >= 0 else ["Add", "Less", "Where"]
    if not is_within or (low >= 0 and _is_broadcast(request)):
        needed += ["Div", "Mul", "Sub" if fused is None else "Add"]
    require(low >= 0 or divisor[0] >= 1, *map(request.takes, needed))
    left = a
    if "Div" in needed:
        # ONNX Runtime makes b / b of (1 / b) * b.
        over, sign = (a, "Sub") if fused is None else (w.constant(-fused, dtype), "Add")
        below = w.node("Mul", [w.node("Div", [over, b], dtype), b], dtype)
        left = w.node(sign, [a, below], dtype)
    if low >= 0:
        return left
    zero = w.constant(np.zeros((), dtype.numpy()), dtype)
    is_negative = w.node("Less", [left, zero], ir.DataType.BOOL)
    return w.node("Where", [is_negative, w.node("Add", [left, b], dtype), left], dtype)


def _is_index(request: Request) -> bool:
    """Return whether the first input holds indices of an axis that is as long as the divisor."""
    number, divisor = request.known
    if number is None or number.index_map is None or divisor is None:
        return False
    atom, size = number.index_map.symbol, divisor.scalar
    origin = None if atom is None else atom.origin
    return isinstance(origin, IndexOf) and size in (origin.size, maximum(origin.size, 1))


def _is_broadcast(request: Request) -> bool:
    """Return whether the result may have another shape than the first input."""
    known = request.known[0]
    return known is None or known.shape is None or known.shape != request.result.shape


def negative(request: Request) -> ir.Value:
    """Subtract an integer from 0."""
    dtype, w = request.kind, request.writer
    require(dtype in _INTEGERS, request.takes("Sub"))
    return w.node("Sub", [w.constant(np.zeros((), dtype.numpy()), dtype), request.inputs[0]], dtype)


_BOOL = ir.DataType.BOOL
_NUMBERS = (ir.DataType.INT32, ir.DataType.FLOAT)
_SWAPPED = {"Greater": "Less", "Less": "Greater"}
_ON_NUMBERS = {"And": "Mul", "Or": "Max"}


def not_(request: Request) -> ir.Value:
    """Compare with False, or take the number from 1."""
    w = request.writer
    if request.takes("Equal", _BOOL):
        no = w.constant(np.array(False), _BOOL)
        return w.node("Equal", [request.input(0), no], _BOOL)
    kind = _numbers(request, "Sub")
    one = w.constant(np.ones((), kind.numpy()), kind)
    return w.cast(w.node("Sub", [one, request.cast(0, kind)], kind), kind, _BOOL)


def on_numbers(request: Request) -> ir.Value:
    """Multiply for And, and take the larger one for Or."""
    op = _ON_NUMBERS[request.op]
    kind, w = _numbers(request, op), request.writer
    numbers = [request.cast(i, kind) for i in range(len(request.inputs))]
    return w.cast(w.node(op, numbers, kind), kind, _BOOL)


def _numbers(request: Request, op: str) -> ir.DataType:
    """Return an element type that the target takes for an operator, and casts from and to bools."""
    for kind in _NUMBERS:
        taken = request.takes(op, kind) and request.takes("Cast", kind)
        if taken and request.takes("Cast", _BOOL) and request.runs(op, kind):
            return kind
    raise NotKnownError


def swapped(request: Request) -> ir.Value:
    """Swap the operands of a comparison."""
    other = _SWAPPED[request.op]
    require(request.takes(other, request.known_of(0).dtype))
    return request.writer.node(other, [request.inputs[1], request.inputs[0]], _BOOL)


def is_nan(request: Request) -> ir.Value:
    """Find the elements that do not equal themselves."""
    dtype, w, x = required(request.known_of(0).dtype), request.writer, request.input(0)
    require(request.takes("Equal", dtype), request.runs("Equal", dtype))
    return w.node("Not", [w.node("Equal", [x, x], _BOOL)], _BOOL)
