"""Changes a node into another spelling, and writes the nodes and constants that this needs."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.spelling import Operand, Spelling
from onnx_scatterx.engine.write import GraphWriter
from onnx_scatterx.graphs import Names, replace_uses, set_inputs


def write_spelling(node: ir.Node, spelling: Spelling, version: int, names: Names) -> None:
    """Change a node in place, and write its other nodes beside it.

    The version is that of the operator set.
    """
    others = {i: _written(node, other, version, names) for i, other in spelling.others.items()}
    node.op_type = spelling.op_type
    set_inputs(node, [_operand(node, operand, version, names) for operand in spelling.inputs])
    node.attributes.clear()
    node.attributes.update(spelling.attributes)
    for index, value in others.items():
        replace_uses(node.outputs[index], value, keeps_name=True)
    if others:
        node.resize_outputs(min(others))


def _operand(node: ir.Node, operand: Operand, version: int, names: Names) -> ir.Value | None:
    """Return the value of an operand, which is written before a node if it is not written yet."""
    if isinstance(operand, Spelling):
        return _written(node, operand, version, names)
    return _constant(node, operand, version, names) if isinstance(operand, np.ndarray) else operand


def _written(node: ir.Node, spelling: Spelling, version: int, names: Names) -> ir.Value:
    """Write a spelling as a node of its own before a node, and return its output."""
    inputs = [_operand(node, operand, version, names) for operand in spelling.inputs]
    made = ir.Node("", spelling.op_type, inputs, spelling.attributes.values(), version=version)
    return _placed(node, made, spelling.op_type, names)


def _constant(node: ir.Node, array: np.ndarray, version: int, names: Names) -> ir.Value:
    """Write a Constant before a node, and return its value."""
    tensor = ir.Tensor(array)
    made = ir.Node("", "Constant", [], [ir.AttrTensor("value", tensor)], version=version)
    value = _placed(node, made, "sizes" if array.dtype == np.int64 else "constant", names)
    tensor.name = value.name
    value.dtype, value.shape = tensor.dtype, ir.Shape(array.shape)
    return value


def _placed(node: ir.Node, made: ir.Node, what: str, names: Names) -> ir.Value:
    """Put a new node before a node, and name its output after that node."""
    (value,) = made.outputs
    value.name = names.new(f"{node.name or node.outputs[0].name or node.op_type}/{what}")
    assert node.graph is not None
    writer = GraphWriter(node.graph, names, constant_nodes=True)
    with writer.at(node):
        return writer.add(made)
