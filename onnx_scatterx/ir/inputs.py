"""Changing many inputs of one node in linear time: onnx_ir copies all of them for each change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import onnx_ir as ir

_MANY = 16


def set_inputs(node: ir.Node, inputs: Sequence[ir.Value | None]) -> None:
    """Give a node other inputs."""
    if len(node.inputs) <= _MANY or node.device_configurations:
        node.resize_inputs(len(inputs))
        for place, value in enumerate(inputs):
            if node.inputs[place] is not value:
                node.replace_input_with(place, value)
        return
    # There is no public function for it.
    for place, value in enumerate(node.inputs):
        if value is not None:
            value._remove_usage(node, place)
    node._inputs = tuple(inputs)
    for place, value in enumerate(inputs):
        if value is not None:
            value._add_usage(node, place)


def replace_uses(value: ir.Value, new: ir.Value) -> None:
    """Let all readers of a value read another one, also as an output of its graph."""
    for node, count in Counter(use.node for use in value.uses()).items():
        if count > _MANY:
            set_inputs(node, [new if v is value else v for v in node.inputs])
    value.replace_all_uses_with(new, replace_graph_outputs=True)
