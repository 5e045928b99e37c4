"""Which write of a module a kept scatter may be: the recipe for the module is chosen by it.

x[mask] = value      the positions are those of a NonZero, and one row of updates is repeated
x[mask] = rows       the positions are those of a NonZero, and the updates are packed
x[:, at] = step      one unknown position
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import ElementOf, Scope, Shape
from onnx_scatterx.engine.lift import Scatter
from onnx_scatterx.operators import described
from onnx_scatterx.tell.builder import NodeRecord
from onnx_scatterx.tell.entries import ScatterReport
from onnx_scatterx.text import Reason, Recipe, recipe

_STEPS = 16  # nodes above the updates


def recipe_for(record: NodeRecord, reason: Reason) -> Recipe | None:
    """Return what to write in the module in place of a kept scatter; None if nothing fits."""
    if not isinstance(record.entry, ScatterReport):
        return None
    return recipe(reason, record.entry.reduction, _written_by(record))


def _written_by(record: NodeRecord) -> str:
    """Return the recipe's word for the positions of a scatter; empty if no write is known."""
    scatter = None if record.in_theory is None else record.in_theory.access
    if not isinstance(scatter, Scatter):
        return ""
    read = [set(map(ElementOf.read_by, expr.leaves())) - {None} for expr in scatter.index_exprs]
    unknown = [e for e, tensors in zip(scatter.index_exprs, read, strict=True) if tensors]
    made = [v.producer() for tensors in read for v in tensors if v is not None]
    if made and all(node is not None and node.op_type == "NonZero" for node in made):
        return "mask" if _is_repeated(scatter.updates, record.scope) else "rows"
    return "step" if len(unknown) == 1 and not unknown[0].coords else ""


def _is_repeated(updates: ir.Value | None, scope: Scope) -> bool:
    """Return whether all rows of the updates are one row, which is repeated."""
    for _ in range(_STEPS):
        node = None if updates is None else updates.producer()
        if node is None or not node.inputs:  # an input, a constant, or a node that is removed
            return False
        if node.op_type == "Expand":
            row, wide = (_shape(value, scope) for value in (node.inputs[0], node.outputs[0]))
            if row is None or wide is None:
                return False
            if len(row) < len(wide) or (row and row[0].constant == 1):
                return True
        elif tuple(described(node).moves) != (0,):
            return False
        updates = node.inputs[0]
    return False


def _shape(value: ir.Value | None, scope: Scope) -> Shape | None:
    known = None if value is None else scope.values.get(value)
    return None if known is None else known.shape
