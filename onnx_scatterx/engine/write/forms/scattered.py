"""Scatters and gathers of elements as a target takes them.

    ScatterElements(x, i, u, axis=-2)   =   ScatterElements(x, i, u, axis=1)     of three axes
    ScatterElements(x, i, u)            =   Slice(ScatterElements(Concat(x, 0...), i, u), 0, n)
    ScatterElements(x, i, u)            =   ScatterND(x, Concat(Unsqueeze(i), [0, 1, ...]), u)

The first holds for every operator with an axis. The second is for a target that takes no more
indices than data along the axis. Its indices count from the start, so none of them names an element
that was added behind the n elements of x. The third is for a target that takes a reduction in
ScatterND only. Each update goes to a point: the index is one coordinate, the others are constants.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import MOST, Request
from onnx_scatterx.engine.write.forms.rows import counted_from_start


def counted_axis(request: Request) -> ir.Value:
    """Count the axis from the first one."""
    rank = required(request.known_of(0).rank)
    require(int(request.attributes.get("axis", 0)) < 0)
    attributes = {**request.attributes, "axis": request.axis(rank)}
    other = replace(request, attributes=attributes)
    require(not any(other.use.objections(request.writer.target)))
    return request.writer.spelled_node(request.op, request.inputs, request.dtype, **attributes)


def lengthened(request: Request) -> ir.Value:
    """Scatter into data with as many elements along the axis as indices, and cut them off."""
    shape, listed, w = request.shape(0), request.shape(1), request.writer
    axis = request.axis(len(shape))
    count, more = shape[axis], listed[axis] - shape[axis]
    require(more > 0, count, 0 not in shape, request.kind != ir.DataType.STRING)
    known, at = request.known_of(1), request.input(1)
    if request.use.may_be_negative:
        at = counted_from_start(w, at, known, np.array(count))
    rest = np.zeros([more if d == axis else n for d, n in enumerate(shape)], request.kind.numpy())
    data = request.join([request.input(0), w.constant(rest, request.dtype)], axis)
    inputs, attributes = [data, at, request.input(2)], {**request.attributes, "axis": axis}
    other = required(w.request(request.op, inputs, request.dtype, attributes))
    require(not any(other.use.objections(w.target)))
    whole = w.spelled_node(request.op, inputs, request.dtype, **attributes)
    return request.cut(whole, axis, 0, count)


def as_points(request: Request) -> ir.Value:
    """Write each update to a point of the data."""
    shape, listed, w = request.shape(0), request.shape(1), request.writer
    rank, int64 = len(shape), ir.DataType.INT64
    axis = request.axis(rank)
    require(rank == len(listed), 0 not in (*shape, *listed), math.prod(listed) * rank <= MOST)
    require(request.known_of(1).dtype == int64, request.takes("Unsqueeze"))
    places = np.moveaxis(np.indices(listed), 0, -1)
    column = w.axes("Unsqueeze", request.input(1), int64, [rank])
    around = (places[..., :axis], places[..., axis + 1 :])
    before, after = ([w.constant(part, int64)] if part.size else [] for part in around)
    require(rank == 1 or request.takes("Concat"))
    points = w.node("Concat", [*before, column, *after], int64, axis=rank) if rank > 1 else column
    inputs, attributes = [request.input(0), points, request.input(2)], dict(request.attributes)
    attributes.pop("axis", None)
    other = required(w.request("ScatterND", inputs, request.dtype, attributes))
    require(not any(other.use.objections(w.target)))
    return w.spelled_node("ScatterND", inputs, request.dtype, **attributes)
