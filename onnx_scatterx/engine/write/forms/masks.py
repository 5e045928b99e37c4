"""A Where by a constant mask without the mask, and one that changes nothing.

    Where([[1], [0], [1]], x, u)             =   Concat([x[0:1], u[1:2], x[2:3]], axis 0)
    Where(all true, x, u)                    =   x
    Where(Greater(x, 20), x, Softplus(x))    =   Softplus(x)

They hold if the sizes are known numbers, and if the mask differs along one axis at most. ONNX
Runtime's Where makes 0 of each -0, and these forms do not: only the sign of a zero differs.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.graphs import made_by

_LINEAR = 20  # above it, a Softplus is its operand
_PARTS = 16  # slices that one Where may become
_MOST = 1 << 16  # elements of a constant that is written out


def softplus(request: Request) -> ir.Value:
    """Write the Softplus alone that is the operand itself above a bound.

    It is ``x + log(1 + exp(-x))``, and ``exp(-x)`` is less than half a step of float at 1.
    """
    mask, x, other = (request.input(i) for i in range(3))
    greater, made = made_by(mask, "Greater", "GreaterOrEqual"), made_by(other, "Softplus")
    require(greater, made, request.kind == ir.DataType.FLOAT)
    bound = request.constant(required(greater).inputs[1])
    require(bound is not None and bound.size == 1, required(greater).inputs[0] is x)
    require(required(made).inputs[0] is x, required(bound).numpy().item() >= _LINEAR)
    require(len(required(bound).shape) <= required(request.known_of(1).rank))
    return other


def chosen(request: Request) -> ir.Value:
    """Write the operand that is chosen everywhere, or a Concat of parts of both operands."""
    result = request.sizes
    mask = np.broadcast_to(required(request.known_of(0).constant), result)
    require(mask.size)
    axes = [d for d in range(mask.ndim) if (mask != mask.take([0], d)).any()]
    require(len(axes) <= 1)
    if not axes:
        return _shaped(request, 1 if mask.flat[0] else 2, result)
    (axis,) = axes
    flags = np.moveaxis(mask, axis, 0).reshape(result[axis], -1)[:, 0]
    ends = [*(np.flatnonzero(flags[1:] != flags[:-1]) + 1), result[axis]]
    require(len(ends) <= _PARTS, *map(request.takes, ("Concat", "Slice")))
    starts = [0, *ends[:-1]]
    rows = [(int(start), int(end)) for start, end in zip(starts, ends, strict=True)]
    parts = [_rows(request, 1 if flags[start] else 2, axis, start, end) for start, end in rows]
    return request.join(parts, axis)


def _rows(request: Request, at: int, axis: int, start: int, end: int) -> ir.Value:
    """Return rows of an operand, in the other sizes of the result."""
    result, shape = request.sizes, request.shape(at)
    sizes = (*result[:axis], end - start, *result[axis + 1 :])
    own = axis - (len(result) - len(shape))
    if own < 0 or shape[own] == 1 or end - start == result[axis]:
        return _shaped(request, at, sizes)
    x, tensor = request.input(at), request.constant(request.inputs[at])
    if tensor is not None:
        array = tensor.numpy()[(*(slice(None),) * own, slice(start, end))]
        return _of_constant(request, array, sizes)
    rows = request.cut(x, own, start, end)
    part = (*shape[:own], end - start, *shape[own + 1 :])
    return rows if part == sizes else _expanded(request, rows, sizes)


def _shaped(request: Request, at: int, sizes: tuple[int, ...]) -> ir.Value:
    """Return an operand, in sizes to which it is broadcast."""
    x, tensor = request.input(at), request.constant(request.inputs[at])
    if request.shape(at) == sizes:
        return x
    return (
        _expanded(request, x, sizes)
        if tensor is None
        else _of_constant(request, tensor.numpy(), sizes)
    )


def _of_constant(request: Request, array: np.ndarray, sizes: tuple[int, ...]) -> ir.Value:
    require(math.prod(sizes) <= _MOST)
    whole = np.ascontiguousarray(np.broadcast_to(array, sizes))
    return request.writer.constant(whole, request.dtype)


def _expanded(request: Request, x: ir.Value, sizes: tuple[int, ...]) -> ir.Value:
    require(request.takes("Expand") or request.takes("Tile"))
    return request.writer.node("Expand", [x, request.writer.constant(list(sizes))], request.dtype)
