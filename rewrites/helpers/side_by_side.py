"""Data and updates side by side, and updates that are written one after the other.

    x = Where(hit[k], x reduced with u[k], x)     for k = 0, 1, ..., hit[k] is i[k] == Range(P)

This is what a scatter does on one thread, whatever the reduction. ONNX Runtime's Where makes 0 of a
-0. Sums and products of float16 are refused, as runtimes compute a chain of them without rounding
each.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.rules import Reducer
from onnx_scatterx.rewrites.helpers.search import Search, matches

_BOOL = ir.DataType.BOOL
_CHAINED = 16  # updates that are written one after the other


def hit_of(search: Search) -> ir.Value:
    """Write which update has which position, [l..., P, N, r...]."""
    hit, _ = matches(search, padded=False)
    behind = len(search.layout.right) if search.positions.shared else 0
    return search.context.writer.axes("Unsqueeze", hit, _BOOL, [2 + d for d in range(behind)])


def updates_of(search: Search) -> ir.Value:
    """Write the updates, [L..., 1, N, R...]."""
    layout, context = search.layout, search.context
    u = layout.update(context)
    return context.writer.axes("Unsqueeze", u, search.scatter.dtype, [layout.middle])


def side_by_side(search: Search) -> tuple[ir.Value, ir.Value, ir.Value]:
    """Write which update has which position; data and updates of this rank."""
    layout, context = search.layout, search.context
    hit, x = hit_of(search), layout.data(context)
    x = context.writer.axes("Unsqueeze", x, search.scatter.dtype, [layout.middle + 1])
    return hit, x, updates_of(search)


def are_few(search: Search) -> bool:
    """Return whether updates can be written one after the other."""
    count, dtype = search.layout.updates.constant, search.scatter.dtype
    rounds = search.scatter.reduction in ("add", "mul") and dtype in (
        ir.DataType.FLOAT16,
        ir.DataType.BFLOAT16,
    )
    return count is not None and 0 < count <= _CHAINED and not rounds


def one_by_one(search: Search) -> ir.Value:
    """Write all updates, which are few, one after the other."""
    hit, x, u = side_by_side(search)
    w, s, layout = search.context.writer, search.scatter, search.layout
    axis = layout.middle + 1
    hit_axis = 1 if search.positions.shared else axis
    count, reducer = layout.updates.constant, Reducer(w, s.reduction, s.dtype)
    assert count is not None
    for k in range(count):
        here = w.slice(hit, _BOOL, [hit_axis], [k], [k + 1], [1])
        update = w.slice(u, s.dtype, [axis], [k], [k + 1], [1])
        x = reducer.where(here, x, update)
    return layout.back(w.axes("Squeeze", x, s.dtype, [axis]), search.context)
