"""Sorted positions are found by a search: first a block of updates, then an update in the block.

    before   y = ScatterND(x, i, u)            i of N positions that never decrease, x of [P, ...]
    after    grid = Reshape(Pad(i, s*s, greatest), [s, s])         s = ceil(sqrt(N))
             block = max(0, ReduceSum(grid[:, 0] <= Range(P)) - 1)
             end = s*block + ReduceSum(grid[block] <= Range(P))    updates that go to 0 ... p
             y = Gather(Concat(x, u), Where(i[end - 1] == Range(P), P + end - 1, Range(P)))

If integers are added, ``y = x + t[end] - t[end before]`` with the running total t of the updates,
which begins with 0: int64 sums and differences wrap alike.

Holds if it is known or assumed that positions never decrease, and that none is negative. The work
is positions times ``2*s`` instead of positions times updates.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.emit.reduce import iota
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.optimizer.symbolic.search import never_falls
from onnx_scatterx.rewrites.helpers.search import (
    Search,
    allow,
    filled,
    is_small,
    number_of,
    search_of_given,
    taken,
)
from onnx_scatterx.text.reasons import Refusal, refuse_unless

_BOOL, _INT32, _INT64 = ir.DataType.BOOL, ir.DataType.INT32, ir.DataType.INT64
_MOST = 1 << 40  # updates
_LAST = np.array(np.iinfo(np.int64).max)


class SegmentWriteRule(ScatterRule):
    """Rewrites writes to positions that never decrease."""

    reads_all_data = True
    searches = True
    takes_last = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        refuse_unless(_may_rise(scatter))
        number = number_of(scatter, context)
        sums = scatter.reduction == "add" and scatter.dtype in (_INT32, _INT64)
        refuse_unless(sums or number is not None or scatter.reduction == "none")
        search = search_of_given(scatter, context)
        refuse_unless(_is_ordered(search) and not is_small(search.compared, search))
        _, most = scatter.facts.interval(search.layout.updates)
        refuse_unless(most <= _MOST)
        side = math.isqrt(max(int(most), 1) - 1) + 1
        work = allow(search.layout.positions * (2 * side), search)

        def write() -> ir.Value:
            if sums:
                return _added(search, side)
            hit, last, line = _last(search, side)
            if number is not None:
                return filled(search, hit, number)
            w, positions = context.writer, context.numbers.vector(search.layout.positions)
            update = w.node("Add", [last, positions], _INT64)
            return taken(search, w.node("Where", [hit, update, line], _INT64))

        return Plan(write, work)


def _may_rise(scatter: Scatter) -> bool:
    """Return whether an index reads elements of which an order is known."""
    leaves = {leaf for t in scatter.index_exprs for leaf in t.leaves()}
    elements = (scatter.facts.of_elements(leaf) for leaf in leaves)
    return any(known is not None and known.ordered for known in elements)


def _is_ordered(search: Search) -> bool:
    """Return whether the positions are a vector that never decreases, from 0 on."""
    layout, s = search.layout, search.scatter
    if len(layout.axes) != 1 or len(layout.dims) != 1 or not search.positions.shared:
        return False
    (axis,), (dim,) = layout.axes, layout.dims
    return s.nonnegative[axis] and never_falls(s.index_exprs[axis], dim, s.facts)


def _ends(search: Search, side: int) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Write how many updates have targets up to each position, the targets, and all positions.

    The targets are padded with the greatest number to ``side**2``.
    """
    w, numbers, layout = search.context.writer, search.context.numbers, search.layout
    at = search.vector(search.positions.write())
    room = numbers.vector(side**2 - layout.updates)
    at = w.pad(at, _INT64, w.concat([w.constant([0]), room], _INT64, 0), w.constant(_LAST))
    grid = w.node("Reshape", [at, w.constant([side, side])], _INT64)
    line = iota(numbers, layout.positions)
    behind = w.axes("Unsqueeze", w.node("Add", [line, w.constant([1])], _INT64), _INT64, [1])

    def count(x: ir.Value) -> ir.Value:
        less = w.cast(w.node("Less", [x, behind], _BOOL), _BOOL, _INT64)
        return w.reduce("ReduceSum", less, _INT64, 1)

    begun = count(w.node("Gather", [grid, w.constant(np.array(0))], _INT64, axis=1))
    block = w.node("Sub", [begun, w.constant([1])], _INT64)
    block = w.node("Max", [block, w.constant([0])], _INT64)
    inside = count(w.node("Gather", [grid, block], _INT64, axis=0))
    before = w.node("Mul", [block, w.constant([side])], _INT64)
    return w.node("Add", [before, inside], _INT64), at, line


def _last(search: Search, side: int) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Write which positions have updates, the last one of each, and the positions.

    If there is no update in front, -1 takes the last of all, whose target is a later position.
    """
    w = search.context.writer
    end, at, line = _ends(search, side)
    last = w.node("Sub", [end, w.constant([1])], _INT64)
    there = w.node("Gather", [at, last], _INT64, axis=0)
    return w.node("Equal", [there, line], _BOOL), last, line


def _added(search: Search, side: int) -> ir.Value:
    """Write the data and the sums of the updates of each position."""
    w, layout, dtype = search.context.writer, search.layout, search.scatter.dtype
    axis = layout.middle
    end, _, _ = _ends(search, side)
    start = w.concat([w.constant([0]), w.slice(end, _INT64, [0], [0], [-1], [1])], _INT64, 0)
    updates = layout.update(search.context)
    total = w.node("CumSum", [updates, w.constant(np.array(axis))], dtype)
    pads = [0] * (2 * layout.rank)
    pads[axis] = 1
    zero = w.constant(np.array(0, dtype.numpy()), dtype)
    total = w.pad(total, dtype, w.constant(pads), zero)
    ends = (w.node("Gather", [total, at], dtype, axis=axis) for at in (end, start))
    sums = w.node("Sub", list(ends), dtype)
    new = w.node("Add", [layout.data(search.context), sums], dtype)
    return layout.back(new, search.context)
