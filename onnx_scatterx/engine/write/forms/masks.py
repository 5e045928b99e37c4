"""A Where by a constant mask without the mask.

    Where([[1], [0], [1]], x, u)   =   Concat([x[0:1], u[1:2], x[2:3]], axis 0)
    Where(all true, x, u)          =   x

They hold if the sizes are known numbers, and if the mask differs along one axis at most. ONNX
Runtime's Where makes 0 of each -0, and these forms do not: only the sign of a zero differs.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import Request

_PARTS = 16  # slices that one Where may become
_MOST = 1 << 16  # elements of a constant that is written out


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
