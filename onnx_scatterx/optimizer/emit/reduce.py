"""Combining two tensors element by element, as a scatter with a reduction combines them.

ONNX Runtime's scatters compute ``x > u ? x : u`` for ``max`` (``<`` for ``min``), which differs
from Max and Min if one operand is NaN or both are zeros. For int64 with equal upper halves, Max,
Min, ReduceMax and ReduceMin compare the lower halves as signed numbers, if they process several at
once (1.31, on a processor with AVX: ``Max([2**31, 0], 0)`` is 0). So they are used for sizes and
positions, not for data.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.kernels import has_kernel
from onnx_scatterx.optimizer.emit.select import select
from onnx_scatterx.optimizer.emit.writer import Writer
from onnx_scatterx.text.reasons import Reason, RefusedError

_BOOL = ir.DataType.BOOL


def reducers(writer: Writer, reduction: str, dtype: ir.DataType) -> tuple[str, ...]:
    """Return the operators that a reduction takes, none for "none", or refuse."""
    if reduction == "none":
        return ()
    if dtype == _BOOL:
        one = {"add": "Or", "mul": "And"}.get(reduction)
    else:
        one = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}.get(reduction)
        if reduction in ("max", "min") and not is_ordered(dtype):
            one = None
    if one is not None and has_kernel(one, writer.version, dtype):
        return (one,)
    compare = {"max": "Greater", "min": "Less"}.get(reduction)
    if compare is None or dtype == _BOOL:
        raise RefusedError(Reason.NO_KERNEL, f"{reduction} of {dtype.name.lower()}")
    return (compare, "Where")


def is_ordered(dtype: ir.DataType) -> bool:
    """Return whether Max, Min, ReduceMax and ReduceMin compare as a scatter does."""
    return dtype.is_integer() and dtype != ir.DataType.INT64


def reduced(
    writer: Writer, ops: tuple[str, ...], x: ir.Value, u: ir.Value, dtype: ir.DataType
) -> ir.Value:
    """Return updates ``u`` combined into ``x`` by the operators that ``reducers`` returned."""
    if not ops:
        return u
    if len(ops) == 1:
        return writer.node(ops[0], [x, u], dtype)
    takes_x = writer.node(ops[0], [x, u], _BOOL)
    return select(writer, takes_x, x, u, dtype)
