"""Functions of a Conv, which a compiler computes by a coarse table, as functions of a maximum.

    apart_from_conv    Tanh(Conv(x, w))   =   Tanh(Max(c, c)),   c = Conv(x, w)
                       the same for Gelu, also for one that is made of an Erf; and for a
                       ConvTranspose, also with sums and products with constants, and moves between

The larger one of a number and itself is that number, NaN, too. The error of the table matters where
it reaches the output, as of audio, or the first layers; so the Sigmoids between the Convs of a
detector, and the Gelus of a transformer, stay as they are: a maximum for each would cost time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.device import TakenOut, pattern_of
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import is_operator
from onnx_scatterx.text import Refusal

_FUNCTIONS = ("Tanh", "Gelu")
_SCALES = ("Div", "Mul")  # in front of the Erf of a Gelu
OPERATORS = (*_FUNCTIONS, *_SCALES)
_CONVS = ("Conv", "ConvTranspose")
_SUMS = ("Add", "Sub", "Mul", "Div")
_MOVES = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity")
_MOST = 4  # nodes between a Conv and a function
_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16)


def apart_from_conv(at: Candidate) -> bool:
    """Put a maximum between a Conv and the functions of it."""
    w, node, _, constants, _ = at
    for x in dict.fromkeys(node.inputs):
        if x is None or w.dtype_of(x) not in _FLOATS:
            continue
        readers = _functions_of(x, at)
        if node not in readers or not _is_conv(x, constants, _MOST):
            continue
        with w.graph.at(node, x.name):
            nodes = w.fragment_of(partial(w.node, "Max", [x, x], w.dtype_of(x)))
            if isinstance(nodes, Refusal):
                return False
            apart = w.graph.commit(nodes).result
        for reader, place in [*x.uses()]:
            if reader in readers:
                reader.replace_input_with(place, apart)
        return True
    return False


def may_be_function(node: ir.Node) -> bool:
    """Return whether a node is a function, or may be a part of a Gelu that is made of an Erf."""
    if node.op_type in _FUNCTIONS:
        return True
    return any(_is_scale(reader) for x in node.inputs if x is not None for reader, _ in x.uses())


def _is_scale(node: ir.Node) -> bool:
    return is_operator(node, _SCALES) and any(
        is_operator(reader, ("Erf",)) for reader, _ in node.outputs[0].uses()
    )


def _functions_of(x: ir.Value, at: Candidate) -> Sequence[ir.Node]:
    """Return the functions that read a value; if an Erf makes one of them, all that read it."""
    readers = [reader for reader, _ in x.uses() if reader.graph is at.node.graph]
    for scale in filter(_is_scale, readers):
        erf = [reader for reader, _ in scale.outputs[0].uses()]
        if any(pattern_of(reader, at.scope.overridable) for reader in erf):
            return readers
    return [reader for reader in readers if is_operator(reader, _FUNCTIONS)]


def _is_conv(value: ir.Value | None, constants: TakenOut, most: int) -> bool:
    """Return whether a value is a Conv, perhaps moved, or scaled or shifted by constants."""
    node = None if value is None else value.producer()
    if node is None or most < 0:
        return False
    if is_operator(node, _CONVS):
        return True
    computed = [v for v in node.inputs if v is not None and not constants.is_constant(v)]
    if len(computed) != 1 or not is_operator(node, (*_SUMS, *_MOVES)):
        return False
    return _is_conv(computed[0], constants, most - 1)
