"""The nodes of a graph that a part has, and its cuts: around one node, out to some distance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import read_by
from onnx_scatterx.ir.graphs import graphs_of


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
    near = _near(graph, roots, distance, owners_in(graph))
    found, cuts = set(near), set[ir.Value]()
    waiting = list(near)
    while waiting:
        node = waiting.pop()
        for value in read_by(node):
            producer = value.producer()
            if producer is None or producer.graph is not graph or producer in found:
                continue
            if may_cut(value):
                cuts.add(value)
            else:
                found.add(producer)
                waiting.append(producer)
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
            before = (value.producer() for value in read_by(node))
            around |= {n for n in before if n is not None and n.graph is graph}
            around |= {n for v in node.outputs for n in readers(v, graph, owners)}
        edge = around - found
        found = found | edge
    return found


def readers(value: ir.Value, graph: ir.Graph, owners: Mapping[ir.Graph, ir.Node]) -> list[ir.Node]:
    """Return the nodes of a graph that read a value, by themselves or in their subgraphs."""
    found = (top_level(use.node, graph, owners) for use in value.uses())
    return [node for node in found if node is not None]


def owners_in(graph: ir.Graph) -> dict[ir.Graph, ir.Node]:
    """Return for each subgraph the node of the graph in which it stands, at any depth."""
    found: dict[ir.Graph, ir.Node] = {}
    for node in graph:
        waiting = graphs_of(node)
        while waiting:
            body = waiting.pop()
            found[body] = node
            waiting += [deeper for inner in body for deeper in graphs_of(inner)]
    return found


def top_level(node: ir.Node, graph: ir.Graph, owners: Mapping[ir.Graph, ir.Node]) -> ir.Node | None:
    """Return the node of a graph in which another one stands, or that node itself."""
    if node.graph is graph:
        return node
    return owners.get(node.graph) if isinstance(node.graph, ir.Graph) else None
