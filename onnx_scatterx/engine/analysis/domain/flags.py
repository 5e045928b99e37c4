"""Attributes without a meaning, which ONNX Runtime reads in its own way.

Flags are integers that must be 0 or 1.

    y = ReduceSum <keepdims = 2> (x)       without the axis in ONNX Runtime, which compares with 1
    y = Gemm <transA = 2> (a, b, c)        transposed in ONNX Runtime, which compares with 0

    y = MaxPool <auto_pad = "SAME_LOWER", kernel_shape = [3], pads = [1, 1]> (x)

ONNX Runtime does not read these pads; ONNX's shape inference reads nothing else.

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


def is_padded_twice(node: ir.Node) -> bool:
    """Return whether a node has pads beside an ``auto_pad`` that says something else.

    >>> attributes = [ir.AttrString("auto_pad", "VALID"), ir.AttrInt64s("pads", [0, 1])]
    >>> is_padded_twice(ir.Node("", "MaxPool", [], attributes))
    True
    """
    auto = node.attributes.data.get("auto_pad")
    pads = None if auto is None else node.attributes.data.get("pads")
    if auto is None or pads is None or auto.is_ref() or pads.is_ref():
        return False
    return auto.value != "NOTSET" and (auto.value != "VALID" or any(pads.as_ints()))


def are_meaningless(node: ir.Node) -> bool:
    """Return whether ONNX does not say what the attributes of a node mean."""
    attributes = node.attributes.data
    return any(map(is_meaningless, attributes.values())) or is_padded_twice(node)
