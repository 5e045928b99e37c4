"""A norm with a bias that changes nothing, for a compiler that takes none without one.

    LayerNormalization(x, scale)   =   LayerNormalization(x, scale, -0)

A sum with -0 is the other number, also if that is 0 or -0.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require
from onnx_scatterx.engine.write.forms.request import Request


def with_bias(request: Request) -> ir.Value:
    """Write a LayerNormalization with a bias, which has the shape of its scale."""
    w, kind, shape = request.writer, request.kind, request.shape(1)
    require(kind in (ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16))
    require(not request.has(2))
    bias = w.constant(np.full(shape, -0.0, kind.numpy()), kind)
    inputs = [*request.inputs[:2], bias]
    return w.node(request.op, inputs, kind, **request.attributes)
