"""Nodes that only move elements: the inputs that they move, and the axes that they keep whole."""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.scope import Scope
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter, is_scatter, lift_scatter
from onnx_scatterx.optimizer.symbolic.terms import coord

_FIRST = "Expand Gather GatherElements Identity Reshape Slice Squeeze Transpose Unsqueeze"
_OPERANDS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_FIRST.split(), (0,)),
    **dict.fromkeys(("Scatter", "ScatterElements", "ScatterND"), (0, 2)),
    "TensorScatter": (0, 1),
    "Where": (1, 2),
}


def operands_of(node: ir.Node) -> list[int]:
    """Return the places of the inputs that a node moves; none if it moves no elements.

    A scatter with a reduction is treated as one without.
    """
    if node.domain != "":
        return []
    if node.op_type == "Concat":
        return list(range(len(node.inputs)))
    return [i for i in _OPERANDS.get(node.op_type, ()) if i < len(node.inputs)]


def moves(node: ir.Node, place: int) -> bool:
    """Return whether a node moves the elements of an input."""
    if node.op_type == "Concat" and node.domain == "":
        return True  # it may have many inputs
    return place in operands_of(node)


def whole_axes(node: ir.Node, place: int, scope: Scope) -> list[int]:
    """Return, for each axis of the output, the axis of an input whose coordinate it keeps.

    -1 if there is no such axis, an empty list if nothing is known.
    """
    values = scope.values
    ranks = [values[v].rank if v in values else None for v in (node.inputs[place], node.outputs[0])]
    rank = ranks[0]
    if rank is None or ranks[1] is None:
        return []
    straight = list(range(rank))
    if node.op_type == "Transpose":
        perm = node.attributes.get("perm")
        return straight[::-1] if perm is None else list(perm.as_ints())
    if node.op_type == "Concat":
        along = node.attributes["axis"].as_int() % max(rank, 1)
        return [-1 if d == along else d for d in straight]
    if node.op_type == "Identity" or (is_scatter(node) and place == 0):
        return straight
    scatter = lift_scatter(node, scope) if is_scatter(node) else None
    if not isinstance(scatter, Scatter):
        return []
    coords = [coord(d) for d in range(len(scatter.shape))]
    return [coords.index(t) if t in coords else -1 for t in scatter.index_exprs]
