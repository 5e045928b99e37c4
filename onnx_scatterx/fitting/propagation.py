"""Shape inference of ONNX that follows the values of short 1-D tensors, and of no long ones.

    s = Shape (x)   t = Concat (s, [-1])   y = Reshape (x, t)     the dims of y follow from values

For this, onnx's data propagation makes a dim for each element of each 1-D operand of such nodes,
whether its elements are known or not: a tensor that is declared with 2^40 elements would fill the
memory. So a node whose operands may have more than 1024 elements is hidden: for this run, its
operator is unknown. Its results get the types and shapes that follow without values.

A length may follow from a value, as in ``ConstantOfShape (t)``. So a node is also hidden if nothing
is known of an operand's length, and shown in a later run if then the length is known. As long as it
is unknown, ONNX has no values of this operand.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import onnx
import onnx.shape_inference
import onnx_ir as ir

from onnx_scatterx.graphs import all_graphs, all_nodes, constant, graphs_of
from onnx_scatterx.processes import quiet

MOST = 1 << 10
"""The most elements of a tensor whose values are followed."""

_ROUNDS = 4  # after so many, what is still hidden stays hidden
_MOST_RANK = 1 << 6
_LARGE = 1000  # bytes of an initializer that need not be known
_HIDDEN = "onnx_scatterx.hidden"  # a domain of which ONNX knows no operator


def let_onnx_infer(model: ir.Model, *, follow: bool) -> None:
    """Let ONNX infer the shapes of a model, in place; ``follow`` the values of short tensors, too.

    If ONNX fails, the declared shapes are kept.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4611686018427387904] x, float[N, 6] y) => (float[?] a, float[?, ?, ?] b)
    ...     <int64[1] zero = {0}, int64[1] two = {2}, int64[3] t = {2, 3, -1}, int64[1] k = {3}> {
    ...         a = Slice (x, zero, two)  s = Shape (y)  r = Mul (s, k)  b = Reshape (y, t) }''')
    >>> let_onnx_infer(model, follow=True)
    >>> print(*(value.shape for value in model.graph.outputs))
    [2] [2,3,unk__0]
    """
    with quiet("onnx_ir.serde"), contextlib.suppress(Exception):
        message = _Message(model)
        far = _followed_far(model) if follow else ()
        if not far:
            message.infer(follow)
            return
        message.infer(False)
        hidden: Sequence[ir.Node] | None = None
        for _ in range(_ROUNDS):
            far = _followed_far(model)
            if far == hidden:
                break  # nothing more became known
            hidden = far
            message.infer(True, hidden)
            if not hidden:
                break
            message.infer(False)  # what follows of the results of hidden nodes


class _Message:
    """A model as a message without large tensors, in which ONNX infers shapes again and again."""

    def __init__(self, model: ir.Model) -> None:
        self._graphs = all_graphs(model.graph)
        self._known: dict[ir.Value, bytes] = {}  # the types that values were given
        self._places = {node: place for place, node in enumerate(all_nodes(model))}
        self._message = _without_large(model)

    def infer(self, follow: bool, hidden: Iterable[ir.Node] = ()) -> None:
        """Infer shapes, and give them to the values of the model."""
        domains = [(self._places[node], node.domain) for node in hidden]
        nodes = _nodes(self._message) if domains else []
        for place, _ in domains:
            nodes[place].domain = _HIDDEN
        self._message = onnx.shape_inference.infer_shapes(self._message, data_prop=follow)
        nodes = _nodes(self._message) if domains else []
        for place, domain in domains:
            nodes[place].domain = domain
        for graph, message in zip(self._graphs, _graphs(self._message.graph), strict=True):
            self._give(graph, message)

    def _give(self, graph: ir.Graph, message: onnx.GraphProto) -> None:
        infos = (*message.input, *message.value_info, *message.output)
        types = {info.name: info.type for info in infos}
        results = (value for node in graph for value in node.outputs)
        for value in (*graph.inputs, *graph.initializers.values(), *results):
            found = types.get(value.name or "")
            if found is None or self._known.get(value) == (said := found.SerializeToString()):
                continue
            self._known[value] = said
            shape = ir.serde.deserialize_type_proto_for_shape(found)
            if shape is not None and value.shape != shape:
                value.shape = shape
            kind = ir.serde.deserialize_type_proto_for_type(found)
            if kind is not None and value.dtype != kind.dtype:
                value.dtype = kind.dtype


def _without_large(model: ir.Model) -> onnx.ModelProto:
    """Return a model as a message; a large initializer is a value of its type."""
    initializers = model.graph.initializers.values()
    tensors = {v: v.const_value for v in initializers if v.const_value is not None}
    large = {value: tensor for value, tensor in tensors.items() if tensor.nbytes > _LARGE}
    for value, tensor in large.items():
        value.shape = ir.Shape(tensor.shape.numpy()) if value.shape is None else value.shape
        value.dtype = tensor.dtype if value.dtype is None else value.dtype
        value.const_value = None
    try:
        message = ir.to_proto(model)
    finally:
        for value, tensor in large.items():
            value.const_value = tensor
    for part in (message, *message.functions):
        part.opset_import.add(domain=_HIDDEN, version=1)
    return message


def _graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and its subgraphs, in the order of `all_graphs`."""
    yield graph
    for node in graph.node:
        yield from _inner(node)


def _inner(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        for body in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
            yield from _graphs(body)


def _nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """Return the nodes of a model and its functions, in the order of `all_nodes`."""
    nodes = [node for graph in _graphs(model.graph) for node in graph.node]
    for function in model.functions:
        nodes += function.node
        nodes += [n for outer in function.node for body in _inner(outer) for n in body.node]
    return nodes


@cache
def _is_followed(operator: str, version: int) -> bool:
    """Return whether ONNX follows values through an operator, in a set of this version."""
    try:
        schema = onnx.defs.get_schema(operator, version, "")
    except onnx.defs.SchemaError:
        return False
    return bool(schema.has_data_propagation_function)


def _followed_far(model: ir.Model) -> list[ir.Node]:
    """Return the nodes through which ONNX must not follow values, whose operands may be long."""
    return _Walk(model).found


class _Walk:
    def __init__(self, model: ir.Model) -> None:
        self.found: list[ir.Node] = []
        self._version = model.opset_imports.get("", 1)
        self._most: dict[ir.Value, float] = {}  # elements of results, from those of operands
        self._followed: set[ir.Value] = set()  # results that ONNX may have values of
        for graph in (model.graph, *(function.graph for function in model.functions.values())):
            self._graph(graph)

    def _graph(self, graph: ir.Graph) -> None:
        for node in graph:
            for body in graphs_of(node):
                self._graph(body)
            if node.domain in ("", "ai.onnx") and _is_followed(node.op_type, self._version):
                self._node(node)

    def _node(self, node: ir.Node) -> None:
        read = [value for value in node.inputs if value is not None]
        asked = [] if node.op_type == "Shape" else [v for v in read if self._has_values(v)]
        counts = [self._elements(value) for value in asked]
        if node.op_type == "Concat":
            counts.append(sum(counts))
        if any(count > MOST for count in counts):
            self.found.append(node)
        elif node.op_type == "Shape" or len(asked) == len(read):
            self._followed.update(node.outputs)
        if self._dims(node.outputs[0]) is None:
            self._most.update(dict.fromkeys(node.outputs, self._result(node, read)))

    def _has_values(self, value: ir.Value) -> bool:
        """Return whether ONNX may have a dim for each element of an operand."""
        rank = None if value.shape is None else len(value.shape)
        return rank in (None, 0, 1) or value in self._followed

    def _elements(self, value: ir.Value) -> float:
        """Return how many elements a value has at most."""
        tensor = constant(value, ())
        if tensor is not None:
            return tensor.size
        dims = self._dims(value)
        return self._most.get(value, math.inf) if dims is None else math.prod(dims)

    def _dims(self, value: ir.Value) -> list[int] | None:
        """Return the dims of a value; None if one is not known."""
        if value.shape is None:
            return None
        dims = [max(dim, 0) for dim in value.shape if isinstance(dim, int)]
        return dims if len(dims) == len(value.shape) else None

    def _result(self, node: ir.Node, read: list[ir.Value]) -> float:
        counts = [self._elements(value) for value in read]
        if node.op_type in ("Shape", "Size"):
            return _MOST_RANK
        if not counts:
            return math.inf
        if node.op_type == "Concat":
            return sum(counts)
        if node.op_type in ("Cast", "Slice", "Squeeze", "Unsqueeze"):
            return counts[0]
        short = all(v.shape is not None and len(v.shape) < 2 for v in read)
        if node.op_type == "Gather" and len(counts) == 2:
            return counts[1] if short else math.prod(max(count, 1) for count in counts)
        if node.op_type in ("Add", "Mul", "Sub"):
            return max(counts) if short else math.prod(max(count, 1) for count in counts)
        return math.inf
