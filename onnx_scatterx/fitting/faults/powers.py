"""The square of a sine, which a compiler computes wrongly, as a product.

    square_of_sine    Pow(Sin(x), 2)   =   Mul(Sin(x), Sin(x))

ONNX Runtime computes a square as a product.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant, made_by


def square_of_sine(at: Candidate) -> bool:
    """Multiply a sine with itself."""
    w, node, scope, _, _ = at
    if made_by(node.inputs[0], "Sin") is None:
        return False
    sine, power = required(node.inputs[0]), constant(node.inputs[1], scope.overridable)
    if power is None or power.size != 1 or power.numpy().item() != 2:
        return False
    if scope.of(sine).dtype != ir.DataType.FLOAT or len(power.shape) > (scope.of(sine).rank or 0):
        return False
    return at.replace(node.outputs[0], lambda: w.node("Mul", [sine, sine], ir.DataType.FLOAT))
