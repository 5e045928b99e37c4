"""Sums, remainders, signs of integers and operators on bools by other operators.

CumSum<exclusive=1>(x)   =   CumSum(x) - x
CumSum(x)                =   x @ U,  U[i, j] = 1 where i <= j       along the last axis
                         =   r @ U + CumSum<exclusive=1>(sums of the rows)      r = Reshape(x, rows)
Mod(a, b)                =   r                                      if a is not negative, and b > 0
                         =   Where(r < 0, r + b, r)                 else, if b > 0
                             r = a - Div(a, b) * b, which Div rounds towards 0
                             r = 1 + Div(-1, b) * b                 if a is 1
                             r = a                                  if -b <= a < b
                         =   Mod(Mod(a, b) + b, b)                  with the remainder of C

Abs(a)          =   Where(a < 0, 0 - a, a)                          of integers
Sign(a)         =   Where(a < 0, -1, Where(0 < a, 1, 0))            of integers
Not(a)          =   Equal(a, False)
And(a, b)       =   Mul, and Or(a, b) = Max or Add, of the numbers 0 and 1
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, require, required
from onnx_scatterx.engine.terms import maximum
from onnx_scatterx.engine.write.abstract_values import IndexOf
from onnx_scatterx.engine.write.forms.casts import EXACT
from onnx_scatterx.engine.write.forms.request import Request, bounds

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer

_INTEGERS = (ir.DataType.INT64, ir.DataType.INT32)
_FLOAT = ir.DataType.FLOAT
_WIDEST = 1 << 8  # rows of a triangle, which has 256 KiB at most
_ZEROS = 1 << 20  # elements of a constant of zeros


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
    """Multiply by triangles of ones, if all sums are exact as floats."""
    dtype, w = request.kind, request.writer
    shape, axis = request.shape(0), request.numbers(1)
    require(dtype in _INTEGERS and shape and _largest_sum(request) <= EXACT)
    require(axis[0] % len(shape) == len(shape) - 1, not request.attributes.get("reverse"))
    require(0 not in shape, shape[-1] <= EXACT)
    require(*(request.takes(op, _FLOAT) for op in ("Cast", "MatMul", "Reshape", "Add")))
    is_padded, size = False, shape[-1]
    while size > 1:
        row = _row(size)
        is_padded, size = is_padded or size % row > 0, -(-size // row)
    if is_padded:
        require(*(request.takes(op, _FLOAT) for op in ("Concat", "Slice")))
        require(math.prod(shape[:-1]) * _WIDEST <= _ZEROS)
    first = 1 if request.attributes.get("exclusive") else 0
    sums = _sums_of(w, request.cast(0, _FLOAT), shape, first)
    return w.node("Cast", [sums], dtype, to=dtype.value)


def _sums_of(w: Writer, x: ir.Value, shape: tuple[int, ...], first: int) -> ir.Value:
    """Write the sums of floats along the last axis; ``first`` is 1 if they are exclusive.

    A long line is cut into rows, the last one with zeros behind. A sum is the sum within its row
    plus the sum of all rows before, which are a shorter line.
    """
    lines, size, row = math.prod(shape[:-1]), shape[-1], _row(shape[-1])
    rows = -(-size // row)
    zeros = rows * row - size

    def times(x: ir.Value, by: np.ndarray) -> ir.Value:
        return w.node("MatMul", [x, w.constant(by.astype(np.float32), _FLOAT)], _FLOAT)

    def shaped(x: ir.Value, *sizes: int) -> ir.Value:
        return w.node("Reshape", [x, w.constant(list(sizes))], _FLOAT)

    if zeros:
        behind = np.zeros((*shape[:-1], zeros), np.float32)
        x = w.concat([x, w.constant(behind, _FLOAT)], _FLOAT, len(shape) - 1)
    is_flat = rows > 1 or len(shape) == 1
    x = shaped(x, lines, rows, row) if is_flat else x
    sums = times(x, np.triu(np.ones((row, row)), first))
    if rows > 1:
        totals = shaped(times(x, np.ones((row, 1))), lines, 1, rows)
        before = _sums_of(w, totals, (lines, 1, rows), 1)
        sums = w.node("Add", [sums, shaped(before, lines, rows, 1)], _FLOAT)
    sums = shaped(sums, *shape[:-1], rows * row) if is_flat else sums
    if zeros:
        sums = w.slice(sums, _FLOAT, [len(shape) - 1], [0], [size], [1])
    return sums


def _row(size: int) -> int:
    """Return how long the rows of a line are, so that the triangles are small.

    Rows that divide the line need no zeros behind.
    """
    if size <= _WIDEST:
        return size
    exact = [
        row
        for row in range(1, _WIDEST + 1)
        if size % row == 0 and (size // row <= _WIDEST or 2 * row > _WIDEST)
    ]
    most = min(math.isqrt(size - 1) + 1, _WIDEST)
    return min(exact, key=lambda row: row * row + (size // row) ** 2, default=most)


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


def absolute(request: Request) -> ir.Value:
    """Subtract an integer from 0 if it is negative: the least one stays as it is, in Abs, too."""
    dtype, w, x = request.kind, request.writer, request.input(0)
    require(dtype in _INTEGERS)
    zero = w.constant(np.zeros((), dtype.numpy()), dtype)
    below = w.node("Less", [x, zero], _BOOL)
    return w.node("Where", [below, w.node("Sub", [zero, x], dtype), x], dtype)


def sign(request: Request) -> ir.Value:
    """Choose among -1, 0 and 1."""
    dtype, w, x = request.kind, request.writer, request.input(0)
    require(dtype in _INTEGERS)
    below, zero, above = (w.constant(np.array(n, dtype.numpy()), dtype) for n in (-1, 0, 1))
    y = w.node("Where", [w.node("Less", [zero, x], _BOOL), above, zero], dtype)
    return w.node("Where", [w.node("Less", [x, zero], _BOOL), below, y], dtype)


_BOOL = ir.DataType.BOOL
_NUMBERS = (ir.DataType.INT32, ir.DataType.FLOAT)
_ON_NUMBERS = {"And": ("Mul",), "Or": ("Max", "Add")}


def not_(request: Request) -> ir.Value:
    """Compare with False, or take the number from 1."""
    w = request.writer
    if request.takes("Equal", _BOOL):
        no = w.constant(np.array(False), _BOOL)
        return w.node("Equal", [request.input(0), no], _BOOL)
    _, kind = _on_numbers(request, "Sub")
    one = w.constant(np.ones((), kind.numpy()), kind)
    return w.cast(w.node("Sub", [one, request.cast(0, kind)], kind), kind, _BOOL)


def on_numbers(request: Request) -> ir.Value:
    """Multiply for And; for Or take the larger one, or add: a Cast makes true of 2."""
    w, (op, kind) = request.writer, _on_numbers(request, *_ON_NUMBERS[request.op])
    numbers = [request.cast(i, kind) for i in range(len(request.inputs))]
    return w.cast(w.node(op, numbers, kind), kind, _BOOL)


def _on_numbers(request: Request, *ops: str) -> tuple[str, ir.DataType]:
    """Return the first operator and type that the target takes, if it casts from and to bools."""
    for op, kind in product(ops, _NUMBERS):
        taken = request.takes(op, kind) and request.takes("Cast", kind)
        if taken and request.takes("Cast", _BOOL) and request.runs(op, kind):
            return op, kind
    raise NotKnownError
