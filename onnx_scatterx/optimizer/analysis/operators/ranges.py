"""Transfer function of Range: numbers at one distance from each other."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.graphs import made_by
from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.overflow import fits, magnitude
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.terms import Term, coord, floor_div, pos, term

_EXACT = 1 << 52  # ONNX Runtime divides the span of a Range in doubles: above, it may round
_PASSED = ("Squeeze", "Unsqueeze", "Identity", "Gather", "Slice", "Reshape")  # they keep it


def range_(call: Call) -> Result:
    start, limit, delta = (None if i is None else i for i in call.inputs)
    if start is None or limit is None or delta is None:
        return None
    numbers = (start.constant, limit.constant, delta.constant)
    if all(n is not None for n in numbers) and not start.is_integer and start.dtype is not None:
        a, b, d = (n.ravel()[0] for n in numbers if n is not None)
        with np.errstate(all="ignore"):  # some runtimes round the difference to the type, some not
            spans = float(b - a), float(b) - float(a)
            quotients = [np.float64(span) / np.float64(d) for span in spans]
        if start.dtype in (ir.DataType.FLOAT, ir.DataType.DOUBLE) and np.isfinite(quotients).all():
            counts = {max(0, math.ceil(q)) for q in quotients}
            if len(counts) == 1:
                return [TensorValue(start.dtype, (term(counts.pop()),))]
        return [TensorValue(start.dtype, call.unknown_shape(1))]
    first, last, stride = start.scalar, limit.scalar, delta.scalar
    if not start.is_integer or first is None or last is None or stride is None:
        return [TensorValue(start.dtype, call.unknown_shape(1))]
    by = stride.constant
    if not by:
        return [TensorValue(start.dtype, call.unknown_shape(1))]
    span = last - first if by > 0 else first - last
    if start.dtype is None or not (_is_exact(span, start.dtype, call) or _is_axis(span, call)):
        return [TensorValue(start.dtype, call.unknown_shape(1))]
    count_term = pos(floor_div(span + abs(by) - 1, abs(by)))
    return [TensorValue(start.dtype, (count_term,), first + by * coord(0))]


def _is_exact(span: Term, dtype: ir.DataType, call: Call) -> bool:
    """Return whether doubles and the type can represent a span."""
    return magnitude(span, call.facts) <= _EXACT and fits(span, dtype, call.facts)


def _is_axis(span: Term, call: Call) -> bool:
    """Return whether a span is the size of an axis that a Shape reads."""
    start, limit = call.inputs[0], call.node.inputs[1]
    if start is None or start.constant is None or start.constant.ravel()[0] or limit is None:
        return False
    while (node := made_by(limit, *_PASSED)) is not None and node.inputs[0] is not None:
        limit = node.inputs[0]
    return made_by(limit, "Shape") is not None and call.facts.is_nonnegative(span)
