"""An operator on an element type that the target does not take for it, by way of another type.

    Pad(x: bool)        =   Cast(Pad(Cast(x, int32)), bool)
    Equal(a, b: int64)  =   Equal(Cast(a, int32), Cast(b, int32))

Holds for bools, and for integers if they and the result are known to fit into the other type.

    Cast(x: float, float)   =   x
    Cast(x: float, bool)    =   Not(Equal(Abs(x), 0))     NaN, too

Some compilers round the number first, or compare the bits of -0 with those of 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, require, required
from onnx_scatterx.engine.device import is_refused
from onnx_scatterx.engine.write.forms.request import Request, bounds
from onnx_scatterx.operators import EVERY, OPERATORS

_T = ir.DataType
_OTHERS = {
    _T.BOOL: (_T.INT32, _T.UINT8, _T.INT64, _T.FLOAT),
    _T.INT64: (_T.INT32, _T.FLOAT),
    _T.INT32: (_T.INT64, _T.FLOAT),
}
EXACT = 1 << 24  # integers up to this are floats


def not_cast(request: Request) -> ir.Value:
    """Read what a Cast reads, if this has the type already."""
    require(request.known_of(0).dtype == request.kind)
    return request.input(0)


def not_zero(request: Request) -> ir.Value:
    """Ask of floats whether they are zero."""
    w, kind = request.writer, required(request.known_of(0).dtype)
    require(request.kind == _T.BOOL, kind in (_T.FLOAT, _T.DOUBLE))
    size = w.node("Abs", [request.input(0)], kind)
    zero = w.constant(np.zeros((), kind.numpy()), kind)
    return w.node("Not", [w.node("Equal", [size, zero], _T.BOOL)], _T.BOOL)


def by_another_type(request: Request) -> ir.Value:
    """Cast the inputs to a type that the target takes, and the result back."""
    row, w = OPERATORS[request.op], request.writer
    require(row.widens)
    indices = row.moves or row.chooses or EVERY
    data = [t for i, t in enumerate(request.known) if i in indices and t is not None]
    dtype, compares = required(data[0].dtype), row.compares
    require(w.target.has(request.op), _is_refused_of(dtype, dtype, request))
    held = data if compares else [*data, request.result]
    kinds = (k for k in _OTHERS.get(dtype, ()) if _serves(k, dtype, held, request))
    kind = required(next(kinds, None))
    inputs = [
        v if v is None or i not in indices else _cast(v, kind, request)
        for i, v in enumerate(request.inputs)
    ]
    if compares:
        return w.spelled_node(request.op, inputs, _T.BOOL, **request.attributes)
    return w.cast(w.spelled_node(request.op, inputs, kind, **request.attributes), kind, dtype)


def _serves(kind: _T, dtype: _T, held: list[TensorValue], request: Request) -> bool:
    """Return whether the target takes a type, and every element fits into it."""
    taken = request.takes(request.op, kind) and request.takes("Cast", kind)
    if not taken or not request.takes("Cast", dtype):
        return False
    if not request.runs(request.op, kind):
        return False
    if _is_refused_of(kind, dtype, request):
        return False
    if dtype == _T.BOOL:
        return request.op not in ("Add", "Sub", "Mul", "Max", "Min")
    limit = EXACT if kind == _T.FLOAT else (1 << (kind.bitwidth - 1)) - 1
    ranges = [bounds(t, request) for t in held]
    return all(b is not None and -limit <= b[0] and b[1] <= limit for b in ranges)


def _is_refused_of(kind: _T, dtype: _T, request: Request) -> bool:
    """Return whether the target refuses the node because its element type is ``kind``."""
    limits, use = request.writer.target.limits_of(request.op), request.use
    if not limits.takes_type(kind):
        return True
    inputs = [None if t is None else _of_kind(t, kind, dtype) for t in use.inputs]
    outputs = [_of_kind(t, kind, dtype) for t in use.outputs]
    of_kind = replace(use, inputs=inputs, outputs=outputs)
    return any(r.types is not None and is_refused(of_kind, r) for r in limits.refused)


def _of_kind(tensor: TensorValue, kind: _T, dtype: _T) -> TensorValue:
    return replace(tensor, dtype=kind) if tensor.dtype == dtype else tensor


def _cast(value: ir.Value, kind: _T, request: Request) -> ir.Value:
    w, tensor = request.writer, request.constant(value)
    if tensor is not None:
        return w.constant(tensor.numpy().astype(kind.numpy()), kind)
    return w.node("Cast", [value], kind, to=kind.value)
