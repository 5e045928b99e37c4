"""A node whose result is known is a constant."""

from __future__ import annotations

import math

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.forms.request import Request

_MOST = 1 << 16  # elements of a constant that replaces a node


def folded(request: Request) -> ir.Value | None:
    """Write the result as a constant, if every element of it is known."""
    result = request.result
    if not result.is_integer or result.dtype is None or result.static_shape is None:
        return None
    if math.prod(result.static_shape) > _MOST or result.constant is None:
        return None
    return request.writer.constant(result.constant, result.dtype)
