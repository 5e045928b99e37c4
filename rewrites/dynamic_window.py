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

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reason,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    Term,
    coord,
    only,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.search import Positions, positions

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

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        window = window_of(scatter, context)
        size = scatter.data_shape[window.axis]
        few = scatter.reduction == "none" or scatter.facts.is_nonnegative(size - window.count)
        why = f"more rows than axis {window.axis} has positions"
        refuse_unless(few, Reason.MAY_COLLIDE, why)
        return Plan(lambda: _write(scatter, window, context))


def window_of(scatter: Scatter, context: Context) -> Window:
    """Return the window that a scatter writes, or refuse if it writes none.

    All other axes are written in full, each along the dim of the updates in its own place.
    """
    rank = len(scatter.data_shape)
    refuse_unless(len(scatter.shape) == rank)
    axis = only([c for c in range(rank) if not scatter.in_place(c)])
    count, target = scatter.shape[axis], scatter.index_exprs[axis]
    unwrapped = scatter.around(axis)
    goes_round = unwrapped is not None
    target = target if unwrapped is None else unwrapped
    start = target if count.constant == 1 else target - coord(axis)
    refuse_unless(axis not in start.coords)
    along = {d: d for d in range(rank) if d != axis}
    start_tensor = positions(start, axis, along, scatter, context)
    return Window(axis, start, start_tensor, not start.coords, goes_round, count)


def _may_wrap(window: Window, scatter: Scatter) -> bool:
    """Return whether the position of the last row might overflow int64.

    The original checks an index that does not wrap around.
    """
    narrow = window.start.dtype != _INT64 or scatter.facts.magnitude(window.origin) < _FAR
    return window.round and not narrow


def _write(scatter: Scatter, window: Window, context: Context) -> ir.Value:
    w, dtype, axis = context.writer, scatter.dtype, window.axis
    rank = len(scatter.data_shape)
    hit, rows = _rows(scatter, window, context)
    both = w.concat([scatter.data, scatter.updates], dtype, axis)
    shape = None if window.shared else scatter.data_shape
    new = context.numbers.take(both, rows, dtype, axis, shape)
    if scatter.reduction == "none":
        return new
    if window.shared:
        hit = w.axes("Unsqueeze", hit, _BOOL, list(range(1, rank - axis)))
    return Reducer(w, scatter.reduction, dtype).where(hit, scatter.data, new)


def _rows(scatter: Scatter, window: Window, context: Context) -> tuple[ir.Value, ir.Value]:
    """Return where a row is written, and which row of data and updates each position takes.

    Both are vectors over the axis if the start is shared, else tensors of the data's rank.
    """
    w, numbers, axis = context.writer, context.numbers, window.axis
    rank = len(scatter.data_shape)
    others = [] if window.shared else [d for d in range(rank) if d != axis]
    size, count = (numbers.vector(n) for n in (scatter.data_shape[axis], window.count))
    line = numbers.positions(scatter.data_shape[axis])
    last = numbers.vector(window.count - 1)
    start = w.cast(window.start.write(), window.start.dtype, _INT64)
    if not window.shared:
        start = w.axes("Unsqueeze", start, _INT64, window.start.added(rank))
    elif len(window.start.axes) > 1:
        start = w.node("Reshape", [start, w.constant([1])], _INT64)
    line = w.axes("Unsqueeze", line, _INT64, others)
    divisor = numbers.divisor(scatter.data_shape[axis], scatter.facts)
    if _may_wrap(window, scatter):
        start = w.node("Mod", [start, divisor], _INT64)
    end = w.node("Add", [start, last], _INT64)
    back = w.node("Mod", [w.node("Sub", [end, line], _INT64), divisor], _INT64)
    hit = w.node("Less", [back, count], _BOOL)
    beyond = w.node("Add", [size, last], _INT64)
    taken = w.node("Sub", [beyond, back], _INT64)
    return hit, w.node("Where", [hit, taken, line], _INT64)
