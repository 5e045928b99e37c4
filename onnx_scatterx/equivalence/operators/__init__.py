"""The operators, by family: each defines the elements of its output, and its requirements.

A function takes the node, its inputs (None for an absent one) and the world, and returns the
outputs. It raises UnsupportedError for a case that is not modelled.
"""

from __future__ import annotations

from onnx_scatterx.equivalence.operators import (
    casting,
    creation,
    elementwise,
    gathers,
    logical,
    movement,
    padding,
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
    gathers,
    reductions,
    reshapes,
    scatters,
    slices,
)

__all__ = ["FAMILIES", "OPERATORS"]
