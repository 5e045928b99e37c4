"""NonZero of a tensor of one number, which lists all positions or none.

    NonZero(ConstantOfShape([n], 1))      =   Unsqueeze(Range(0, n, 1), 0)
    NonZero(ConstantOfShape([n, m], 1))   =   Concat(0, 0, ..., 1, 1, ...; 0, 1, ..., 0, 1, ...)
    NonZero(ConstantOfShape([n], 0))      =   an empty constant

NaN is not zero, and -0.0 is zero. Sizes need not be known: they are read from the tensor's shape. A
constant mask of any numbers is folded before.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.graphs import made_by

_INT64 = ir.DataType.INT64


def all_or_none(request: Request) -> ir.Value:
    """List all positions of a tensor of one number, or none, if the number is 0."""
    w, rank = request.writer, len(required(request.known_of(0).shape))
    require(rank, request.dtype == _INT64)
    if not _number(request):
        return w.constant(np.zeros((rank, 0), np.int64))
    sizes = _sizes(request, rank)
    if rank == 1:
        return w.axes("Unsqueeze", _line(request, sizes, 0, rank), _INT64, [0])
    rows = [_row(request, sizes, d, rank) for d in range(rank)]
    return w.node("Concat", rows, _INT64, axis=0)


def _number(request: Request) -> bool:
    """Return whether the number that all elements are is not 0."""
    known = request.known_of(0)
    if known.is_integer:
        if isinstance(known.content, Term):
            return bool(required(known.content.constant))
        numbers = required(known.constant)
        require(numbers.size, (numbers == numbers.flat[0]).all())
        return bool(numbers.flat[0])
    node, tensor = made_by(request.input(0), "ConstantOfShape"), None
    if node is not None:
        given = node.attributes.get("value")
        require(given is None or not given.is_ref())
        if given is None:
            return False
        tensor = given.as_tensor()
    elif (node := made_by(request.input(0), "Expand")) is not None:
        tensor = request.constant(node.inputs[0])
    array = required(tensor).numpy()
    require(array.size == 1)
    return bool(array.ravel()[0] != 0)


def _sizes(request: Request, rank: int) -> ir.Value:
    """Return the sizes of the tensor as a vector, not read from the tensor if that can be."""
    w, known = request.writer, request.known_of(0)
    if known.static_shape is not None:
        return w.constant(list(known.static_shape))
    node = made_by(request.input(0), "ConstantOfShape")
    if node is not None and node.inputs[0] is not None:
        return node.inputs[0]
    return w.node("Shape", [request.input(0)], _INT64)


def _line(request: Request, sizes: ir.Value, axis: int, rank: int) -> ir.Value:
    """Write the numbers from 0 up to a size."""
    w, known = request.writer, request.known_of(0).dims[axis].constant
    if known is not None:
        limit = w.constant(np.array(known))
    else:
        one = sizes if rank == 1 else w.slice(sizes, _INT64, [0], [axis], [axis + 1], [1])
        limit = w.axes("Squeeze", one, _INT64, [0])
    zero, step = (w.constant(np.array(n)) for n in (0, 1))
    return w.node("Range", [zero, limit, step], _INT64)


def _row(request: Request, sizes: ir.Value, axis: int, rank: int) -> ir.Value:
    """Write the positions along an axis of all elements, in order, as one row."""
    w, others = request.writer, [d for d in range(rank) if d != axis]
    line = w.axes("Unsqueeze", _line(request, sizes, axis, rank), _INT64, others)
    full = w.node("Expand", [line, sizes], _INT64)
    return w.node("Reshape", [full, w.constant([1, -1])], _INT64)
