"""Finds the nodes near some nodes of a graph, and cuts them out as a model.

Values that are cut off become inputs. A value may be cut off if nothing is known of it but its type
and its shape, and an input can declare this shape.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, TensorValue, size_name
from onnx_scatterx.engine.lift import NodeNames
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.graphs import (
    Inventory,
    all_graphs,
    cloned,
    graphs_of,
    makers,
    reached,
    read_by,
    remove_dead,
)


@dataclass(frozen=True)
class Neighbourhood:
    """Some nodes of a graph, and the values that become inputs because their makers are cut off."""

    nodes: frozenset[ir.Node]
    cuts: frozenset[ir.Value]


def region_of(
    graph: ir.Graph,
    roots: Collection[ir.Node],
    distance: int,
    may_cut: Callable[[ir.Value], bool],
) -> Neighbourhood:
    """Return the nodes around ``roots``, with all nodes that they need, back to possible cuts.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] w) { y = Neg(x) z = Abs(y) v = Exp(z) w = Log(v) }''')
    >>> near = region_of(model.graph, [model.graph.node(2)], 1, lambda value: True)
    >>> [node.op_type for node in model.graph if node in near.nodes], *(v.name for v in near.cuts)
    (['Abs', 'Exp', 'Log'], 'y')
    """
    cuts = set[ir.Value]()

    def needed(node: ir.Node) -> list[ir.Node]:
        made = [v for v in read_by(node) for n in makers([v]) if n.graph is graph]
        cuts.update(filter(may_cut, made))
        return makers(v for v in made if v not in cuts)

    nodes = set(reached(_near(graph, roots, distance, _owners_in(graph)), needed))
    # A value is no cut if its producer is needed for another value.
    return Neighbourhood(frozenset(nodes), frozenset(v for v in cuts if v.producer() not in nodes))


def _near(
    graph: ir.Graph,
    roots: Collection[ir.Node],
    distance: int,
    owners: Mapping[ir.Graph, ir.Node],
) -> set[ir.Node]:
    near = edge = set(roots)
    for _ in range(distance):
        around = set[ir.Node]()
        for node in edge:
            around |= {n for n in makers(read_by(node)) if n.graph is graph}
            read = (_top_level(reader, graph, owners) for reader in node.successors())
            around |= {n for n in read if n is not None}
        edge = around - near
        near = near | edge
    return near


def _owners_in(graph: ir.Graph) -> dict[ir.Graph, ir.Node]:
    """Return for each subgraph, at any depth, the node of the graph that contains it."""
    pairs = ((node, body) for node in graph for body in graphs_of(node))
    return {inner: node for node, body in pairs for inner in all_graphs(body)}


def _top_level(
    node: ir.Node, graph: ir.Graph, owners: Mapping[ir.Graph, ir.Node]
) -> ir.Node | None:
    """Return the node of the graph that contains a node, or is the node; None if there is none."""
    if node.graph is graph:
        return node
    return owners.get(node.graph) if isinstance(node.graph, ir.Graph) else None


def roots_of(model: ir.Model, names: Collection[str]) -> list[ir.Node]:
    """Return the nodes of the main graph that are or contain the scatters and gathers so named.

    The list is empty if one of these scatters and gathers is in a function.
    """
    owners = _owners_in(model.graph)
    called = [n for n, own in NodeNames.of(Inventory(model)).items() if own.name in names]
    roots = [_top_level(node, model.graph, owners) for node in called]
    return [] if None in roots else [node for node in roots if node is not None]


class Declared(NamedTuple):
    """The type and the shape of a value, and whether nothing more is known of the value."""

    dtype: ir.DataType
    dims: tuple[int | str | None, ...]
    is_free: bool


Known = Mapping[ir.Value, Declared | None]
"""The type and shape that an input can declare instead of each value of a graph."""


def known_in(model: ir.Model, knowledge: Knowledge) -> Known:
    """Return for each value of the main graph the type and shape that an input can declare."""
    values = [value for node in model.graph for value in node.outputs]
    return {value: _declared(knowledge.values.get(value), value) for value in values}


def _declared(known: TensorValue | None, value: ir.Value) -> Declared | None:
    dtype = value.dtype if known is None or known.dtype is None else known.dtype
    if known is None or known.shape is None or dtype is None:
        return None
    return Declared(dtype, tuple(map(_dim, known.shape)), known.index_map is None)


def may_be_cut(known: Known, value: ir.Value, *, symbols: bool = True) -> bool:
    """Return whether an input can replace a value.

    Only the value's type and shape may be known. Each size must be a number or, if ``symbols``, a
    size that an input of the model declares.
    """
    declared = known[value]
    if declared is None or value.name is None:
        return False
    kinds = int | str if symbols else int
    return declared.is_free and all(isinstance(n, kinds) for n in declared.dims)


def _dim(size: Term) -> int | str | None:
    if size.constant is not None:
        return size.constant
    (leaf, *more) = size.leaves()
    is_itself = not more and str(size) == leaf.name and size_name(leaf) == leaf.name
    return leaf.name if is_itself else None


def cut_out(model: ir.Model, region: Neighbourhood, known: Known) -> ir.Model | None:
    """Return a region as a model that has all inputs of the model; None if it has no output.

    The region's cuts become inputs with their ``known`` types and shapes. Outputs are declared with
    their types and shapes, too, if these are known.
    """
    graph = model.graph
    nodes = [node for node in graph if node in region.nodes]
    needed = {v for node in graph if node not in region.nodes for v in read_by(node)}
    seen = [v for node in nodes for v in node.outputs if node.op_type != "Constant"]
    outputs = _by_name(v for v in seen if v in needed or v.is_graph_output())
    if not outputs:
        return None
    cuts, read = _by_name(region.cuts), {v for node in nodes for v in read_by(node)}
    view = ir.GraphView(
        [*graph.inputs, *cuts],
        outputs,
        nodes=nodes,
        initializers=[v for v in graph.initializers.values() if v in read or v.is_graph_input()],
        opset_imports=graph.opset_imports,
        name=graph.name,
    )
    part = cloned(
        ir.Model(
            view,  # type: ignore[arg-type]  # onnx_ir documents that it may be one
            ir_version=model.ir_version,
            functions=list(model.functions.values()),
            metadata_props=model.metadata_props,
        )
    )
    for old, new in zip(cuts, part.graph.inputs[len(graph.inputs) :], strict=True):
        new.const_value = None
        _declare(new, known[old])
    for old, new in zip(outputs, part.graph.outputs, strict=True):
        if new.type is None:
            _declare(new, known.get(old))
    remove_dead([node for node in part.graph if node.op_type == "Constant"])
    return part


def _by_name(values: Iterable[ir.Value]) -> list[ir.Value]:
    return sorted(values, key=lambda value: value.name or "")


def _declare(value: ir.Value, declared: Declared | None) -> None:
    if declared is not None:
        value.type, value.shape = ir.TensorType(declared.dtype), ir.Shape(declared.dims)
