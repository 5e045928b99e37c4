"""Nodes that move floats are written once more, for the integers that stand for the floats.

    before   y = Transpose(DequantizeLinear(x, s, z))
    after    q = Transpose(x)

A QuantizeLinear of y becomes q. For what else reads y, there is a DequantizeLinear of q.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.plan import GraphContext
from onnx_scatterx.engine.quantizers import is_quantizer, operands_of
from onnx_scatterx.graphs import made_by, replace_uses


class IntegerNodes:
    """Writes nodes beside those that move floats, with integers of one type.

    Then readers of the floats can read the integers, or a DequantizeLinear of them.
    """

    def __init__(self, context: GraphContext, dtype: ir.DataType) -> None:
        self._known, self._names = context.known, context.names
        self._dtype = dtype
        self._writer = context.writer().graph
        self._integers: dict[ir.Value, ir.Value] = {}

    @property
    def nodes(self) -> list[ir.Node]:
        """The new nodes, each after those that it reads."""
        return self._writer.made

    def of(self, value: ir.Value) -> ir.Value:
        """Return the integers that stand for floats."""
        leaf = value.producer()
        if value in self._integers or leaf is None or not is_quantizer(leaf, "DequantizeLinear"):
            return self._integers[value]
        integers = leaf.inputs[0]
        assert integers is not None
        return integers

    def quantize(self, value: ir.Value, array: np.ndarray, node: ir.Node) -> None:
        """Let constant floats be these integers, which are written before a node."""
        fill = made_by(value, "ConstantOfShape")
        if fill is None:
            with self._writer.at(node, value.name):
                self._integers[value] = self._writer.add_constant(array, self._dtype)
        else:
            number = ir.AttrTensor("value", ir.Tensor(array.reshape(1)))
            self._integers[value] = self._add(fill, fill, fill.inputs, [number])

    def move(self, node: ir.Node) -> ir.Node:
        """Write a node on integers, before the one on floats; return it."""
        moved = operands_of(node) or [0]
        inputs = [
            self.of(v) if v is not None and i in moved else v for i, v in enumerate(node.inputs)
        ]
        new = self._add(node, node, inputs, node.attributes.values())
        self._integers[node.outputs[0]] = new
        made = new.producer()
        assert made is not None
        return made

    def dequantize(self, value: ir.Value, leaf: ir.Node, axis: int | None = None) -> None:
        """Let readers of floats read the integers, through a DequantizeLinear.

        It has the scale of another one, and perhaps another axis.
        """
        node = value.producer()
        assert node is not None
        attributes = dict(leaf.attributes)
        if axis is not None:
            attributes["axis"] = ir.AttrInt64("axis", axis)
        with self._writer.at(node, value.name):
            inputs = [self.of(value), *map(self._before, leaf.inputs[1:])]
        floats = self._add(leaf, node, inputs, attributes.values())
        floats.type = value.type
        self.replace(value, floats)

    def _before(self, parameter: ir.Value | None) -> ir.Value | None:
        """Return a scale or zero point, as a constant if a node computes it, perhaps later."""
        if parameter is None or parameter.producer() is None:
            return parameter
        array = self._known.array(parameter)
        if array is None:
            return parameter
        return self._writer.add_constant(array, ir.DataType.from_numpy(array.dtype))

    def replace(self, old: ir.Value, new: ir.Value) -> None:
        """Let readers of a value read another one, which takes its name."""
        node = old.producer()
        assert node is not None
        if old.is_graph_output():
            if new.is_graph_output():
                new = self._add(None, node, [new], ())
            new.shape = old.shape
        if not new.is_graph_output():
            unused = self._names.new(f"{old.name}/replaced")
            new.name, old.name = old.name, unused
        new.metadata_props.update(old.metadata_props)
        replace_uses(old, new)

    def _add(
        self,
        like: ir.Node | None,
        node: ir.Node,
        inputs: Sequence[ir.Value | None],
        attributes: Iterable[ir.Attr],
    ) -> ir.Value:
        """Add a node with the operator of another one, or an Identity; return its output."""
        (old,) = node.outputs
        with self._writer.at(node, old.name):
            domain, op = ("", "Identity") if like is None else (like.domain, like.op_type)
            name = self._writer.new_name("integers" if like is node else op)
            value = ir.Value(name=name, type=ir.TensorType(self._dtype), shape=old.shape)
            new = ir.Node(domain, op, inputs, attributes, outputs=[value], name=name)
            self._writer.add(new)
        if like is node:
            new.doc_string = node.doc_string
            new.metadata_props.update(node.metadata_props)
            new.meta.update(node.meta)
        return value
