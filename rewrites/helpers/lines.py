"""The positions of one axis, shaped to be compared with indices."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.emit.along_axis import LISTED, iota
from onnx_scatterx.optimizer.lowering.rule import Context
from onnx_scatterx.optimizer.symbolic.terms import Term

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64


def hits(
    at: ir.Value,
    dtype: ir.DataType,
    size: Term,
    axis: int,
    rank: int,
    context: Context,
    *,
    signed: bool,
) -> ir.Value:
    """Write where indices are the positions of an axis of a tensor of this rank.

    ``at`` has an axis of extent 1 there. If they are ``signed``, an index may count from the end.
    """
    w = context.writer
    if dtype != _INT64 and not _is_listed(size):
        at, dtype = w.node("Cast", [at], _INT64, to=_INT64.value), _INT64  # a size may exceed int32
    lines = _lines(context, size, axis, rank, dtype, signed)
    found = [w.node("Equal", [at, line], _BOOL) for line in lines]
    return found[0] if len(found) == 1 else w.node("Or", found, _BOOL)


def _is_listed(size: Term) -> bool:
    return size.constant is not None and size.constant <= LISTED


def _lines(
    context: Context, size: Term, axis: int, rank: int, dtype: ir.DataType, signed: bool
) -> list[ir.Value]:
    """Return the positions of an axis, counted from the start and (signed) from the end."""
    w = context.writer
    others = [d for d in range(rank) if d != axis]
    if size.constant is not None and _is_listed(size):
        line = np.arange(size.constant).reshape([-1 if d == axis else 1 for d in range(rank)])
        lines = [line, line - size.constant] if signed else [line]
        return [w.constant(n.astype(dtype.numpy()), dtype) for n in lines]
    found = [iota(context.numbers, size)]
    if signed:
        found.append(w.node("Sub", [found[0], context.numbers.vector(size)], dtype))
    return [w.axes("Unsqueeze", value, dtype, others) for value in found]
