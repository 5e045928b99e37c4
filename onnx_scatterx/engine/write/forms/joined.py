"""Rows at indices some of which are constants, for a target that takes no such constants.

    Gather(W, Concat([2], i))              =   Concat(W[2], Gather(W, i))
    Gather(W, Pad(i, [1, 0], 2))           =   Concat(W[2], Gather(W, i))

A token in front of labels is such a constant. Holds for every axis, if the ranks are known.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.graphs import is_operator

_MOST = 1 << 16  # elements of the rows of one part


def joined_rows(request: Request) -> ir.Value:
    """Take the rows of each part of the indices, and join them."""
    at, rank = required(request.input(1).producer()), required(request.known_of(1).rank)
    parts, axis = _parts(request, at, rank)
    data = request.axis(len(request.shape(0)))
    return request.join([_rows(request, part, data) for part in parts], data + axis)


def _parts(request: Request, node: ir.Node, rank: int) -> tuple[list[ir.Value], int]:
    """Return the parts of which the indices are joined, and the axis."""
    w = request.writer
    if is_operator(node, ("Concat",)):
        values = [required(v) for v in node.inputs]
        known = [request.of(v) for v in values]
        require(all(k.rank == rank for k in known))  # of no elements, it may be another one
        return values, node.attributes["axis"].as_int() % rank
    require(is_operator(node, ("Pad",)), w.version >= 11, len(node.inputs) < 4)
    mode = node.attributes.get("mode")
    require(mode is None or mode.as_string() == "constant")
    x, fill = required(node.inputs[0]), node.inputs[2] if len(node.inputs) > 2 else None
    shape = required(request.of(x).static_shape)
    amounts = [int(n) for n in required(request.of(required(node.inputs[1])).constant)]
    axes = [d for d in range(rank) if amounts[d] or amounts[d + rank]]
    require(len(axes) == 1, min(amounts) >= 0)
    (axis,) = axes
    number = np.int64(0) if fill is None else required(request.of(fill).constant).reshape(())
    dtype = required(request.of(x).dtype)

    def block(count: int) -> list[ir.Value]:
        sizes = (*shape[:axis], count, *shape[axis + 1 :])
        require(np.prod(sizes) <= _MOST)
        return [w.constant(np.full(sizes, number, dtype.numpy()), dtype)] if count else []

    return [*block(amounts[axis]), x, *block(amounts[axis + rank])], axis


def _rows(request: Request, at: ir.Value, axis: int) -> ir.Value:
    """Return the rows of one part of the indices; a constant, if the data and the indices are."""
    w, table = request.writer, request.constant(request.inputs[0])
    indices = request.constant(at)
    if table is None or indices is None:
        return w.spelled_node("Gather", [request.input(0), at], request.dtype, **request.attributes)
    numbers, size = indices.numpy(), table.shape.numpy()[axis]
    require(((-size <= numbers) & (numbers < size)).all())
    require(numbers.size * table.size <= _MOST * max(size, 1))
    return w.constant(np.take(table.numpy(), numbers, axis), request.dtype)
