"""A node as it is written in an operator set: its operator, its inputs and its attributes.

Spelling("ReduceMax", (x, array([1])), {})    ReduceMax (x, Constant <value = [1]> ())
Spelling("Not", (Spelling("Less", ...),), {}) Not (Less (...))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.write import GraphWriter
from onnx_scatterx.fitting.known_values import KnownValues
from onnx_scatterx.graphs import Names, replace_uses, set_inputs

Operand: TypeAlias = "ir.Value | np.ndarray | Spelling | None"
"""An input: a value, a constant, the result of another spelling, or None if absent."""


@dataclass(frozen=True, eq=False)
class Spelling:
    """A spelling of a node: its operator, inputs and attributes, and the number of its outputs.

    An input that is an array becomes a Constant. ``others`` are outputs of the node that other
    nodes compute, by their positions. With ``last_bits``, ONNX Runtime computes the node by another
    kernel, so the last bits of floats may differ.
    """

    op_type: str
    inputs: tuple[Operand, ...]
    attributes: Mapping[str, ir.Attr] = field(default_factory=dict)
    outputs: int = 1
    others: Mapping[int, Spelling] = field(default_factory=dict)
    last_bits: bool = False

    @classmethod
    def of(cls, node: ir.Node) -> Spelling:
        """Return a node as it is written."""
        return cls(node.op_type, tuple(node.inputs), dict(node.attributes), len(node.outputs))

    def changed(self, inputs: Sequence[Operand], **attributes: ir.Attr | None) -> Spelling:
        """Return the spelling with other inputs and changed attributes; None removes one."""
        merged = {**self.attributes, **attributes}
        kept = {name: attribute for name, attribute in merged.items() if attribute is not None}
        return replace(self, inputs=tuple(inputs), attributes=kept)

    def without(self, *names: str) -> Spelling:
        """Return the spelling without some attributes."""
        return self.changed(self.inputs, **dict.fromkeys(names))

    def value(self, name: str, default: Any) -> Any:
        """Return the value of an attribute; None if it refers to an attribute of a function."""
        attribute = self.attributes.get(name)
        return default if attribute is None else None if attribute.is_ref() else attribute.value

    def input(self, index: int) -> Operand:
        """Return an input; None if it is absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def is_of(self, node: ir.Node) -> bool:
        """Return whether a node is written as this spelling."""
        same = self.op_type == node.op_type and len(self.inputs) == len(node.inputs)
        same = same and all(a is b for a, b in zip(self.inputs, node.inputs, strict=True))
        return same and not self.others and self.attributes == node.attributes.data

    def write(self, node: ir.Node, version: int, names: Names) -> None:
        """Change a node in place, and write its other nodes beside it.

        The version is that of the operator set.
        """
        others = {i: _written(node, other, version, names) for i, other in self.others.items()}
        node.op_type = self.op_type
        set_inputs(node, [_operand(node, given, version, names) for given in self.inputs])
        node.attributes.clear()
        node.attributes.update(self.attributes)
        for index, value in others.items():
            replace_uses(node.outputs[index], value, keeps_name=True)
        if others:
            node.resize_outputs(min(others))


Respell: TypeAlias = Callable[[Spelling, KnownValues], Spelling | str]
"""Returns a node in the spelling of the next older or newer version, or a reason against it."""


def ints(name: str, values: Iterable[int]) -> ir.Attr:
    """Return an attribute of integers."""
    return ir.AttrInt64s(name, [int(value) for value in values])


def i64(values: Any) -> np.ndarray:
    """Return an array of int64."""
    return np.asarray(values, np.int64)


def _operand(node: ir.Node, given: Operand, version: int, names: Names) -> ir.Value | None:
    """Return the value of an operand, which is written before a node if it is not written yet."""
    if isinstance(given, Spelling):
        return _written(node, given, version, names)
    return _constant(node, given, version, names) if isinstance(given, np.ndarray) else given


def _written(node: ir.Node, spelling: Spelling, version: int, names: Names) -> ir.Value:
    """Write a spelling as a node of its own before a node, and return its output."""
    inputs = [_operand(node, given, version, names) for given in spelling.inputs]
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
