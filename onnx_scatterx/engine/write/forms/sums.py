"""Sums and means of floats over the last axes, by an Einsum of one operand.

    ReduceSum(x[a, b, c], [1, 2])   =   Einsum("abc->a")(x)
    ReduceMean(x[a, b, c], [2])     =   Einsum("abc->ab")(x) / c

MEASURED: ONNX Runtime computes the same bits with its default options and without optimizations. Of
other axes, it adds in another order, or the sum of nothing but -0 has another sign. Both forms hold
if all sizes are known numbers, none of which is 0.
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


def _axes(request: Request, rank: int) -> set[int]:
    """Return the axes that are summed: all if none is named, unless the node then does nothing."""
    named = request.numbers(1) if request.has(1) else request.attributes.get("axes", ())
    require(named or not request.attributes.get("noop_with_empty_axes", 0))
    return {d % rank for d in named} or set(range(rank))
