"""A part of a model as a model: some of its nodes, with inputs in place of removed values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from onnx_ir.passes.common import RemoveUnusedFunctionsPass

from onnx_scatterx.doors.extraction.private import (
    constant_of,
    is_private,
    is_weight,
    private_attributes,
    remove_texts,
    weight_of,
)
from onnx_scatterx.ir.cleanup import cloned, remove_dead
from onnx_scatterx.ir.data import from_proto
from onnx_scatterx.ir.graphs import (
    all_graphs,
    all_nodes,
    graphs_of,
    is_scatterx_domain,
    makers,
    reached,
    read_by,
    readers,
    with_subgraphs,
)
from onnx_scatterx.ir.save import as_bytes


@dataclass(frozen=True)
class Neighbourhood:
    """Nodes, and the values at which earlier nodes are cut off."""

    nodes: frozenset[ir.Node]
    cuts: frozenset[ir.Value]


def region_of(
    graph: ir.Graph,
    roots: Collection[ir.Node],
    distance: int,
    may_cut: Callable[[ir.Value], bool],
) -> Neighbourhood:
    """Return the nodes near some nodes, with all nodes that they need, back to possible cuts.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] w) { y = Neg(x) z = Abs(y) v = Exp(z) w = Log(v) }''')
    >>> found = region_of(model.graph, [model.graph.node(2)], 1, lambda value: True)
    >>> [node.op_type for node in model.graph if node in found.nodes], *(v.name for v in found.cuts)
    (['Abs', 'Exp', 'Log'], 'y')
    """
    cuts = set[ir.Value]()

    def needed(node: ir.Node) -> list[ir.Node]:
        made = [v for v in read_by(node) for n in makers([v]) if n.graph is graph]
        cuts.update(filter(may_cut, made))
        return makers(v for v in made if v not in cuts)

    found = set(reached(_near(graph, roots, distance, owners_in(graph)), needed))
    # If one reader needs a node, its outputs exist for the others, too.
    return Neighbourhood(frozenset(found), frozenset(v for v in cuts if v.producer() not in found))


def _near(
    graph: ir.Graph,
    roots: Collection[ir.Node],
    distance: int,
    owners: Mapping[ir.Graph, ir.Node],
) -> set[ir.Node]:
    found = edge = set(roots)
    for _ in range(distance):
        around = set[ir.Node]()
        for node in edge:
            around |= {n for n in makers(read_by(node)) if n.graph is graph}
            read = (top_level(reader, graph, owners) for reader in readers(node.outputs))
            around |= {n for n in read if n is not None}
        edge = around - found
        found = found | edge
    return found


def owners_in(graph: ir.Graph) -> dict[ir.Graph, ir.Node]:
    """Return for each subgraph the node of the graph in which it stands, at any depth."""
    pairs = ((node, body) for node in graph for body in graphs_of(node))
    return {inner: node for node, body in pairs for inner in with_subgraphs(body)}


def top_level(node: ir.Node, graph: ir.Graph, owners: Mapping[ir.Graph, ir.Node]) -> ir.Node | None:
    """Return the node of a graph in which another one stands, or that node itself."""
    if node.graph is graph:
        return node
    return owners.get(node.graph) if isinstance(node.graph, ir.Graph) else None


Declared = tuple[ir.DataType, tuple[int | str | None, ...]]
"""The type and the shape of an input."""


def part_of(
    model: ir.Model,
    region: Neighbourhood,
    known: Mapping[ir.Value, Declared | None],
    *,
    weights: bool,
    attributes: bool,
) -> tuple[ir.Model, tuple[str, ...]] | None:
    """Return a model of the nodes of a region, and its private attributes.

    Returns None if nothing of it would be an output. Removed values become inputs, with their
    ``known`` types and shapes. Unless they are wanted, weights become inputs, too, or zeros in
    functions and subgraphs, and private attributes are removed. Outputs are declared, too, if
    something is known of them. Names are kept; all other texts are removed.
    """
    copy = cloned(model)
    graph = copy.graph
    nodes = dict(zip(model.graph, list(graph), strict=True))
    values = {
        old: new
        for before, after in nodes.items()
        for old, new in zip(before.outputs, after.outputs, strict=True)
    }
    kept = {nodes[node] for node in region.nodes}
    for value in sorted(region.cuts, key=lambda value: value.name or ""):
        declared = known[value]
        assert declared is not None
        _cut(graph, values[value], declared)
    seen = [v for node in kept for v in node.outputs if node.op_type != "Constant"]
    gone = [node for node in graph if node not in kept]
    needed = {v for node in gone for v in read_by(node)} | set(graph.outputs)
    outputs = [v for v in seen if v in needed]
    if not outputs:
        return None
    for old, new in values.items():
        declared = known.get(old)
        if new in outputs and new.type is None and declared is not None:
            new.type, new.shape = ir.TensorType(declared[0]), ir.Shape(declared[1])
    graph.outputs[:] = sorted(outputs, key=lambda value: value.name or "")
    remove_dead(gone)
    if not weights:
        for value in list(_read(graph)):
            if _owner(value) is graph and weight_of(value):
                _open(graph, value)
    _drop_unread(copy)
    if not weights:
        for inner in all_graphs(copy)[1:]:
            _clear(inner)
    private = _private(copy, remove=not attributes)
    message = as_bytes(copy)[1]  # with its external data
    remove_texts(message)
    return from_proto(message), private


def _cut(graph: ir.Graph, value: ir.Value, declared: Declared) -> None:
    """Replace a value by an input."""
    dtype, dims = declared
    name = value.name
    value.name = f"{name}/cut"
    made = ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(dims))
    for node, place in list(value.uses()):  # not its use as an output of the graph
        node.replace_input_with(place, made)
    graph.inputs.append(made)


def _owner(value: ir.Value) -> ir.Graph | ir.Function | None:
    """Return the graph whose initializer, input or node a value is."""
    node = value.producer()
    return value.graph if node is None else node.graph


def _open(graph: ir.Graph, value: ir.Value) -> None:
    """Replace a weight by an input."""
    tensor, node = value.const_value, value.producer()
    if node is not None:
        tensor = constant_of(node)
        assert tensor is not None
        _cut(graph, value, (tensor.dtype, tuple(tensor.shape.numpy())))
        if not value.is_graph_output():
            graph.remove(node, safe=True)
        return
    assert value.name is not None
    graph.initializers.pop(value.name)
    if tensor is not None:  # and no sparse one, whose type is known
        value.const_value = None
        value.type, value.shape = ir.TensorType(tensor.dtype), ir.Shape(tensor.shape.numpy())
    if not value.is_graph_input():
        graph.inputs.append(value)


def _read(graph: ir.Graph) -> dict[ir.Value, None]:
    """Return the values of a graph that its nodes read, and its outputs."""
    found = dict.fromkeys(v for node in graph for v in read_by(node))
    return found | dict.fromkeys(graph.outputs)


def _drop_unread(model: ir.Model) -> None:
    """Remove inputs, initializers and functions that nothing reads.

    An input is kept if it declares a size that a used input declares, too: the report assumes that
    they agree in it.
    """
    graph = model.graph
    read = _read(graph)
    sizes = {name for value in graph.inputs if value in read for name in _sizes(value)}
    graph.inputs[:] = [v for v in graph.inputs if v in read or sizes & _sizes(v)]
    for name, value in list(graph.initializers.items()):
        if value not in read:
            graph.initializers.pop(name)
    RemoveUnusedFunctionsPass()(model)  # type: ignore[no-untyped-call]


def _sizes(value: ir.Value) -> set[str]:
    """Return the names of sizes that a value declares."""
    dims = () if value.shape is None else value.shape.dims
    return {dim.value for dim in dims if isinstance(dim, ir.SymbolicDim) and dim.value is not None}


def _clear(graph: ir.Graph) -> None:
    """Replace the weights of a function or a subgraph by zeros."""
    for value in graph.initializers.values():
        if weight_of(value):
            assert value.const_value is not None
            value.const_value = _zeros(value.const_value)
    for node in graph:
        tensor = constant_of(node)
        if tensor is not None and is_weight(tensor):
            node.attributes.clear()
            node.attributes["value"] = ir.AttrTensor("value", _zeros(tensor))


def _zeros(tensor: ir.TensorProtocol) -> ir.TensorProtocol:
    numpy = tensor.dtype.numpy()
    array = np.full(tensor.shape.numpy(), b"" if numpy.kind == "O" else 0, numpy)
    return ir.Tensor(array, dtype=tensor.dtype, name=tensor.name)


def _private(model: ir.Model, *, remove: bool) -> tuple[str, ...]:
    """Return the private attributes of all nodes and functions; remove them if asked."""
    found = []
    for node in all_nodes(model):
        for name in private_attributes(node):
            found.append(f"{node.name or node.outputs[0].name}.{name}")
            if remove:
                del node.attributes[name]
    for function in model.functions.values():
        for name, attribute in list(function.attributes.items()):
            if not is_scatterx_domain(function.domain) and is_private(attribute):
                found.append(f"{function.name}.{name}")
                if remove:
                    function.attributes[name] = ir.Attr(name, attribute.type, None)
    return tuple(found)
