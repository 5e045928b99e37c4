"""Rotary embeddings, which a compiler makes one layer of that is wrong.

    turned_rotation    Add(x * c, Concat(Neg(b), a) * s)   =   Add(Concat(Neg(b), a) * s, x * c)

a and b are the halves of x. A sum does not depend on the order, and the compiler does not recognize
this one.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import is_operator


def turned_rotation(at: Candidate) -> bool:
    """Put the product with the turned halves first."""
    node = at.node
    if not is_operator(node, ("Add",)) or len(node.inputs) != 2:
        return False
    first, second = node.inputs
    straight, turned = _product(first), _product(second)
    if straight is None or turned is None or not any(map(_is_turned, turned.inputs)):
        return False
    node.replace_input_with(0, second)
    node.replace_input_with(1, first)
    return True


def _product(value: ir.Value | None) -> ir.Node | None:
    node = None if value is None else value.producer()
    return node if is_operator(node, ("Mul",)) else None


def _is_turned(value: ir.Value | None) -> bool:
    """Return whether a tensor is joined of two, the first of which is negative."""
    node = None if value is None else value.producer()
    if node is None or not is_operator(node, ("Concat",)) or len(node.inputs) != 2:
        return False
    half = node.inputs[0]
    return half is not None and is_operator(half.producer(), ("Neg",))
