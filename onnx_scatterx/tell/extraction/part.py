"""Makes a model of a part of a model, without weights, private attributes and unread inputs."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
from onnx_ir.passes.common import RemoveUnusedFunctionsPass

from onnx_scatterx.files.data import from_proto
from onnx_scatterx.files.saving import as_bytes
from onnx_scatterx.graphs.traversal import all_graphs, all_nodes, is_scatterx_domain, read_by
from onnx_scatterx.tell.extraction.private import (
    constant_of,
    is_private,
    is_weight,
    private_attributes,
    remove_texts,
    weight_of,
)
from onnx_scatterx.tell.extraction.region import Known, Neighbourhood, cut_out


def part_of(
    model: ir.Model,
    region: Neighbourhood,
    known: Known,
    *,
    weights: bool,
    attributes: bool,
) -> tuple[ir.Model, tuple[str, ...]] | None:
    """Return a model of the nodes of a region, and the names of its private attributes.

    The result is None if ``cut_out`` finds no such model. Without ``weights``, weights become
    inputs, or zeros in functions and subgraphs. Without ``attributes``, private attributes are
    removed. Unread inputs and all texts but names are removed.
    """
    copy = cut_out(model, region, known)
    if copy is None:
        return None
    graph = copy.graph
    if not weights:
        for value in list(_read(graph)):
            if _owner(value) is graph and weight_of(value):
                _open(graph, value)
    _drop_unread(copy)
    if not weights:
        for inner in all_graphs(copy)[1:]:
            _clear(inner)
    private = _private(copy, remove=not attributes)
    message = as_bytes(copy)[1]  # has the external data, too
    remove_texts(message)
    return from_proto(message), private


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
        name, value.name = value.name, f"{value.name}/cut"
        shape = ir.Shape(tensor.shape.numpy())
        made = ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=shape)
        for reader, index in list(value.uses()):  # an output of the graph stays the constant
            reader.replace_input_with(index, made)
        graph.inputs.append(made)
        if not value.is_graph_output():
            graph.remove(node, safe=True)
        return
    assert value.name is not None
    graph.initializers.pop(value.name)
    if tensor is not None:  # None: a sparse tensor, whose type is known
        value.const_value = None
        value.type, value.shape = ir.TensorType(tensor.dtype), ir.Shape(tensor.shape.numpy())
    if not value.is_graph_input():
        graph.inputs.append(value)


def _read(graph: ir.Graph) -> dict[ir.Value, None]:
    """Return the values of a graph that its nodes read, and its outputs."""
    read = dict.fromkeys(v for node in graph for v in read_by(node))
    return read | dict.fromkeys(graph.outputs)


def _drop_unread(model: ir.Model) -> None:
    """Remove inputs, initializers and functions that nothing reads.

    An input is kept if it declares a size that an input which is read declares, too: the report
    assumes that the size is the same in both inputs.
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
    """Return the names of the private attributes of all nodes and functions; ``remove`` them."""
    names = []
    for node in all_nodes(model):
        for name in private_attributes(node):
            names.append(f"{node.name or node.outputs[0].name}.{name}")
            if remove:
                del node.attributes[name]
    for function in model.functions.values():
        for name, attribute in list(function.attributes.items()):
            if not is_scatterx_domain(function.domain) and is_private(attribute):
                names.append(f"{function.name}.{name}")
                if remove:
                    function.attributes[name] = ir.Attr(name, attribute.type, None)
    return tuple(names)
