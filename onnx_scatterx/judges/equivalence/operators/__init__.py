"""The operators, by family: a function for each, which defines the elements of its outputs.

A function takes the node, its inputs (None for an absent input) and the world, and returns the
outputs. It tells the world the requirements of the node, and raises UnsupportedError for a case
that is not modelled.
"""

from onnx_scatterx.judges.equivalence.operators import (  # noqa: F401 - they enter their operators
    casting,
    elementwise,
    gathers,
    movement,
    reductions,
    scatters,
    slicing,
)
from onnx_scatterx.judges.equivalence.operators.registry import MOVING, OPERATORS, refused

__all__ = ["MOVING", "OPERATORS", "refused"]
