"""Other forms of sums, means and norms. All sizes must be known, and none may be 0.

    ReduceSum(x[a, b, c], [1, 2])   =   Einsum("abc->a")(x)
    ReduceMean(x[a, b, c], [2])     =   Einsum("abc->ab")(x) / c
    ReduceL2(x[a, b, c], [1])       =   ReduceL2(Reshape(x, [a, b, 1, c]), [1, 2])
    ReduceL2(x, axes)               =   Sqrt(ReduceSumSquare(x, axes))  of float or double
    ReduceL2(x, axes)               =   Sqrt(ReduceSum(x * x, axes))    last bits differ

The last two are written for any sizes. MEASURED: ONNX Runtime computes the same bits with its
default options and without optimizations. Of other axes than the last ones, an Einsum adds in
another order, or the sum of nothing but -0 has another sign. The axis of one element stands beside
the one that is reduced, and no axis of one element is left out: ONNX Runtime then takes the same
kernel.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require
from onnx_scatterx.engine.write.forms.request import Request

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_EXACT = 1 << 24  # whole numbers up to here are floats


def by_einsum(request: Request) -> ir.Value:
    """Sum by an Einsum, and divide for a mean."""
    w, kind, shape = request.writer, request.kind, request.shape(0)
    require(kind == ir.DataType.FLOAT, 0 < len(shape) <= len(_LETTERS), 0 not in shape)
    axes = _axes(request, len(shape))
    require(axes == set(range(min(axes), len(shape))))
    require(request.takes("Einsum"), request.takes("Reshape"))
    letters = _LETTERS[: len(shape)]
    kept = "".join(letter for d, letter in enumerate(letters) if d not in axes)
    total = w.node("Einsum", [request.input(0)], kind, equation=f"{letters}->{kept}")
    if request.attributes.get("keepdims", 1):
        total = request.reshape(total, request.sizes)
    if request.op == "ReduceSum":
        return total
    count = math.prod(shape[d] for d in axes)
    require(count <= _EXACT)
    return w.node("Div", [total, w.constant(np.array(count, np.float32), kind)], kind)


def of_two_axes(request: Request) -> ir.Value:
    """Reduce an axis together with one of one element behind it."""
    w, op, shape = request.writer, request.op, request.shape(0)
    require(w.target.limits_of(op).axes_input == "several", 0 not in shape)
    axes = _axes(request, len(shape)) if shape else set()
    require(len(axes) == 1)
    (axis,) = axes
    before, behind = [*shape[:axis]], [*shape[axis + 1 :]]
    while len(before) + len(behind) + 2 > min(request.most_dims, request.largest_rank()):
        longer = behind if len(behind) > 1 else before
        require(len(longer) > 1)
        longer[-2:] = [math.prod(longer[-2:])]
    x = request.reshape(request.input(0), [*before, shape[axis], 1, *behind])
    two, keeps = [len(before), len(before) + 1], int(request.attributes.get("keepdims", 1))
    y = w.node(op, [x, w.constant(two)], request.kind, keepdims=keeps)
    is_whole = not keeps and [*before, *behind] == [*request.sizes]
    return y if is_whole else request.reshape(y, request.sizes)


def by_squares(request: Request) -> ir.Value:
    """Take the root of the sum of squares: ONNX Runtime adds them in the same order."""
    w, kind = request.writer, request.kind
    require(kind in (ir.DataType.FLOAT, ir.DataType.DOUBLE))
    require(not request.attributes.get("noop_with_empty_axes", 0))
    inputs = [request.input(0), *request.inputs[1:]]
    y = w.spelled_node("ReduceSumSquare", inputs, kind, **request.attributes)
    return w.node("Sqrt", [y], kind)


OF_SUMS = {
    "ReduceL1": ("Abs", ""),
    "ReduceL2": ("Mul", "Sqrt"),
    "ReduceLogSum": ("", "Log"),
    "ReduceSumSquare": ("Mul", ""),
}
"""What is done before and after the sum that stands for each."""


def by_sum(request: Request) -> ir.Value:
    """Reduce floats by a ReduceSum; last bits differ."""
    w, kind, x = request.writer, request.kind, request.input(0)
    require(
        w.last_bits, kind.is_floating_point(), w.target.limits_of(request.op).axes_input is not True
    )
    first, then = OF_SUMS[request.op]
    if first:
        x = w.node(first, [x] * (2 if first == "Mul" else 1), kind)
    y = w.node("ReduceSum", [x, *request.inputs[1:]], kind, **request.attributes)
    return w.node(then, [y], kind) if then else y


def _axes(request: Request, rank: int) -> set[int]:
    """Return the axes that are summed: all if none is named, unless the node then does nothing."""
    named = request.numbers(1) if request.has(1) else request.attributes.get("axes", ())
    require(named or not request.attributes.get("noop_with_empty_axes", 0))
    return {d % rank for d in named} or set(range(rank))
