"""A cache write is a TensorScatter, if the target has that operator.

    before   y = Transpose(ScatterND(Transpose(cache), [[p], ..., [p + n - 1]], Transpose(u)))
    after    y = TensorScatter(cache, u, p)

Holds if rows are written one after another along an axis behind the first (``window``), all other
axes in full, in a model of operator set 24. The start is taken modulo the size and the mode is
circular if the start may be negative, if the updates may be empty (then the start may have any
value), or if the indices wrap around: the rows continue from the end to the start as negative
indices do. If the start depends on sizes alone, slices are written instead. If the target writes in
place, from an input of the model to an output, the size is a number, and nothing else reads the
cache.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reason,
    Refusal,
    Scatter,
    ScatterRule,
    attribute_of,
    made_by,
    refuse_unless,
)
from onnx_scatterx.rewrites.dynamic_window import Window, window_of

_INT64 = ir.DataType.INT64


class TensorScatterRule(ScatterRule):
    """Rewrites cache writes."""

    has_priority = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        refuse_unless(context.target.has("TensorScatter"))
        refuse_unless(scatter.node.op_type != "TensorScatter")
        window = window_of(scatter, context)
        refuse_unless(scatter.reduction == "none" and _only_the_run_knows(window))
        w, numbers, facts = context.writer, context.numbers, scatter.facts
        w.require("TensorScatter")
        cache, perm = _behind(scatter, context)
        size = scatter.data_shape[window.axis]
        inner = context.target.limits_of("TensorScatter").inner
        refuse_unless(inner or (size.constant is not None and _is_bound(scatter, cache, perm)))
        refuse_unless(perm[window.axis] != 0)  # the first axis is the batch
        refuse_unless(window.shared or [perm[c] for c in window.start.axes] == [0])
        # If rows start at 0 or later and all lie within the axis, there are no more.
        counts_up = scatter.nonnegative[window.axis] and not window.round
        few = facts.is_nonnegative(size - window.count) or (
            counts_up and scatter.is_checked((window.axis,))
        )
        why = f"more rows than axis {window.axis} has positions"
        refuse_unless(few, Reason.MAY_COLLIDE, why)
        linear = counts_up and scatter.is_checked()
        batch = scatter.data_shape[perm.index(0)]

        def write() -> ir.Value:
            start = _start(scatter, window, linear, context)
            if window.shared:
                start = w.node("Expand", [start, numbers.vector(batch)], _INT64)
            back = [perm.index(c) for c in range(len(perm))]
            u = w.transpose(scatter.updates, scatter.dtype, back)
            mode = "linear" if linear else "circular"
            axis = perm[window.axis]
            inputs = [cache, u, start]
            x = w.node("TensorScatter", inputs, scatter.dtype, axis=axis, mode=mode)
            return w.transpose(x, scatter.dtype, perm)

        return Plan(write)


def _is_bound(scatter: Scatter, cache: ir.Value, perm: list[int]) -> bool:
    """Return whether a cache goes from a graph input to an output, and nothing else reads it.

    What reads its shape reads no element.
    """
    read, end = scatter.node, scatter.node.outputs[0]
    if cache is not scatter.data:
        (read,) = (use.node for use in cache.uses() if use.node.outputs[0] is scatter.data)
        (back, *more) = [use.node for use in end.uses()] or [read]
        order = list(attribute_of(back, "perm", ()) or ())
        inverse = [perm.index(c) for c in range(len(perm))]
        if more or end.is_graph_output() or back.op_type != "Transpose" or order != inverse:
            return False
        end = back.outputs[0]
    others = [u.node for u in cache.uses() if u.node is not read and u.node.op_type != "Shape"]
    return cache.is_graph_input() and not others and end.is_graph_output()


def _only_the_run_knows(window: Window) -> bool:
    """Return whether the start is not a known number and depends on more than sizes."""
    return any(leaf.parts or leaf.low < 0 for leaf in window.origin.leaves())


def _behind(scatter: Scatter, context: Context) -> tuple[ir.Value, list[int]]:
    """Return the input of the data's Transpose, and its perm; else the data itself."""
    same = list(range(len(scatter.data_shape)))
    node = made_by(scatter.data, "Transpose")
    if node is None or node.graph is not context.graph:
        return scatter.data, same
    (cache,), perm = node.inputs, list(attribute_of(node, "perm", same[::-1]) or ())
    return (scatter.data, same) if cache is None or sorted(perm) != same else (cache, perm)


def _start(scatter: Scatter, window: Window, linear: bool, context: Context) -> ir.Value:
    """Write the start of the rows: a vector of one number, or one number for each batch element."""
    w, size = context.writer, scatter.data_shape[window.axis]
    start = w.cast(window.start.write(), window.start.dtype, _INT64)
    if window.shared:
        start = w.node("Reshape", [start, w.constant([1])], _INT64)
    if linear:
        return start
    return w.node("Mod", [start, context.numbers.divisor(size, scatter.facts)], _INT64)
