"""Rows at indices by operators that a target takes.

    Gather(x, [-1])                 =   Gather(x, [n - 1])
    Gather(x, i)                    =   Gather(x, Max(Where(i < 0, i + n, i), 0))
    Gather(x, [2, 3, 0])            =   Concat(x[2:4], x[0:1])
    GatherND(x, [[2], [3], [0]])    =   Gather(x, [2, 3, 0])
    GatherND(x, i)                  =   Gather(x, Squeeze(i, -1))           i of one column
    GatherND(x, positions[:, p].T)  =   Gather(Reshape(x), p)               positions of all rows
    GatherND(x, [[0, 1], [0, 2]])   =   Reshape(x[0:1, 1:3], [2])           i is a box, row by row
    Gather(x, i, axis=a)            =   GatherElements(x, Expand(i, shape of the result), axis=a)
    GatherElements(x, [[2], [2]])   =   x[0:2, 2:3]                         axis 1
    GatherElements(x, i, axis=a)    =   Gather(Reshape(x, [-1]), i * stride of a + offsets)
    GatherElements(x, [i, i])       =   Gather(Reshape(x, [2, -1]), i + offsets, axis=1)

They hold if the sizes are known numbers; the first two also for the other gathers and scatters.
That of a box holds if no row is empty: else GatherND checks no index.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, require, required
from onnx_scatterx.engine.terms import term
from onnx_scatterx.engine.write.forms.positions import positions_of
from onnx_scatterx.engine.write.forms.request import MOST, Request, bounds
from onnx_scatterx.graphs import attribute_of, is_operator, perm_of

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer

_INT64 = ir.DataType.INT64
_PARTS = 16  # slices that one Gather may become


def from_start(request: Request) -> ir.Value:
    """Count positions from the start, if the target takes no others."""
    shape, known, w = request.shape(0), request.known_of(1), request.writer
    require(not w.target.limits_of(request.op).negative, w.target.has(request.op), shape)
    require(known.dtype in (_INT64, ir.DataType.INT32), known.shape)
    if request.op in ("GatherND", "ScatterND"):
        first, columns = int(request.attributes.get("batch_dims", 0)), known.dims[-1].constant
        sizes = np.array(shape[first : first + required(columns)])
    else:
        sizes = np.array(shape[request.axis(len(shape))])
    at = counted_from_start(w, request.input(1), known, sizes)
    inputs = [request.inputs[0], at, *request.inputs[2:]]
    other = required(w.request(request.op, inputs, request.dtype, request.attributes))
    require(not any(other.use.objections(w.target)))
    return w.spelled_node(request.op, inputs, request.dtype, **request.attributes)


def counted_from_start(w: Writer, at: ir.Value, known: TensorValue, sizes: np.ndarray) -> ir.Value:
    """Write indices of axes of these sizes that count from the start, and are checked."""
    dtype = required(known.dtype)
    sizes = sizes.astype(dtype.numpy())
    if known.constant is not None:
        counted = np.where(known.constant < 0, known.constant + sizes, known.constant)
        return w.constant(counted, dtype)
    zero = w.constant(np.zeros((), sizes.dtype), dtype)
    end = w.node("Add", [at, w.constant(sizes, dtype)], dtype)
    at = w.node("Where", [w.node("Less", [at, zero], ir.DataType.BOOL), end, at], dtype)
    return w.node("Max", [at, zero], dtype)  # it is not negative: the node checks its indices


def gathered_slices(request: Request) -> ir.Value:
    """Take a few constant rows, one Slice for each run of them."""
    shape, indices = request.shape(0), _constant_indices(request)
    axis = request.axis(len(shape))
    return _slices(request, request.input(0), indices, axis, shape[axis])


def gathered_line(request: Request) -> ir.Value:
    """Take elements at constant indices that differ along the axis alone by Slices."""
    shape, indices = request.shape(0), _constant_indices(request)
    axis = request.axis(len(shape))
    require(indices.size)
    line = indices[tuple(slice(None) if d == axis else slice(1) for d in range(indices.ndim))]
    require((indices == line).all(), (-shape[axis] <= line).all(), (line < shape[axis]).all())
    x = request.input(0)
    for d, (part, whole) in enumerate(zip(indices.shape, shape, strict=True)):
        if d != axis and part != whole:
            require(request.takes("Slice"))
            x = request.cut(x, d, 0, part)
    return _slices(request, x, line.ravel(), axis, shape[axis])


def _constant_indices(request: Request) -> np.ndarray:
    """Return the indices of data that have an axis."""
    require(request.shape(0))
    return required(request.known_of(1).constant).astype(np.int64)


def listed_rows(request: Request) -> ir.Value:
    """Take the rows at computed indices of one column by a Gather."""
    dims, kind = required(request.known_of(1).shape), request.kind
    require(dims, dims[-1].constant == 1, not request.attributes.get("batch_dims", 0))
    require(0 not in request.shape(0)[1:], request.takes("Gather"), kind != ir.DataType.STRING)
    at = request.writer.axes("Squeeze", request.input(1), _INT64, [len(dims) - 1])
    return request.writer.node("Gather", [request.inputs[0], at], kind, axis=0)


def flat_rows(request: Request) -> ir.Value:
    """Take the rows at computed flat positions from data whose first axes are merged."""
    shape, columns = request.shape(0), required(required(request.known_of(1).shape)[-1].constant)
    node, is_turned = required(request.input(1).producer()), False
    while is_operator(node, ("Transpose", "Cast")):
        is_turned ^= node.op_type == "Transpose"
        require(node.op_type == "Cast" or perm_of(node, 2) == (1, 0))
        node = required(required(node.inputs[0]).producer())
    require(is_operator(node, ("Gather",)), attribute_of(node, "axis", 0) == int(is_turned))
    table = required(request.constant(node.inputs[0])).numpy()
    table, first = table if is_turned else table.T, shape[:columns]
    require(len(first) == columns, np.array_equal(table, positions_of(first)))
    require(not request.attributes.get("batch_dims", 0), request.takes("Gather"))
    x = request.reshape(request.input(0), [math.prod(first), *shape[columns:]])
    return request.writer.node("Gather", [x, node.inputs[1]], request.dtype, axis=0)


def gathered_rows(request: Request) -> ir.Value:
    """Take the rows at constant indices of one column by a Gather, or by Slices."""
    shape, indices, dtype = request.shape(0), _constant_indices(request), request.kind
    require(indices.ndim and indices.shape[-1] == 1, not request.attributes.get("batch_dims", 0))
    rows = np.where(indices < 0, indices + shape[0], indices)[..., 0]
    if not request.takes("Gather"):
        return _slices(request, request.input(0), rows, 0, shape[0])
    w = request.writer
    return w.node("Gather", [request.inputs[0], w.constant(rows, _INT64)], dtype, axis=0)


def gathered_box(request: Request) -> ir.Value:
    """Take a box at constant indices, which list it row by row, by a Slice and a Reshape."""
    shape, indices = request.shape(0), _constant_indices(request)
    require(indices.ndim, indices.size, not request.attributes.get("batch_dims", 0))
    columns = indices.shape[-1]
    sizes = np.array(shape[:columns])
    require(columns, 0 not in shape, (-sizes <= indices).all(), (indices < sizes).all())
    points = np.where(indices < 0, indices + sizes, indices).reshape(-1, columns)
    starts, ends = points[0], points[-1] + 1
    require((starts < ends).all(), math.prod(ends - starts) == len(points))
    box = np.indices(ends - starts).reshape(columns, -1).T + starts
    require((box == points).all(), request.kind, request.takes("Reshape"))
    x = request.input(0)
    for axis, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        if (start, end) != (0, shape[axis]):
            require(request.takes("Slice"))
            x = request.cut(x, axis, start, end)
    return request.reshape(x, request.sizes)


def _slices(request: Request, x: ir.Value, indices: np.ndarray, axis: int, size: int) -> ir.Value:
    """Write one Slice for each run of rows, if they are few; a scalar index removes its axis."""
    runs = _runs([int(i) + (size if i < 0 else 0) for i in indices.ravel().tolist()])
    require(0 < len(runs) <= _PARTS, indices.ndim <= 1, request.kind, 0 not in request.sizes)
    needed = ["Slice", *["Concat"] * (len(runs) > 1), *["Reshape"] * (indices.ndim == 0)]
    require(*map(request.takes, needed))
    parts = [request.cut(x, axis, start, end) for start, end in runs]
    whole = request.join(parts, axis)
    return whole if indices.ndim else request.reshape(whole, request.sizes)


def _runs(rows: list[int]) -> list[tuple[int, int]]:
    """Return the starts and ends of runs of consecutive rows."""
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and runs[-1][1] == row:
            runs[-1] = (runs[-1][0], row + 1)
        else:
            runs.append((row, row + 1))
    return runs


def elements_of_rows(request: Request) -> ir.Value:
    """Take rows element by element."""
    shape, at, w = request.shape(0), request.shape(1), request.writer
    require(len(at) == 1, request.kind, request.takes("GatherElements"))
    axis, dtype = request.axis(len(shape)), required(request.known_of(1).dtype)
    others = [d for d in range(len(shape)) if d != axis]
    i = w.axes("Unsqueeze", request.input(1), dtype, others)
    if any(shape[d] != 1 for d in others):
        i = w.node("Expand", [i, w.constant(list(request.sizes))], dtype)
    return w.node("GatherElements", [request.inputs[0], i], request.dtype, axis=axis)


def listed_elements(request: Request) -> ir.Value:
    """Take elements at constant indices from rows: those first axes, along which all are alike."""
    shape, dims, indices = request.shape(0), request.shape(1), _constant_indices(request)
    axis, w = request.axis(len(shape)), request.writer
    require(0 not in (*shape, *dims), request.takes("Gather"), request.kind != ir.DataType.STRING)
    indices = np.where(indices < 0, indices + shape[axis], indices)
    require((indices >= 0).all(), (indices < shape[axis]).all())
    first = 0
    while first < axis and shape[first] == dims[first] and (indices == indices[:1]).all():
        first, indices = first + 1, indices[0]
    strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    places = np.indices(indices.shape, sparse=True)
    at = sum(
        (indices if d == axis else places[d - first]) * strides[d] for d in range(first, len(shape))
    )
    at = np.broadcast_to(at, indices.shape).ravel()
    require(len(at) <= MOST, math.prod(shape[first:]) < 1 << 31)
    lead = [math.prod(shape[:first])] if first else []
    x = request.reshape(request.input(0), [*lead, math.prod(shape[first:])])
    x = w.node("Gather", [x, w.constant(at, _INT64)], request.dtype, axis=len(lead))
    return request.reshape(x, request.sizes)


def flat_elements(request: Request) -> ir.Value:
    """Take elements of a vector at row-major positions."""
    shape, dims, w = request.shape(0), request.shape(1), request.writer
    axis, size = request.axis(len(shape)), math.prod(shape)
    dtype, (low, _) = required(request.known_of(1).dtype), _index_range(request)
    require(0 not in (*shape, *dims), math.prod(dims) <= MOST, request.takes("Gather"))
    require(size < 1 << 31, request.kind != ir.DataType.STRING)
    at, strides = request.input(1), [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    if low < 0:
        at = w.node("Mod", [at, w.constant(np.full(1, shape[axis], dtype.numpy()), dtype)], dtype)
        w.note_index(at, term(shape[axis]), from_zero=True)
    if strides[axis] != 1:
        by = np.full(1, strides[axis], dtype.numpy())
        at = w.node("Mul", [at, w.constant(by, dtype)], dtype)
    rest = np.indices([1 if d == axis else n for d, n in enumerate(dims)], sparse=True)
    offsets = np.asarray(sum(n * s for n, s in zip(rest, strides, strict=True)))
    if offsets.any():
        at = w.node("Add", [at, w.constant(offsets.astype(dtype.numpy()), dtype)], dtype)
    w.note_index(at, term(size), from_zero=True)
    x = w.node("Reshape", [request.inputs[0], w.constant([size])], request.dtype)
    return w.node("Gather", [x, at], request.dtype, axis=0)


def _index_range(request: Request) -> tuple[int, int]:
    """Return the range of indices: the node checks that they lie on the axis."""
    size = request.shape(0)[request.axis(len(request.shape(0)))]
    low, high = bounds(request.known[1], request) or (-size, size - 1)
    return max(low, -size), high
