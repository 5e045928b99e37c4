"""Why a write between DequantizeLinear and QuantizeLinear is kept on floats."""

from __future__ import annotations

import enum


class FloatReason(enum.Enum):
    """A reason for writing floats between integer inputs and outputs. The value is for users."""

    SCALES = "the scales or zero points differ"
    UNKNOWN_SCALE = "a scale is known only when the model runs"
    INEXACT = "QuantizeLinear may change an integer that DequantizeLinear gives"
    REDUCTION = "a reduction of integers gives other results than one of floats"
    COMPUTED = "a part of the written tensor is computed in floats"
    READ = "other nodes read the floats"
    AXIS = "elements move along the axis of the scales"
    PLAN = "the scatter is removed only on floats"
    REJECTED = "ONNX Runtime rejects a Slice or Transpose after this DequantizeLinear"
    RETYPED = "ONNX Runtime makes uint8 of what DequantizeLinear without a zero point reads"
    INTEGER_KERNEL = "ONNX Runtime would compute a node beside it in integers, and round otherwise"
    ONE_SCALE = "ONNX Runtime takes a Where between quantizers for one of a single scale"
    LIMIT = "the limit of steps was reached"
    MOVED = "ONNX Runtime moves QuantizeLinear past an output of the graph"

    def __str__(self) -> str:
        return self.value

    @property
    def keeps_scatter(self) -> bool:
        """Whether ONNX Runtime would compute other values if the scatter were removed."""
        return self in _KEPT


_KEPT = frozenset(
    {
        *(FloatReason.INEXACT, FloatReason.RETYPED, FloatReason.REJECTED, FloatReason.MOVED),
        *(FloatReason.INTEGER_KERNEL, FloatReason.ONE_SCALE, FloatReason.LIMIT),
    }
)
