"""Flags: integer attributes that must be 0 or 1. Another number has no meaning.

    y = ReduceSum <keepdims = 2> (x)       without the axis in ONNX Runtime, which compares with 1
    y = Gemm <transA = 2> (a, b, c)        transposed in ONNX Runtime, which compares with 0

ONNX does not say what these nodes compute. Its checker takes them, and ONNX Runtime runs them.
"""

from __future__ import annotations

import onnx_ir as ir

FLAGS = frozenset(
    {
        *("align_corners", "allowzero", "antialias", "ceil_mode", "center_point_box"),
        *("count_include_pad", "detect_negative", "detect_positive", "exclude_outside"),
        *("exclusive", "fmod", "is_causal", "keepdims", "largest", "linear_before_reset"),
        *("new_axis", "noop_with_empty_axes", "onesided", "periodic", "reverse", "saturate"),
        *("select_last_index", "sorted", "storage_order", "training_mode"),
        *("transA", "transB", "upper"),
    }
)


def is_meaningless(attribute: ir.Attr) -> bool:
    """Return whether an attribute is a flag with another number than 0 or 1.

    >>> is_meaningless(ir.AttrInt64("keepdims", 2)), is_meaningless(ir.AttrInt64("axis", 2))
    (True, False)
    """
    if attribute.name not in FLAGS or attribute.is_ref():
        return False
    return attribute.type == ir.AttributeType.INT and attribute.value not in (0, 1)
