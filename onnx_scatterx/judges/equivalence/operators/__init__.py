"""The operators, by family: each defines the elements of its output, and its requirements.

A function takes the node, its inputs (None for an absent one) and the world, and returns the
outputs. It raises UnsupportedError for a case that is not modelled.
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
