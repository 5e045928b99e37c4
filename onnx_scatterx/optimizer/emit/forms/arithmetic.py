"""Sums, remainders, comparisons and operators on bools by other operators.

CumSum<exclusive=1>(x)   =   CumSum(x) - x
CumSum(x)                =   x @ U,  U[i, j] = 1 where i <= j       along the last axis
Mod(a, b)                =   r                                      if a is not negative, and b > 0
                         =   Where(r < 0, r + b, r)                 else, if b > 0
                             r = a - Div(a, b) * b, which Div rounds towards 0
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

from onnx_scatterx.optimizer.analysis.domain.tensor import IndexOf
from onnx_scatterx.optimizer.emit.forms.casts import bounds
from onnx_scatterx.optimizer.emit.forms.request import Request
from onnx_scatterx.optimizer.symbolic.terms import maximum, symbol_of

_INTEGERS = (ir.DataType.INT64, ir.DataType.INT32)
_FLOAT = ir.DataType.FLOAT
_EXACT = 1 << 24  # integers up to this are floats
_LONGEST = 1 << 14  # elements of a line whose sums are products
_TRIANGLES = 1 << 12  # elements of the triangles


def exclusive_sum(request: Request) -> ir.Value | None:
    """Subtract each element from its inclusive sum; int64 as int32, if no sum overflows that."""
    dtype, w, x = request.dtype, request.writer, request.input(0)
    if dtype not in _INTEGERS:
        return None  # of floats the sum rounds
    kind = dtype if request.takes("CumSum") else ir.DataType.INT32
    most = _largest_sum(request)
    if not request.takes("CumSum", kind) or not request.takes("Sub", kind):
        return None
    if kind != dtype and (most is None or most >= 1 << 31):
        return None
    if kind == dtype and not request.attributes.get("exclusive"):
        return None
    given = dict(request.attributes)
    exclusive = given.pop("exclusive", 0)
    narrow = x if kind == dtype else w.node("Cast", [x], kind, to=kind.value)
    sums = w.node("CumSum", [narrow, request.inputs[1]], kind, **given)
    if exclusive:
        sums = w.node("Sub", [sums, narrow], kind)
    return sums if kind == dtype else w.node("Cast", [sums], dtype, to=dtype.value)


def sum_by_product(request: Request) -> ir.Value | None:
    """Multiply by triangles of ones, if all sums are exact as floats.

    The line is cut into rows. A sum is the sum within its row plus the sum of all rows before.
    """
    dtype, w = request.dtype, request.writer
    shape, axis, most = request.shape(0), request.numbers(1), _largest_sum(request)
    if dtype not in _INTEGERS or not shape or axis is None or most is None or most > _EXACT:
        return None
    if axis[0] % len(shape) != len(shape) - 1 or request.attributes.get("reverse"):
        return None
    rows = _rows(shape[-1])
    if rows is None or 0 in shape:
        return None
    needed = [request.takes(op, _FLOAT) for op in ("Cast", "MatMul", "Reshape", "Add")]
    if not all(needed):
        return None
    lines, row = math.prod(shape[:-1]), shape[-1] // rows

    def product(x: ir.Value, by: np.ndarray) -> ir.Value:
        return w.node("MatMul", [x, w.constant(by.astype(np.float32), _FLOAT)], _FLOAT)

    def shaped(x: ir.Value, *sizes: int) -> ir.Value:
        return w.node("Reshape", [x, w.constant(list(sizes))], _FLOAT)

    x = w.node("Cast", [request.inputs[0]], _FLOAT, to=_FLOAT.value)
    x = shaped(x, lines, rows, row)
    first = 1 if request.attributes.get("exclusive") else 0
    sums = product(x, np.triu(np.ones((row, row)), first))
    if rows > 1:
        totals = shaped(product(x, np.ones((row, 1))), lines, 1, rows)
        before = product(totals, np.triu(np.ones((rows, rows)), 1))
        sums = w.node("Add", [sums, shaped(before, lines, rows, 1)], _FLOAT)
    return w.node("Cast", [shaped(sums, *shape)], dtype, to=dtype.value)


def _rows(size: int) -> int | None:
    """Return into how many rows a line is cut so that the triangles are small, or None."""
    if not 0 < size <= _LONGEST:
        return None
    cuts = [r for r in range(1, size + 1) if size % r == 0]
    best = min(cuts, key=lambda r: r * r + (size // r) ** 2)
    return best if best * best + (size // best) ** 2 <= _TRIANGLES else None


def _largest_sum(request: Request) -> int | None:
    """Return how large a sum can be, or None if that is not known."""
    found, shape, axis = bounds(request.known[0], request), request.shape(0), request.numbers(1)
    if found is None or not shape or axis is None:
        return None
    return max(abs(found[0]), abs(found[1])) * shape[axis[0] % len(shape)]


def remainder(request: Request) -> ir.Value | None:
    """Subtract a multiple of the divisor, which is positive; then add it to what is negative."""
    dtype, w = request.dtype, request.writer
    number, divisor = (bounds(t, request) for t in request.known)
    if dtype not in _INTEGERS or divisor is None or divisor[0] < (0 if number else 1):
        return None
    if request.attributes.get("fmod") or 2 * divisor[1] > np.iinfo(dtype.numpy()).max:
        return None
    low, high = (-math.inf, math.inf) if number is None else number
    a, b = request.inputs
    inner = replace(request, of_any_sign=True)
    is_within = _is_index(request) or (-divisor[0] <= low and high < divisor[0])
    outer = replace(request, known=[request.result, request.known[1]])
    takes_c = request.takes("Add") and not any(w.target.objections(outer.use))
    if low < 0 and not is_within and takes_c and divisor[0] > 0:
        return w.node("Mod", [w.node("Add", [w.as_it_is(inner), b], dtype), b], dtype)
    needed = [] if low >= 0 else ["Add", "Less", "Where"]
    if not is_within or (low >= 0 and _is_broadcast(request)):
        needed += ["Div", "Mul", "Sub"]
    if (low < 0 and divisor[0] < 1) or not all(map(request.takes, needed)):
        return None
    left = a
    if "Div" in needed:
        below = w.node("Mul", [w.node("Div", [a, b], dtype), b], dtype)
        left = w.node("Sub", [a, below], dtype)
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
    atom, size = symbol_of(number.index_map), divisor.scalar
    origin = None if atom is None else atom.origin
    return isinstance(origin, IndexOf) and size in (origin.size, maximum(origin.size, 1))


def _is_broadcast(request: Request) -> bool:
    """Return whether the result may have another shape than the first input."""
    known = request.known[0]
    return known is None or known.shape is None or known.shape != request.result.shape


def negative(request: Request) -> ir.Value | None:
    """Subtract an integer from 0."""
    dtype, w = request.dtype, request.writer
    if dtype not in _INTEGERS or not request.takes("Sub"):
        return None
    return w.node("Sub", [w.constant(np.zeros((), dtype.numpy()), dtype), request.inputs[0]], dtype)


_BOOL = ir.DataType.BOOL
_NUMBERS = (ir.DataType.INT32, ir.DataType.FLOAT)
_SWAPPED = {"Greater": "Less", "Less": "Greater"}


def not_(request: Request) -> ir.Value | None:
    """Compare with False, or take the number from 1."""
    w, x = request.writer, request.input(0)
    if request.takes("Equal", _BOOL):
        return w.node("Equal", [x, w.constant(np.array(False), _BOOL)], _BOOL)
    kind = _numbers(request, "Sub")
    if kind is None:
        return None
    one = w.constant(np.ones((), kind.numpy()), kind)
    number = w.node("Cast", [x], kind, to=kind.value)
    return w.node("Cast", [w.node("Sub", [one, number], kind)], _BOOL, to=_BOOL.value)


def and_(request: Request) -> ir.Value | None:
    """Multiply."""
    return _combined(request, "Mul")


def or_(request: Request) -> ir.Value | None:
    """Take the larger one."""
    return _combined(request, "Max")


def _combined(request: Request, op: str) -> ir.Value | None:
    kind = _numbers(request, op)
    if kind is None:
        return None
    w = request.writer
    numbers = [w.node("Cast", [v], kind, to=kind.value) for v in request.inputs]
    return w.node("Cast", [w.node(op, numbers, kind)], _BOOL, to=_BOOL.value)


def _numbers(request: Request, op: str) -> ir.DataType | None:
    """Return an element type that the target takes for an operator, and casts from and to bools."""
    for kind in _NUMBERS:
        taken = request.takes(op, kind) and request.takes("Cast", kind)
        if taken and request.takes("Cast", _BOOL) and request.writer.has_kernel(op, kind):
            return kind
    return None


def swapped(request: Request) -> ir.Value | None:
    """Swap the operands of a comparison."""
    other, known = _SWAPPED[request.op], request.known[0]
    if known is None or not request.takes(other, known.dtype):
        return None
    return request.writer.node(other, [request.inputs[1], request.inputs[0]], _BOOL)


def is_nan(request: Request) -> ir.Value | None:
    """Find the elements that do not equal themselves."""
    known = request.known[0]
    dtype = None if known is None else known.dtype
    if dtype is None or not request.takes("Equal", dtype):
        return None
    w, x = request.writer, request.input(0)
    if not w.has_kernel("Equal", dtype):
        return None
    return w.node("Not", [w.node("Equal", [x, x], _BOOL)], _BOOL)
