"""Transfer functions of the operators that change the element type."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.overflow import fits
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.analysis.operators.elementwise import combine
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term, equals


def cast(call: Call) -> Result:
    x = call.inputs[0]
    if x is None:
        return None
    to = ir.DataType(call.integer("to", 0))
    return cast_to(x, to, call.facts)


def cast_to(x: TensorValue, to: ir.DataType, facts: Facts) -> Result:
    """Return a tensor in another element type."""
    if to == x.dtype:
        return [x]
    whole = (to.is_integer() and to.bitwidth >= 8) or to == ir.DataType.BOOL
    # Narrower floats: some runtimes round in one step, some in two.
    arithmetic = whole or to in (ir.DataType.FLOAT, ir.DataType.DOUBLE)
    known = x.constant
    if (
        known is not None
        and known.size <= LIMITS.folded
        and arithmetic
        and known.dtype.kind in "iufb"
    ):
        limits = np.iinfo(to.numpy()) if to.is_integer() else None
        if known.dtype.kind == "f" and limits is not None:
            # Out of range, a conversion from floats is not defined.
            wide = known.astype(np.float64)
            low = -1 if limits.min == 0 else -(2.0 ** (limits.bits - 2))
            if not ((wide > low) & (wide < 2.0 ** (limits.bits - 2))).all():
                return [TensorValue(to, x.shape)]
        return [TensorValue(to, x.shape, known.astype(to.numpy()))]
    if not x.is_integer or not whole:
        return [TensorValue(to, x.shape)]

    def convert(t: Term) -> Term | None:
        if to == ir.DataType.BOOL:
            return 1 - equals(t, 0) if x.dtype != ir.DataType.BOOL else t
        return t if fits(t, to, facts) else None

    return combine([x], to, lambda a: a, convert, facts)


def cast_like(call: Call) -> Result:
    x, like = call.inputs
    if x is None or like is None or like.dtype is None:
        return None
    return cast_to(x, like.dtype, call.facts)
