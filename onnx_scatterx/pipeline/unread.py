"""Constants that nothing reads: those of the original model stay, those of plans go.

ONNX Runtime warns of each when it loads a model.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import onnx_ir as ir

from onnx_scatterx.graphs import Inventory, is_operator, remove_dead


def unread_constants(held: Inventory) -> list[ir.Value]:
    """Return the initializers and the outputs of Constant nodes that nothing reads."""
    stored = [v for g in held.graphs for v in g.initializers.values() if not v.is_graph_input()]
    constants = (n for n in held.of("Constant") if is_operator(n, ("Constant",)))
    made = [v for n in constants for v in n.outputs]
    return [value for value in (*stored, *made) if not (value.uses() or value.is_graph_output())]


def drop_unread(held: Inventory, kept: AbstractSet[str | None]) -> None:
    """Remove the constants that nothing reads, but those of some names."""
    for value in unread_constants(held):
        node = value.producer()
        if value.name in kept:
            continue
        if node is not None:
            remove_dead([node])
        elif value.graph is not None:
            del value.graph.initializers[value.name or ""]
