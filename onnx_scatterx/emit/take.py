"""Elements of a tensor along one axis, at positions that all rows share or that each row has."""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.analysis.domain.tensor import Shape
from onnx_scatterx.emit.terms import TermEmitter

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

    If ``shape`` is None, ``rows`` is a vector. Else it broadcasts to ``shape``, which is that of
    the result, and holds positions for each of its elements.
    """
    w = numbers.writer
    if shape is None:
        return w.node("Gather", [x, rows], dtype, axis=axis)
    rows = w.node("Expand", [rows, numbers.shape(shape)], _INT64)
    return w.node("GatherElements", [x, rows], dtype, axis=axis)
