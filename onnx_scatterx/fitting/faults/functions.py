"""Functions of products, which a compiler computes by a coarse table, as functions of a maximum.

    apart_from_product    Tanh(Conv(x, w))   =   Tanh(Max(c, c)),   c = Conv(x, w)
                          the same for Sigmoid and Gelu, also for a Gelu that is made of an Erf;
                          behind a Conv, MatMul or Gemm, also with sums and products with
                          constants, moves and joins between; and behind a sum with a product of
                          matrices

The larger one of a number and itself is that number, NaN, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.device import TakenOut, pattern_of
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import is_operator
from onnx_scatterx.text import Refusal

_FUNCTIONS = ("Tanh", "Sigmoid", "Gelu")
_SCALES = ("Div", "Mul")  # in front of the Erf of a Gelu
OPERATORS = (*_FUNCTIONS, *_SCALES)
_OF_MATRICES = ("MatMul", "Gemm")
_PRODUCTS = (*_OF_MATRICES, "Conv", "ConvTranspose")
_SUMS = ("Add", "Sub", "Mul", "Div")
_MOVES = ("Reshape", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Concat")
_MOST = 4  # nodes between a product and a function
_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16)


def apart_from_product(at: Candidate) -> bool:
    """Put a maximum between a product and the functions of it."""
    w, node, _, constants, _ = at
    for x in dict.fromkeys(node.inputs):
        if x is None or w.dtype_of(x) not in _FLOATS:
            continue
        readers = _functions_of(x, at)
        if node not in readers or not _is_product(x, constants, _PRODUCTS, _MOST):
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


def _is_product(
    value: ir.Value | None, constants: TakenOut, products: Sequence[str], most: int
) -> bool:
    """Return whether a value is a product, perhaps moved, or scaled or shifted by constants."""
    node = None if value is None else value.producer()
    if node is None or most < 0:
        return False
    if is_operator(node, products):
        return True
    computed = [v for v in node.inputs if v is not None and not constants.is_constant(v)]
    if is_operator(node, _SUMS) and len(computed) > 1:
        products = _OF_MATRICES if node.op_type == "Add" else ()
    elif not is_operator(node, (*_SUMS, *_MOVES)):
        return False
    return any(_is_product(v, constants, products, most - 1) for v in computed)
