"""Why a write between DequantizeLinear and QuantizeLinear is kept on floats."""

from __future__ import annotations

import enum


class OnFloats(enum.Enum):
    """A reason for writing floats between integer inputs and outputs. The value is for users."""

    SCALES = "the scales or zero points differ"
    UNKNOWN_SCALE = "a scale is known only when the model runs"
    INEXACT = "QuantizeLinear may change an integer that DequantizeLinear gives"
    REDUCTION = "a reduction of integers is not that of floats"
    COMPUTED = "a part of it is computed in floats"
    READ = "other nodes read the floats"
    AXIS = "the scales of an axis do not stay with their elements"
    PLAN = "the scatter is removed from floats alone"
    REJECTED = "ONNX Runtime rejects a Slice or Transpose of floats that int8 stands for"
    MOVED = "ONNX Runtime moves QuantizeLinear past an output of the graph"

    @property
    def keeps_scatter(self) -> bool:
        """Whether ONNX Runtime would compute other values if the scatter were removed."""
        return self in (OnFloats.INEXACT, OnFloats.REJECTED, OnFloats.MOVED)
