"""What ONNX Runtime leaves undefined.

A Concat lets an input without elements have any other dims, and may take the output's from it: then
some elements are not set. Up to version 1.22 a GatherND reads rows of a tensor without elements.
"""

from collections.abc import Iterable, Mapping
from math import prod
from typing import Any

import onnx


def doubtful(nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Return the nodes whose results may be undefined."""
    return [node for node in nodes if node.op_type in ("Concat", "GatherND")]


def are_defined(found: Iterable[onnx.NodeProto], values: Mapping[str, Any]) -> bool:
    """Return whether the results of all of them are defined."""
    for node in found:
        shapes = [list(values[name].shape) for name in node.input]
        if not (_joins if node.op_type == "Concat" else _reads)(node, shapes):
            return False
    return True


def _joins(node: onnx.NodeProto, shapes: list[list[int]]) -> bool:
    """Return whether the inputs agree in all dims but that of the axis."""
    axis = onnx.helper.get_node_attr_value(node, "axis")
    others = [s[: axis % len(s)] + s[axis % len(s) + 1 :] for s in shapes]
    return all(o == others[0] for o in others)


def _reads(node: onnx.NodeProto, shapes: list[list[int]]) -> bool:
    """Return whether there is something to copy, or nothing is copied."""
    data, index = shapes
    first = sum(a.i for a in node.attribute if a.name == "batch_dims")
    copied = prod(index[:-1]) * prod(data[first + index[-1] :])
    return prod(data) > 0 or copied == 0
