"""A write of n rows from a position that is known only at run time is a Gather of rows.

    before   y = ScatterND(cache, [[p], [p + 1], ..., [p + n - 1]], u), or TensorScatter(cache, u)
    after    r = Mod(p + n - 1 - Range(S), S)
             y = Gather(Concat(cache, u), Where(r < n, S + n - 1 - r, Range(S)))

Indices count from the start or, if negative, from the end. A circular TensorScatter wraps around.
In each case the n rows lie on the ring of the S positions, and r counts back from the last of them.
A start that wraps around may be any number: ``Mod(p, S)`` replaces it if ``p + n - 1`` might
overflow int64. If there are more rows than positions, the last one wins. There may be one start for
all, or one for each row of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.overflow import magnitude
from onnx_scatterx.optimizer.emit.reduce import iota, reduced, reducers, select, take
from onnx_scatterx.optimizer.lift.canonical import modulus_of
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.optimizer.symbolic.terms import Term, coord, dim_of
from onnx_scatterx.rewrites.helpers.search import Positions, positions
from onnx_scatterx.text.reasons import Reason, Refusal

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_FAR = 2**62  # a number nearer to 0 may be added to sizes


@dataclass(frozen=True)
class Window:
    """Rows that are written one after another along an axis, on the ring of its positions.

    ``start`` is the position of the first row, ``origin`` the same as a term. If ``shared``, it is
    one number for all. If the indices themselves wrap around (``round``), it may be any number.
    """

    axis: int
    origin: Term
    start: Positions
    shared: bool
    round: bool
    count: Term


class DynamicWindowRule(ScatterRule):
    """Rewrites writes of consecutive rows."""

    name = "dynamic_window"
    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        window = window_of(scatter, context)
        if window is None:
            return Refusal(Reason.NO_RULE)
        axis, size = window.axis, scatter.data_shape[window.axis]
        if scatter.reduction != "none" and not scatter.facts.is_nonnegative(size - window.count):
            return Refusal(Reason.MAY_COLLIDE, f"more rows than axis {axis} has positions")
        w, dtype = context.writer, scatter.dtype
        ops = reducers(w, scatter.reduction, dtype)

        def write() -> ir.Value:
            return _write(scatter, window, ops, context)

        return Plan(write)


def window_of(scatter: Scatter, context: Context) -> Window | None:
    """Return the window that a scatter writes, or None if it writes none.

    All other axes are written in full, each along the dim of the updates in its own place.
    """
    rank = len(scatter.data_shape)
    if len(scatter.shape) != rank:
        return None
    full = [
        dim_of(target) == c or (target.constant == 0 and scatter.shape[c].constant == 1)
        for c, target in enumerate(scatter.index_exprs)
    ]
    pairs = zip(scatter.shape, scatter.data_shape, strict=True)
    whole = [f and scatter.facts.equal(n, s) for f, (n, s) in zip(full, pairs, strict=True)]
    rest = [c for c in range(rank) if not whole[c]]
    if len(rest) != 1:
        return None
    (axis,) = rest
    size, count = scatter.data_shape[axis], scatter.shape[axis]
    target = scatter.index_exprs[axis]
    ring = modulus_of(target)
    goes_round = ring is not None and scatter.facts.equal(ring[1], size)
    if ring is not None and goes_round:
        target = ring[0]
    start = target if count.constant == 1 else target - coord(axis)
    if axis in start.coords:
        return None
    along = {d: d for d in range(rank) if d != axis}
    found = positions(start, axis, along, scatter, context)
    if found is None:
        return None
    return Window(axis, start, found, not start.coords, goes_round, count)


def _may_wrap(window: Window, scatter: Scatter) -> bool:
    """Return whether the position of the last row might overflow int64.

    The original checks an index that does not wrap around.
    """
    narrow = window.start.dtype != _INT64 or magnitude(window.origin, scatter.facts) < _FAR
    return window.round and not narrow


def _write(scatter: Scatter, window: Window, ops: tuple[str, ...], context: Context) -> ir.Value:
    w, dtype, axis = context.writer, scatter.dtype, window.axis
    rank = len(scatter.data_shape)
    hit, rows = _rows(scatter, window, context)
    both = w.concat([scatter.data, scatter.updates], dtype, axis)
    new = take(
        context.numbers, both, rows, dtype, axis, None if window.shared else scatter.data_shape
    )
    if not ops:
        return new
    if window.shared:
        hit = w.axes("Unsqueeze", hit, _BOOL, list(range(1, rank - axis)))
    new = reduced(w, ops, scatter.data, new, dtype)
    return select(w, hit, new, scatter.data, dtype)


def _rows(scatter: Scatter, window: Window, context: Context) -> tuple[ir.Value, ir.Value]:
    """Return where a row is written, and which row of data and updates each position takes.

    Both are vectors over the axis if the start is shared, else tensors of the data's rank.
    """
    w, numbers, axis = context.writer, context.numbers, window.axis
    rank = len(scatter.data_shape)
    others = [] if window.shared else [d for d in range(rank) if d != axis]
    size, count = (numbers.vector(n) for n in (scatter.data_shape[axis], window.count))
    line = iota(numbers, scatter.data_shape[axis])
    last = numbers.vector(window.count - 1)
    start = window.start.write()
    if window.start.dtype != _INT64:
        start = w.node("Cast", [start], _INT64, to=_INT64.value)
    if window.shared:
        if len(window.start.places) > 1:
            start = w.node("Reshape", [start, w.constant([1])], _INT64)
    else:
        start = w.axes("Unsqueeze", start, _INT64, window.start.added(rank))
    line = w.axes("Unsqueeze", line, _INT64, others)
    ring = size
    if not scatter.facts.is_nonnegative(scatter.data_shape[axis] - 1):
        ring = w.node("Max", [size, w.constant([1])], _INT64)  # no division by 0
    if _may_wrap(window, scatter):
        start = w.node("Mod", [start, ring], _INT64)
    end = w.node("Add", [start, last], _INT64)
    back = w.node("Mod", [w.node("Sub", [end, line], _INT64), ring], _INT64)
    hit = w.node("Less", [back, count], _BOOL)
    beyond = w.node("Add", [size, last], _INT64)
    taken = w.node("Sub", [beyond, back], _INT64)
    return hit, w.node("Where", [hit, taken, line], _INT64)


dynamic_window = DynamicWindowRule()
