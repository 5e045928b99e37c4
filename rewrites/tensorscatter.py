"""A cache write is a TensorScatter, if the target has that operator.

    before   y = Transpose(ScatterND(Transpose(cache), [[p], ..., [p + n - 1]], Transpose(u)))
    after    y = TensorScatter(cache, u, p)

Holds if rows are written one after another along an axis behind the first (``window``), all other
axes in full, in a model of operator set 24. The start is taken modulo the size and the mode is
circular if the start may be negative, if the updates may be empty (then the start may have any
value), or if the indices wrap around: the rows continue from the end to the start as negative
indices do. If the start depends on sizes alone, slices are written instead.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.graphs import made_by
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.rewrites.dynamic_window import Window, window_of
from onnx_scatterx.text.reasons import Reason, Refusal

_INT64 = ir.DataType.INT64
_SINCE = 24


class TensorScatterRule(ScatterRule):
    """Rewrites cache writes."""

    name = "tensorscatter"
    has_priority = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        if not context.target.has("TensorScatter") or scatter.node.op_type == "TensorScatter":
            return Refusal(Reason.NO_RULE)
        window = window_of(scatter, context)
        if window is None or scatter.reduction != "none" or not _only_the_run_knows(window):
            return Refusal(Reason.NO_RULE)
        w, numbers, facts = context.writer, context.numbers, scatter.facts
        if w.version < _SINCE:
            return Refusal(Reason.OPSET, f"TensorScatter needs operator set {_SINCE}")
        cache, perm = _behind(scatter, context)
        size = scatter.data_shape[window.axis]
        if perm[window.axis] == 0:
            return Refusal(Reason.NO_RULE)  # the first axis is the batch
        if not window.shared and [perm[c] for c in window.start.places] != [0]:
            return Refusal(Reason.NO_RULE)
        if not (facts.is_nonnegative(size - window.count) or _is_checked(scatter, window)):
            return Refusal(Reason.MAY_COLLIDE, f"more rows than axis {window.axis} has positions")
        linear = _counts_up(scatter, window) and all(
            facts.is_nonnegative(scatter.shape[d] - 1) for d in scatter.index_dims
        )
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


def _only_the_run_knows(window: Window) -> bool:
    """Return whether the start is not a known number and depends on more than sizes."""
    return any(leaf.parts or leaf.low < 0 for leaf in window.origin.leaves())


def _is_checked(scatter: Scatter, window: Window) -> bool:
    """Return whether the original checks that there are at most as many rows as positions.

    If rows start at 0 or later and all lie within the axis, there are at most as many.
    """
    others = [d for d in scatter.index_dims if d != window.axis]
    nonempty = all(scatter.facts.is_nonnegative(scatter.shape[d] - 1) for d in others)
    return _counts_up(scatter, window) and nonempty


def _counts_up(scatter: Scatter, window: Window) -> bool:
    """Return whether rows run from 0 or later towards the end, without wrapping around."""
    return scatter.nonnegative[window.axis] and not window.round


def _behind(scatter: Scatter, context: Context) -> tuple[ir.Value, list[int]]:
    """Return the input of the data's Transpose, and its perm; else the data itself."""
    same = list(range(len(scatter.data_shape)))
    node = made_by(scatter.data, "Transpose")
    if node is None or node.graph is not context.provenance.graph:
        return scatter.data, same
    perm = node.attributes.get("perm")
    (cache,) = node.inputs
    if cache is None or (perm is not None and perm.is_ref()):
        return scatter.data, same
    return cache, same[::-1] if perm is None else list(perm.as_ints())


def _start(scatter: Scatter, window: Window, linear: bool, context: Context) -> ir.Value:
    """Write the start of the rows: a vector of one number, or one number for each batch element."""
    w, size = context.writer, scatter.data_shape[window.axis]
    start = window.start.write()
    if window.start.dtype != _INT64:
        start = w.node("Cast", [start], _INT64, to=_INT64.value)
    if window.shared:
        start = w.node("Reshape", [start, w.constant([1])], _INT64)
    if linear:
        return start
    ring = context.numbers.vector(size)
    if not scatter.facts.is_nonnegative(size - 1):
        ring = w.node("Max", [ring, w.constant([1])], _INT64)  # no division by 0
    return w.node("Mod", [start, ring], _INT64)


tensorscatter = TensorScatterRule()
