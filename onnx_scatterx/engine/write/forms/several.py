"""Operators of any number of operands, written with two at a time.

    Max(a, b, c)   =   Max(Max(a, b), c)                 and Min alike
    Sum(a, b, c)   =   Add(Add(a, b), c)
    Mean(a, b, c)  =   Mul(Add(Add(a, b), c), 1 / 3)
    Max(a)         =   a                                 and all others alike

MEASURED: ONNX Runtime adds and compares in this order too, and multiplies by the rounded 1 / n, so
the bits are the same with its default options and without optimizations.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import Request

_OF_TWO = {"Max": "Max", "Min": "Min", "Mean": "Add", "Sum": "Add"}


def two_at_a_time(request: Request) -> ir.Value:
    """Combine the first two operands, then the result with each that follows."""
    w, kind, op = request.writer, request.kind, _OF_TWO[request.op]
    first, *others = (required(value) for value in request.inputs)
    require(op != request.op or len(others) != 1)
    total = first
    for value in others:
        total = w.node(op, [total, value], kind)
    if request.op == "Mean" and others:
        require(kind == ir.DataType.FLOAT)  # ONNX Runtime computes a Mean of no other type
        share = np.float32(1) / np.float32(len(others) + 1)
        total = w.node("Mul", [total, w.constant(np.array(share), kind)], kind)
    return total
