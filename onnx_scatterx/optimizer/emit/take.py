"""Elements of a tensor along one axis, at positions for all rows or for each row."""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.emit.terms import TermEmitter

_INT64 = ir.DataType.INT64


def take(
    numbers: TermEmitter,
    x: ir.Value,
    rows: ir.Value,
    dtype: ir.DataType,
    axis: int,
    shape: Shape | None,
) -> ir.Value:
    """Return ``x[..., rows, ...]`` along an axis.

    If ``shape`` is None, ``rows`` is a vector. Else ``rows`` has positions for each element of the
    result, and broadcasts to the result's ``shape``.
    """
    w = numbers.writer
    if shape is None:
        return w.node("Gather", [x, rows], dtype, axis=axis)
    rows = w.node("Expand", [rows, numbers.shape(shape)], _INT64)
    return w.node("GatherElements", [x, rows], dtype, axis=axis)
