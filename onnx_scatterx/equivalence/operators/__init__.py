"""The operators, by family: each says what an element of its output is, and what it needs to run.

A function takes the node, its inputs (None where there is none) and the world, and returns the
outputs. It raises UnsupportedError for what is not modelled.
"""

from __future__ import annotations

from onnx_scatterx.equivalence.operators import (
    casting,
    creation,
    elementwise,
    logical,
    movement,
    padding,
    reads,
    reductions,
    reshapes,
    scatters,
    slices,
)
from onnx_scatterx.equivalence.operators.registry import OPERATORS

FAMILIES = (
    casting,
    creation,
    elementwise,
    logical,
    movement,
    padding,
    reads,
    reductions,
    reshapes,
    scatters,
    slices,
)

__all__ = ["FAMILIES", "OPERATORS"]
