"""The values of a graph that need a mosaic: those that scatters and moves connect."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import onnx_ir as ir

from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter


def _moves_all(node: ir.Node) -> bool:
    return node.op_type == "Concat" or is_scatter(node)  # indices too: they do no harm


def moved_inputs(node: ir.Node) -> Iterable[ir.Value]:
    """Return the inputs whose elements an operator that moves elements, or a scatter, moves."""
    moved = node.inputs if _moves_all(node) else node.inputs[:1]
    return [v for v in moved if v is not None]


def connected_moves(graph: ir.Graph, moves: Collection[str]) -> set[ir.Node]:
    """Return the scatters of a graph and the nodes that move the elements that they write or read.

    That is every move before or after them, and every other view of the tensors they start from: no
    plan for a scatter depends on the rest. ``moves`` are the operators that move elements.
    """

    def is_move(node: ir.Node) -> bool:
        return node.op_type in moves and node.domain == "" and node.graph is graph

    found = {n for n in graph if is_scatter(n)}
    stack = list(found)
    seen: set[ir.Value] = set()
    while stack:
        node = stack.pop()
        for value in (*moved_inputs(node), *node.outputs):
            if value in seen:
                continue
            seen.add(value)
            near = [node for node, place in value.uses() if place == 0 or _moves_all(node)]
            producer = value.producer()
            if producer is not None:
                near.append(producer)
            fresh = {n: None for n in near if n not in found and is_move(n)}
            found.update(fresh)
            stack += fresh
    return found
