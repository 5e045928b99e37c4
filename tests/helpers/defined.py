"""What ONNX Runtime leaves undefined: elements that a Concat of an empty tensor does not set.

It lets an input without elements have any other dims, and may take the output's from it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import onnx


def joins(nodes: Iterable[onnx.NodeProto]) -> list[tuple[int, list[str]]]:
    """Return the axis and the inputs of every Concat."""
    return [
        (onnx.helper.get_node_attr_value(node, "axis"), list(node.input))
        for node in nodes
        if node.op_type == "Concat"
    ]


def are_defined(found: Iterable[tuple[int, list[str]]], values: Mapping[str, Any]) -> bool:
    """Return whether the inputs of each agree in all dims but that of the axis."""
    for axis, names in found:
        shapes = [list(values[name].shape) for name in names]
        others = [s[: axis % len(s)] + s[axis % len(s) + 1 :] for s in shapes]
        if any(o != others[0] for o in others):
            return False
    return True
