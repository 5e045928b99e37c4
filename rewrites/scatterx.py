"""A scatter that is kept becomes the native operator.

    before   y = ScatterND(x, indices, updates), or another scatter
    after    y = ScatterX(x, f, updates)    J = T(I) = p( f(p1(I)) ++ p2(I) )

Holds for every scatter whose element type and reduction the operator has. ``unique`` is proven.
Updates that collide are written in row-major order, as ONNX Runtime does on one thread.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Encoding,
    Plan,
    Reason,
    Refusal,
    Scatter,
    ScatterRule,
    refuse_unless,
)

RANK = 16  # the most that the operator takes
_NUMERIC = {
    ir.DataType[name]
    for name in (
        *("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "BOOL"),
        *(f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
    )
}
_MOVED = {
    ir.DataType[name]
    for name in (
        *("STRING", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"),
        *("UINT4", "INT4", "FLOAT4E2M1"),
    )
}
_REDUCTIONS = ("none", "add", "mul", "min", "max")


class ScatterXRule(ScatterRule):
    """Writes scatters as ScatterX nodes; ``add_fallbacks`` adds their functions."""

    writes_scatterx = True
    accepts_invalid = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        what = f"ScatterX of {scatter.dtype.name.lower()}, reduction {scatter.reduction}"
        refuse_unless(has_kernel(scatter.dtype, scatter.reduction), Reason.NO_KERNEL, what)
        few = max(len(scatter.data_shape), len(scatter.shape)) <= RANK
        refuse_unless(few, Reason.NO_KERNEL, f"ScatterX of more than {RANK} dims")
        encoding = Encoding.of(scatter, context.provenance, context.numbers)
        unique, w = context.is_unique(scatter), context.writer
        inputs = scatter.data, scatter.updates, scatter.dtype
        return Plan(lambda: encoding.write(w, *inputs, unique=unique), unique=unique)


def has_kernel(dtype: ir.DataType, reduction: str) -> bool:
    """Return whether the operator takes an element type under a reduction."""
    if dtype in _NUMERIC:
        return reduction in _REDUCTIONS
    return dtype in _MOVED and reduction == "none"


SCATTERX = ScatterXRule()
