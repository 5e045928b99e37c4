"""The positions of an axis, 0, 1, 2, ..., and the elements of a tensor at positions of an axis."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.tensor import Shape
from onnx_scatterx.optimizer.emit.terms import TermEmitter
from onnx_scatterx.optimizer.symbolic.terms import Term

_INT64 = ir.DataType.INT64
LISTED = 1 << 9  # positions of an axis that are listed, at most: a constant takes space


def iota(numbers: TermEmitter, size: Term) -> ir.Value:
    """Return the numbers from 0 up to a size as a vector of int64."""
    w = numbers.writer
    if size.constant is not None and size.constant <= LISTED:
        return w.constant(np.arange(size.constant))
    if size.constant is not None:
        limit = w.constant(np.array(size.constant))
    else:
        limit = w.axes("Squeeze", numbers.vector(size), _INT64, [0])
    zero, one = (w.constant(np.array(n)) for n in (0, 1))
    return w.node("Range", [zero, limit, one], _INT64)


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
