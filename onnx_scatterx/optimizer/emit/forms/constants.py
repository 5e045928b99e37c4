"""A node whose result is known is a constant; a default that must be written is written."""

from __future__ import annotations

import math

import onnx.defs
import onnx.helper
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


def written(request: Request) -> ir.Value | None:
    """Write the defaults of attributes that the target wants to read."""
    op, w = request.op, request.writer
    missing = w.target.limits_of(op).written.difference(request.attributes)
    if not missing or not w.target.has(op):
        return None
    known = onnx.defs.get_schema(op, w.version, "").attributes
    given = {a: onnx.helper.get_attribute_value(known[a].default_value) for a in sorted(missing)}
    given = {a: v.decode() if isinstance(v, bytes) else v for a, v in given.items()}
    return w.node(op, request.inputs, request.dtype, **request.attributes, **given)
