"""What onnx_ir would write of a model now, so that the parts that changed are told later.

A model is looked at once, and nothing is written. A part is a node of the main graph with its
outputs and subgraphs, or a function. The state of a part is equal to an earlier one only if onnx_ir
writes the same of it. Constants and attributes are compared as objects: no pass changes one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeAlias

import onnx
import onnx_ir as ir

from onnx_scatterx.files.check import is_large
from onnx_scatterx.files.data import is_a

NodeKey: TypeAlias = tuple[str, str]
"""The operator of a node, and its first output with a name: otherwise its own name."""

_State: TypeAlias = tuple[Any, ...]


class Snapshot:
    """The states of a model's parts.

    ``head`` is the state of the rest: of all but the nodes, initializers and functions.
    ``edges`` is a part of it: the inputs, outputs and texts of the main graph.
    ``order`` has the keys of the main graph's nodes; the state of a key that two nodes share is not
    known (None). ``weights`` are the initializers of all graphs, and the large tensors of
    attributes, as far as they were read from a message.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { z = Neg (x)  y = Abs (z) }''')
    >>> before = Snapshot(model)
    >>> model.graph.node(1).outputs[0].dtype = ir.DataType.FLOAT16
    >>> after = Snapshot(model)
    >>> [key for key in after.order if before.nodes[key] != after.nodes[key]]
    [('Abs', 'y')]
    """

    def __init__(self, model: ir.Model) -> None:
        self.weights: dict[int, onnx.TensorProto] = {}
        self.ir_version = model.ir_version
        self.edges = self._edges(model.graph)
        self.head = (
            *(model.producer_name, model.producer_version, model.domain, model.model_version),
            *(model.doc_string, dict(model.metadata_props), dict(model.opset_imports)),
            *(model.device_configurations, self.edges),
        )
        self.initializers = self._initializers(model.graph)
        outside = len(self.weights)
        self.order: list[NodeKey] = []
        self.nodes: dict[NodeKey, _State | None] = {}
        for node in model.graph:
            key = key_of(node)
            self.nodes[key] = None if key in self.nodes else self._node(node)
            self.order.append(key)
        self.functions = {
            identifier: (
                *(function.name, function.domain, function.overload, function.doc_string),
                *(dict(function.metadata_props), dict(function.opset_imports)),
                *(list(function.attributes.values()), *self._graph(function.graph)),
            )
            for identifier, function in model.functions.items()
        }
        self.has_weights_in_nodes = len(self.weights) > outside

    def _graph(self, graph: ir.Graph) -> _State:
        nodes = [self._node(node) for node in graph]
        return self._edges(graph), self._initializers(graph), nodes

    def _edges(self, graph: ir.Graph) -> _State:
        described = graph.name, graph.doc_string, dict(graph.metadata_props)
        return *described, _values(graph.inputs), _values(graph.outputs)

    def _initializers(self, graph: ir.Graph) -> dict[str, _State]:
        states: dict[str, _State] = {}
        for name, value in graph.initializers.items():
            tensor: object = value.const_value
            if is_a(tensor, ir.serde.TensorProtoTensor):
                self._add(tensor)
                tensor = tensor.raw  # the message may have been read twice
            states[name] = _value(value), tensor
        return states

    def _node(self, node: ir.Node) -> _State:
        attributes = list(node.attributes.data.values())
        return (
            *(node.op_type, node.domain, node.overload, node.name, node.doc_string),
            [None if value is None else value.name for value in node.inputs],
            *(_values(node.outputs), attributes, dict(node.metadata_props)),
            [attribute.ref_attr_name for attribute in attributes],  # equal attributes may differ
            *(node.device_configurations, self._held(attributes) if attributes else None),
        )

    def _held(self, attributes: Iterable[ir.Attr]) -> list[_State]:
        """Return the states of the graphs in attributes, and note the large tensors there."""
        states: list[_State] = []
        for attribute in attributes:
            kind = attribute.type
            if kind not in _HEAVY or attribute.is_ref():
                continue
            held = attribute.value if kind in _SEVERAL else [attribute.value]
            for one in held:
                if kind in _GRAPHS:
                    states.append(self._graph(one))
                elif is_a(one, ir.serde.TensorProtoTensor) and is_large(math.prod(one.raw.dims[:])):
                    self._add(one)
        return states

    def _add(self, tensor: ir.serde.TensorProtoTensor) -> None:
        self.weights.setdefault(id(tensor.raw), tensor.raw)


_SEVERAL = {ir.AttributeType.GRAPHS, ir.AttributeType.TENSORS}
_GRAPHS = {ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS}
_HEAVY = _SEVERAL | {ir.AttributeType.GRAPH, ir.AttributeType.TENSOR}


def key_of(node: ir.Node) -> NodeKey:
    """Return what tells a node from the others of its graph."""
    for value in node.outputs:
        if value.name:
            return node.op_type, value.name
    return node.op_type, node.name or ""


def key_of_message(node: onnx.NodeProto) -> NodeKey:
    """Return the same of a node in a message."""
    return node.op_type, next(filter(None, node.output), "") or node.name


def _values(values: Iterable[ir.Value]) -> list[_State]:
    return [_value(value) for value in values]


def _value(value: ir.Value) -> _State:
    kind, shape = value.type, value.shape
    return (
        *(value.name, None if kind is None else _type(kind), None if shape is None else shape.dims),
        *(value.doc_string, dict(value.metadata_props), value.is_graph_output()),
    )


def _type(kind: ir.TypeProtocol) -> _State:
    inner = kind.elem_type
    return type(kind), kind.denotation, inner if isinstance(inner, ir.DataType) else _type(inner)
