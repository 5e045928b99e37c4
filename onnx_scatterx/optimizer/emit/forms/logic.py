"""Operators on bools and comparisons by other operators.

Not(a)          =   Equal(a, False)
Greater(a, b)   =   Less(b, a)
IsNaN(a)        =   Not(Equal(a, a))
And(a, b)       =   Mul, and Or(a, b) = Max, of the numbers 0 and 1
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.emit.forms.request import Request

_BOOL = ir.DataType.BOOL
_NUMBERS = (ir.DataType.INT32, ir.DataType.FLOAT)
_SWAPPED = {"Greater": "Less", "Less": "Greater"}


def not_(request: Request) -> ir.Value | None:
    """Compare with False, or take the number from 1."""
    w, x = request.writer, request.input(0)
    if request.takes("Equal", _BOOL):
        return w.node("Equal", [x, w.constant(np.array(False), _BOOL)], _BOOL)
    kind = _numbers(request, "Sub")
    if kind is None:
        return None
    one = w.constant(np.ones((), kind.numpy()), kind)
    number = w.node("Cast", [x], kind, to=kind.value)
    return w.node("Cast", [w.node("Sub", [one, number], kind)], _BOOL, to=_BOOL.value)


def and_(request: Request) -> ir.Value | None:
    """Multiply."""
    return _combined(request, "Mul")


def or_(request: Request) -> ir.Value | None:
    """Take the larger one."""
    return _combined(request, "Max")


def _combined(request: Request, op: str) -> ir.Value | None:
    kind = _numbers(request, op)
    if kind is None:
        return None
    w = request.writer
    numbers = [w.node("Cast", [v], kind, to=kind.value) for v in request.inputs]
    return w.node("Cast", [w.node(op, numbers, kind)], _BOOL, to=_BOOL.value)


def _numbers(request: Request, op: str) -> ir.DataType | None:
    """Return an element type that the target takes for an operator, and casts from and to bools."""
    for kind in _NUMBERS:
        taken = request.takes(op, kind) and request.takes("Cast", kind)
        if taken and request.takes("Cast", _BOOL) and request.writer.has_kernel(op, kind):
            return kind
    return None


def swapped(request: Request) -> ir.Value | None:
    """Swap the operands of a comparison."""
    other, known = _SWAPPED[request.op], request.known[0]
    if known is None or not request.takes(other, known.dtype):
        return None
    return request.writer.node(other, [request.inputs[1], request.inputs[0]], _BOOL)


def is_nan(request: Request) -> ir.Value | None:
    """Find the elements that do not equal themselves."""
    known = request.known[0]
    dtype = None if known is None else known.dtype
    if dtype is None or not request.takes("Equal", dtype):
        return None
    w, x = request.writer, request.input(0)
    if not w.has_kernel("Equal", dtype):
        return None
    return w.node("Not", [w.node("Equal", [x, x], _BOOL)], _BOOL)
