"""Rotary embeddings, which a compiler makes one layer of that is wrong.

    turned_rotation    Add(x * c, Concat(Neg(b), a) * s)   =   Add(Concat(Neg(b), a) * s, x * c)

a and b are the halves of x. A sum does not depend on the order, and the compiler does not recognize
this one.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import made_by


def turned_rotation(at: Candidate) -> bool:
    """Put the product with the turned halves first."""
    node = at.node
    first, second = node.inputs
    straight, turned = made_by(first, "Mul"), made_by(second, "Mul")
    if straight is None or turned is None or not any(map(_is_turned, turned.inputs)):
        return False
    node.replace_input_with(0, second)
    node.replace_input_with(1, first)
    return True


def _is_turned(value: ir.Value | None) -> bool:
    """Return whether a tensor is joined of two, the first of which is negative."""
    joined = made_by(value, "Concat")
    if joined is None or len(joined.inputs) != 2:
        return False
    return made_by(joined.inputs[0], "Neg") is not None
