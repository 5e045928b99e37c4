"""The operators, by family: a function for each, which defines the elements of its outputs.

A function takes the node, its inputs (None if absent) and the world, which learns the requirements,
and returns the outputs. It raises UnsupportedError for a case that is not modelled.
"""

from onnx_scatterx.proof.operators import (  # noqa: F401 - they enter their operators
    casting,
    elementwise,
    gathers,
    movement,
    products,
    reductions,
    scatters,
    slicing,
)
from onnx_scatterx.proof.operators.products import BY_ROWS
from onnx_scatterx.proof.operators.registry import MOVING, OPERATORS, refused

__all__ = ["BY_ROWS", "MOVING", "OPERATORS", "refused"]
