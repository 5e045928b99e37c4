"""Choosing between two tensors element by element: Where, and for bools And and Or.

ONNX Runtime lacks a kernel for a Where of bools. Its Where of floats joins the two sides by "the
first that is not zero", so a selected zero may have the other sign.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.writer import Writer

_BOOL = ir.DataType.BOOL


def select(
    writer: Writer, condition: ir.Value, a: ir.Value, b: ir.Value, dtype: ir.DataType
) -> ir.Value:
    """Return ``a`` if the condition is true, else ``b``, broadcast against each other."""
    w = writer
    if dtype != _BOOL:
        return w.node("Where", [condition, a, b], dtype)
    no = w.node("Not", [condition], _BOOL)
    chosen = [w.node("And", pair, _BOOL) for pair in ([condition, a], [no, b])]
    return w.node("Or", chosen, _BOOL)
