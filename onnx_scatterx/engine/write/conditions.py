"""The condition of a Where that is computed from another condition: the Where reads that one.

    Where(Not(m), a, b), Where(Equal(m, False), a, b)    Where(m, b, a), if they are no floats
    Where(Equal(m, True), a, b)                          Where(m, a, b)

Of floats, the two values keep their places: ONNX Runtime's Where loses the sign of a zero of one
operand only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.graphs import constant

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.writer import Writer

_BOOL = ir.DataType.BOOL


def direct_inputs(
    w: Writer, inputs: Sequence[ir.Value | None], dtype: ir.DataType | None
) -> Sequence[ir.Value | None] | None:
    """Return the inputs of an equal Where that reads an earlier condition, or None."""
    condition, a, b = inputs
    may_swap = dtype is not None and (dtype.is_integer() or dtype == _BOOL)
    found, is_swapped = None, False
    while condition is not None and (before := _before(w, condition)) is not None:
        condition, is_opposite = before
        is_swapped ^= is_opposite
        if may_swap or not is_swapped:
            found = (condition, b, a) if is_swapped else (condition, a, b)
    return found


def _before(w: Writer, condition: ir.Value) -> tuple[ir.Value, bool] | None:
    """Return the condition from which another one is computed, and whether it is the opposite.

    They have one shape.
    """
    op, inputs = _node_of(w, condition)
    if op == "Not" and inputs[0] is not None:
        return inputs[0], True
    if op != "Equal":
        return None
    for value, other in (inputs, inputs[::-1]):
        tensor = constant(other, w.overridable)
        if value is None or tensor is None or tensor.dtype != _BOOL or tensor.size != 1:
            continue
        shape = w.shape_of(value)
        if len(tensor.shape) > (0 if shape is None else len(shape)):
            continue
        return value, not bool(tensor.numpy().item())
    return None


def _node_of(w: Writer, value: ir.Value) -> tuple[str, Sequence[ir.Value | None]]:
    """Return the operator and the inputs of the node of the fragment or the graph, or ""."""
    step = w.fragment.by_output.get(value)
    if step is not None:
        return ("", ()) if step.node is not None else (step.op, step.inputs)
    node = value.producer()
    if node is None or node.domain != "":
        return "", ()
    return node.op_type, [v if v is None else w.resolve(v) for v in node.inputs]
