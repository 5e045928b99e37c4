"""Rows at computed positions of what the run computes, for a target that gathers from constants.

    Gather(x, i, axis=a)   =   GridSample(image of x, grid of the floats of i, mode="nearest")

The image has a channel for each element of a row, and a pixel for each position of the axis. Holds
for floats. All sizes must be known, and no index may be negative.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from onnx_scatterx.engine.analysis import require
from onnx_scatterx.engine.write.forms.numbers import floats_of
from onnx_scatterx.engine.write.forms.request import Request, lies

_FLOAT = ir.DataType.FLOAT


def sampled(request: Request) -> ir.Value:
    """Read rows by a GridSample of the nearest pixel."""
    w, shape, at = request.writer, request.shape(0), request.shape(1)
    require(request.kind == _FLOAT, request.takes("GridSample"), w.has("GridSample"), shape)
    axis, count = request.axis(len(shape)), math.prod(at)
    require(
        0 not in (*shape, count),
        shape[axis] <= w.most_rows,
        request.constant(request.inputs[0]) is None,
    )
    require(
        w.target.has("Gather", of_constant=True), lies(request.known_of(1), 0, math.inf, request)
    )
    others = [d for d in range(len(shape)) if d != axis]
    columns = math.prod(shape[d] for d in others)
    x = w.transpose(request.input(0), _FLOAT, [*others, axis])
    image = request.reshape(x, [1, columns, shape[axis], 1])
    rows = request.reshape(floats_of(request, request.input(1)), [1, count, 1, 1])
    y = w.sampled_rows(image, w.concat([rows, rows], _FLOAT, 3), shape[axis])
    y = request.reshape(y, [*(shape[d] for d in others), *at])
    rank, behind = len(others), len(others) - axis
    places = range(rank, rank + len(at))
    return w.transpose(y, _FLOAT, [*range(axis), *places, *range(axis, axis + behind)])
