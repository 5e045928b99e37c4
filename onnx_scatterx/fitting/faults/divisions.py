"""Integers divided by a power of two, which a compiler rounds down.

    many_divisors    Div(x, 4)   =   Div(x, [4, ..., 4])      of integers, rounded towards 0

The compiler shifts bits if there is one divisor. Many equal ones, along an axis that is there
anyway, give the same integers.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.fitting.faults.constants import many_equal
from onnx_scatterx.graphs import constant

_INTEGERS = (ir.DataType.INT64, ir.DataType.INT32)


def many_divisors(at: Candidate) -> bool:
    """Divide integers by many equal numbers, not by one."""
    w, node, scope, _, _ = at
    x, divisor = node.inputs[0], constant(node.inputs[1], scope.overridable)
    if x is None or divisor is None or divisor.size != 1 or scope.of(x).dtype not in _INTEGERS:
        return False
    number, shape = int(divisor.numpy().item()), scope.of(x).static_shape
    if number < 2 or number & (number - 1) or len(divisor.shape) > len(shape or ()):
        return False
    many = many_equal(divisor.numpy(), shape or ())
    if many is None:
        return False
    return at.replace_input(node, 1, lambda: w.constant(many, w.dtype_of(x)))


def is_of_integers(node: ir.Node) -> bool:
    """Return whether a node gives integers, as far as its type is declared."""
    return node.outputs[0].dtype in (None, *_INTEGERS)
