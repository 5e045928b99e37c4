"""Constants that nothing reads: those of the original model stay, those of plans go.

ONNX Runtime warns of each when it loads a model.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import onnx_ir as ir

from onnx_scatterx.graphs.cleanup import remove_dead
from onnx_scatterx.graphs.traversal import all_graphs, is_operator


def unread_constants(model: ir.Model) -> list[ir.Value]:
    """Return the initializers and the outputs of Constant nodes that nothing reads."""
    graphs = all_graphs(model)
    stored = [v for g in graphs for v in g.initializers.values() if not v.is_graph_input()]
    made = [v for g in graphs for n in g if is_operator(n, ("Constant",)) for v in n.outputs]
    return [value for value in (*stored, *made) if not (value.uses() or value.is_graph_output())]


def drop_unread(model: ir.Model, kept: AbstractSet[str | None]) -> None:
    """Remove the constants that nothing reads, but those of some names."""
    for value in unread_constants(model):
        node = value.producer()
        if value.name in kept:
            continue
        if node is not None:
            remove_dead([node])
        elif value.graph is not None:
            del value.graph.initializers[value.name or ""]
