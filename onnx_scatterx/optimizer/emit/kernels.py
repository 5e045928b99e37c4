"""The kernels of ONNX Runtime that written nodes need, and wider types where it has none.

The kernels were probed with ONNX Runtime 1.31 by loading models of one node. ONNX allows more, but
a node that only ONNX allows would not load, although the original did. Values of a type that ONNX
Runtime only casts are written in a wider one, and cast back where they are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.text.reasons import Reason, RefusedError

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.emit.writer import Writer

T = ir.DataType

_FLOATS = {T.FLOAT, T.DOUBLE, T.FLOAT16}
_WIDE = {T.INT32, T.INT64, T.UINT32, T.UINT64}
_NARROW = {T.INT8, T.UINT8, T.INT16, T.UINT16}
_ALL = _FLOATS | _WIDE | _NARROW | {T.BOOL, T.STRING}

_MOVES = {"Concat", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}

# operator: (from this version, element types), newest first
KERNELS: dict[str, tuple[tuple[int, set[ir.DataType]], ...]] = {
    **dict.fromkeys(_MOVES, ((13, _ALL | {T.BFLOAT16}), (9, _ALL))),
    **dict.fromkeys(("Add", "Mul"), ((14, _FLOATS | _WIDE | _NARROW), (9, _FLOATS | _WIDE))),
    **dict.fromkeys(("And", "Or", "Not"), ((9, {T.BOOL}),)),
    **dict.fromkeys(("Greater", "Less"), ((9, _FLOATS | _WIDE | _NARROW),)),
    "Equal": (
        (11, {T.INT32, T.INT64, T.BOOL, T.FLOAT, T.DOUBLE}),
        (9, {T.INT32, T.INT64, T.BOOL}),
    ),
    "IsNaN": ((13, {T.FLOAT, T.DOUBLE}), (9, {T.FLOAT})),
    "CumSum": ((11, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),),
    **dict.fromkeys(
        ("ReduceMax", "ReduceMin"),
        (
            (13, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64, T.INT8, T.UINT8}),
            (9, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),
        ),
    ),
    "Shape": ((9, set(T) - {T.INT2, T.UINT2, T.INT4, T.UINT4, T.FLOAT4E2M1}),),
    "Range": ((11, {T.FLOAT, T.DOUBLE, T.INT16, T.INT32, T.INT64}),),
    "Expand": ((9, _ALL),),
    # Gather of strings runs, but may return empty strings.
    "Gather": ((13, (_ALL | {T.BFLOAT16}) - {T.STRING}), (9, _ALL - {T.STRING})),
    "GatherElements": ((13, _ALL | {T.BFLOAT16}), (11, _ALL)),
    **dict.fromkeys(("Max", "Min"), ((12, _FLOATS | _WIDE | {T.INT8, T.UINT8}), (9, _FLOATS))),
    "Pad": (
        (13, _FLOATS | _WIDE | {T.INT8, T.UINT8, T.BOOL}),
        (11, _FLOATS | _WIDE | {T.INT8, T.UINT8}),
        (9, _FLOATS),
    ),
    "TopK": ((11, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),),
    "TensorScatter": ((24, (_ALL | {T.BFLOAT16}) - {T.STRING}),),
    "Where": ((9, _FLOATS | {T.INT32, T.INT64, T.UINT32, T.INT8, T.UINT8, T.STRING}),),
}

# The tests hold for each code: Cast to the wider type and back gives the same code.
WIDER = dict.fromkeys((T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2FNUZ), T.FLOAT)
WIDER |= {T.INT4: T.INT8, T.UINT4: T.UINT8}
_NOT_WIDER = {
    T.FLOAT8E5M2: ": Cast to a wider type and back changes the codes 7C to 7E and FC to FE",
    T.FLOAT4E2M1: ", and Cast to a wider type",
}


def lacking(op: str, dtype: ir.DataType) -> str:
    """Return what lacks a kernel, and why Cast does not help.

    >>> lacking("Concat", ir.DataType.FLOAT4E2M1)
    'Concat of float4e2m1, and Cast to a wider type'
    """
    return f"{op} of {dtype.name.lower()}{_NOT_WIDER.get(dtype, '')}"


def has_kernel(op: str, version: int, dtype: ir.DataType) -> bool:
    """Return whether an operator of an operator-set version runs on an element type.

    >>> has_kernel("Where", 18, ir.DataType.BOOL), has_kernel("Slice", 18, ir.DataType.BOOL)
    (False, True)
    """
    for since, dtypes in KERNELS.get(op, ()):
        if version >= since:
            return dtype in dtypes
    return False


def widened(w: Writer, value: ir.Value, dtype: ir.DataType) -> ir.Value:
    """Return a value of an element type in the wider one, and any other value as it is."""
    own = w.dtype_of(value)
    if own is None:
        raise RefusedError(Reason.UNKNOWN_TYPE)
    return value if own != dtype else w.cast(value, dtype, WIDER[dtype])


def sized(w: Writer, value: ir.Value) -> ir.Value:
    """Return a value whose shape ONNX Runtime reads; it removes a lone Cast before a Shape."""
    dtype = w.dtype_of(value)
    if dtype is None or has_kernel("Shape", w.version, dtype):
        return value
    if dtype not in WIDER:
        raise RefusedError(Reason.NO_KERNEL, lacking("Shape", dtype))
    return w.node("Abs", [widened(w, value, dtype)], WIDER[dtype])
