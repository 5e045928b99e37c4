"""Comparisons by other comparisons, or by a difference, if the target lacks the one.

Equal(a, b)     =   And(LessOrEqual(a, b), GreaterOrEqual(a, b))
                =   Not(Cast<bool>(a - b))            of integers; a difference wraps to no 0
                =   Not(Or(Less(a, b), Greater(a, b)))               of integers
Greater(a, b)   =   Less(b, a)
                =   Not(LessOrEqual(a, b))            of integers: of a NaN both are false
IsNaN(a)        =   Not(Equal(a, a))
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from onnx_scatterx.engine.analysis import NotKnownError, require, required
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.operators import OPERATORS, those

_BOOL = ir.DataType.BOOL
_INTEGERS = (ir.DataType.INT64, ir.DataType.INT32)
_ORDERED = (*_INTEGERS, ir.DataType.FLOAT, ir.DataType.DOUBLE)
_SWAPPED = {">": "<", "<": ">", ">=": "<=", "<=": ">="}
_NEGATED = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


def _other(op: str, symbols: Mapping[str, str]) -> str:
    """Return the comparison that a comparison becomes."""
    symbol = symbols[OPERATORS[op].compares]
    return next(iter(those(lambda row: row.compares == symbol)))


def swapped(request: Request) -> ir.Value:
    """Swap the operands of a comparison."""
    other = _other(request.op, _SWAPPED)
    require(request.takes(other, request.known_of(0).dtype))
    return request.writer.node(other, [request.inputs[1], request.inputs[0]], _BOOL)


def negated(request: Request) -> ir.Value:
    """Negate the opposite comparison of integers."""
    w, opposite = request.writer, _other(request.op, _NEGATED)
    dtype, operands = _kind(request, _INTEGERS), list(request.inputs)
    for op, compared in ((opposite, operands), (_other(opposite, _SWAPPED), operands[::-1])):
        if request.takes(op, dtype) and w.has(op):
            return w.node("Not", [w.node(op, compared, _BOOL)], _BOOL)
    raise NotKnownError


def by_order(request: Request) -> ir.Value:
    """Compare by both orders: neither is less, or each is at most the other."""
    w, dtype, operands = request.writer, _kind(request, _ORDERED), list(request.inputs)
    both = ("LessOrEqual", "GreaterOrEqual")
    if any(request.takes(op, dtype) and w.has(op) for op in both):
        at_most = [_ordered(request, op, dtype) for op in both]
        return w.node("And", at_most, _BOOL)
    require(dtype in _INTEGERS)
    unlike = [w.node(op, operands, _BOOL) for op in ("Less", "Greater")]
    return w.node("Not", [w.node("Or", unlike, _BOOL)], _BOOL)


def _ordered(request: Request, op: str, dtype: ir.DataType) -> ir.Value:
    operands = list(request.inputs)
    if not request.takes(op, dtype):
        op, operands = _other(op, _SWAPPED), operands[::-1]
    return request.writer.node(op, operands, _BOOL)


def by_difference(request: Request) -> ir.Value:
    """Compare the difference of integers with 0."""
    w, dtype = request.writer, _kind(request, _INTEGERS)
    difference = w.node("Sub", list(request.inputs), dtype)
    return w.node("Not", [w.node("Cast", [difference], _BOOL, to=_BOOL.value)], _BOOL)


def is_nan(request: Request) -> ir.Value:
    """Find the elements that do not equal themselves."""
    dtype, w, x = required(request.known_of(0).dtype), request.writer, request.input(0)
    for op in ("Equal", "LessOrEqual", "GreaterOrEqual"):
        if request.takes(op, dtype) and request.runs(op, dtype) and w.has(op):
            return w.node("Not", [w.node(op, [x, x], _BOOL)], _BOOL)
    raise NotKnownError


def _kind(request: Request, kinds: tuple[ir.DataType, ...]) -> ir.DataType:
    """Return the element type of both operands, if it is one of these."""
    dtypes = {request.known_of(i).dtype for i in (0, 1)}
    require(len(dtypes) == 1, dtypes <= set(kinds))
    return required(dtypes.pop())
