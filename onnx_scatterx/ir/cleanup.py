"""Removing nodes that nothing reads any more, with the chains and constants that only they read."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.ir.graphs import graphs_of, nodes_within


def read_by(node: ir.Node) -> list[ir.Value]:
    """Return the values that a node reads, those that its subgraphs capture included."""
    read = [v for v in node.inputs if v is not None]
    for body in graphs_of(node):
        read += [v for inner in nodes_within(body) for v in inner.inputs if v is not None]
        read += [v for v in body.outputs if v is not None]
    return read


def remove_dead(nodes: Sequence[ir.Node]) -> None:
    """Remove the nodes whose outputs are not read, and then the nodes that only they read."""
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.graph is None or any(v.uses() or v.is_graph_output() for v in node.outputs):
            continue
        read = read_by(node)
        for body in graphs_of(node):
            _dismantle(body)
        node.graph.remove(node, safe=True)
        for value in read:
            producer = value.producer()
            if producer is not None:
                stack.append(producer)
            elif value.is_initializer() and not (
                value.uses() or value.is_graph_input() or value.is_graph_output()
            ):
                assert value.graph is not None
                value.graph.initializers.pop(value.name or "", None)


def _dismantle(graph: ir.Graph) -> None:
    """Take the nodes out of a graph, so that they read nothing any more."""
    graph.outputs.clear()
    for node in reversed(list(graph)):
        for body in graphs_of(node):
            _dismantle(body)
        graph.remove(node, safe=True)
