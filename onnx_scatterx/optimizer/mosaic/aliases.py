"""The values of a graph that are views of a source, and the nodes that exist for each alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.optimizer.mosaic.existing_view import ExistingView, ExistingViews
from onnx_scatterx.optimizer.mosaic.moves import MOVES
from onnx_scatterx.optimizer.mosaic.regions import View
from onnx_scatterx.optimizer.symbolic.limits import LIMITS

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.mosaic.provenance import Provenance


def existing_views(provenance: Provenance) -> ExistingViews:
    """Return, for each source, the values of the graph that are views of it.

    A view that is kept for other readers costs nothing. Another costs the nodes that exist for it
    alone.
    """
    found: dict[ir.Value, list[ExistingView]] = {}
    kept: set[ir.Value] = set()
    for node in reversed(list(provenance.graph)):
        if node.op_type not in MOVES:
            continue  # whether its outputs are kept is never asked
        is_move = node.domain == ""
        for value in node.outputs:
            readers = [use.node for use in value.uses()]
            if value.is_graph_output() or any(_keeps(provenance, r, kept) for r in readers):
                kept.add(value)
            if not is_move or value in provenance.absorbed:
                continue
            mosaic = provenance.mosaic(value)
            if mosaic is None or len(mosaic.cells) != 1:
                continue
            view = mosaic.cells[0].source
            if isinstance(view, View) and view.value is not value:
                cost = 0 if value in kept else _nodes_for(provenance, node)
                alias = ExistingView(value, mosaic.shape, view, cost)
                found.setdefault(view.value, []).append(alias)
    return found


def _nodes_for(provenance: Provenance, node: ir.Node) -> int:
    """Return how many nodes are removed when nothing reads a node any more (up to a limit)."""
    removed, stack = {node}, [node]
    while stack and len(removed) < LIMITS.chain:
        for value in stack.pop().inputs:
            producer = None if value is None else value.producer()
            if producer is None or producer in removed or producer.graph is not provenance.graph:
                continue
            readers = [u.node for v in producer.outputs for u in v.uses()]
            outputs = any(v.is_graph_output() for v in producer.outputs)
            if not outputs and all(r in removed or _is_removed(provenance, r) for r in readers):
                removed.add(producer)
                stack.append(producer)
    return len(removed)


def _is_removed(provenance: Provenance, reader: ir.Node) -> bool:
    return any(v in provenance.absorbed for v in reader.outputs)


def _keeps(provenance: Provenance, reader: ir.Node, kept: set[ir.Value]) -> bool:
    """Return whether a reader must be kept: it is not a removable move, and not its Shape."""
    if reader.graph is not provenance.graph:
        return True
    if _is_removed(provenance, reader) or reader.op_type == "Shape":
        return False
    return reader.op_type not in MOVES or any(v in kept for v in reader.outputs)
