"""Values of a type that ONNX Runtime only casts are written in a wider one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.operators import WIDER, has_kernel, lacking
from onnx_scatterx.text import Reason, RefusedError

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer


def widened(w: Writer, value: ir.Value, own: ir.DataType | None, dtype: ir.DataType) -> ir.Value:
    """Return a value of an element type in the wider one, and any other value as it is.

    ``own`` is the element type of the value, if it is known.
    """
    if own is None:
        raise RefusedError(Reason.UNKNOWN_TYPE)
    return value if own != dtype else w.cast(value, dtype, WIDER[dtype])


def sized(w: Writer, value: ir.Value, dtype: ir.DataType | None) -> ir.Value:
    """Return a value whose shape ONNX Runtime reads; it removes a lone Cast before a Shape.

    ``dtype`` is the element type of the value, if it is known.
    """
    if dtype is None or has_kernel("Shape", w.version, dtype):
        return value
    if dtype not in WIDER:
        raise RefusedError(Reason.NO_KERNEL, lacking("Shape", dtype))
    return w.node("Abs", [widened(w, value, dtype, dtype)], WIDER[dtype])
