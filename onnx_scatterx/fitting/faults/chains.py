"""Two sums or products with constants, one behind the other, which a compiler makes one of.

    sum_for_difference    Sub(c, Sub(x, k))   =   Sub(c, Add(x, -k))
    apart_from_constant   Add(Add(x, a), c)   =   Add(Max(s, s), c),   s = Add(x, a)

The compiler writes ``x - (k + c)`` and then subtracts that from c, too. Of the other pairs it is
right, but it then compares the second node with ONNX Runtime as if nothing had been merged. If two
axes are equally long, it tries all orders of all axes, with operands that are repeated along them.
"""

from __future__ import annotations

from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant, is_operator, made_by

_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.DOUBLE)
_SIGNED = (*_FLOATS, ir.DataType.INT32, ir.DataType.INT64)
_PAIRS = (("Add", "Sub"), ("Mul", "Div"))


def sum_for_difference(at: Candidate) -> bool:
    """Add the negative of a constant, if the difference is subtracted from another constant."""
    w, node, scope, constants, _ = at
    inner = made_by(node.inputs[1], "Sub")
    if inner is None or len([*inner.outputs[0].uses()]) != 1 or inner.outputs[0].is_graph_output():
        return False
    x, subtracted = inner.inputs[0], constant(inner.inputs[1], scope.overridable)
    if x is None or node.inputs[0] is None or subtracted is None or constants.is_constant(x):
        return False
    kind = w.dtype_of(x)
    if kind not in _SIGNED or not constants.is_constant(node.inputs[0]):
        return False
    return at.replace(
        inner.outputs[0],
        lambda: w.node("Add", [x, w.constant(-subtracted.numpy(), kind)], kind),
    )


def apart_from_constant(at: Candidate) -> bool:
    """Put a maximum between two sums, or two products, with constants."""
    w, node, scope, constants, _ = at
    pair = next(pair for pair in _PAIRS if node.op_type in pair)
    for place, value in enumerate(node.inputs):
        first = None if value is None else value.producer()
        if value is None or first is None or len([*value.uses()]) != 1:
            continue
        long = [size for size in scope.of(value).static_shape or () if size > 1]
        kind = w.dtype_of(value)
        if (
            is_operator(first, pair)
            and len(set(long)) < len(long)
            and kind in _FLOATS
            and constants.is_constant(required(node.inputs[1 - place]))
            and [constants.is_constant(required(v)) for v in first.inputs].count(True) == 1
        ):
            return at.replace_input(node, place, partial(w.node, "Max", [value, value], kind))
    return False
