"""A write at computed positions samples an image of data and updates: each row the nearest one.

    before   y = ScatterND(x, i, u)                          i of shape [N, 1], x of [P, ...]
    after    row[p] = P + k                                  k the last update with i[k] == p, or
             row[p] = p                                      if no update has this position
             y = GridSample(Concat(x, u), row, mode="nearest")

It is for a target that takes GridSample, but no Where, and no Gather from computed data. Such a
target often has no integers, so the rows are computed from floats. A position p is inside of n rows
from a start s if this is 1, and not 0:

    inside(s, n) = Clip(p - s + 1, 0, 1) * Clip(n - (p - s), 0, 1)

Rows from a start on, in their order (``dynamic_window``), and at most 16 updates one after the
other, by the floats f of their indices, are

    row = p + (P - s) * inside(s, N)
    row = row + (P + k - row) * inside(f[k], 1)              for k = 0, 1, ...

All numbers are less than 2^24, so they are exact. Holds as ``dense_write`` does, if sizes are
known, the elements are floats, and all elements of a row of the data share their indices. Rows that
begin at a start need one that is not negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    as_numbers,
    attempt,
    granted,
    is_lacked,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.dynamic_window import Window, window_of
from onnx_scatterx.rewrites.helpers.arrangement import Arrangement, arranged
from onnx_scatterx.rewrites.helpers.search import Search, search_of_own
from onnx_scatterx.rewrites.helpers.side_by_side import are_few

_FLOAT, _INT64 = ir.DataType.FLOAT, ir.DataType.INT64


class SampledWriteRule(ScatterRule):
    """Rewrites writes of a few rows, or of a window, for a target that samples images."""

    reads_all_data = True
    searches = True
    takes_last = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        w, target = context.writer, context.target
        refuse_unless(_reads_nearest(context) and scatter.dtype == _FLOAT)
        refuse_unless(is_lacked(scatter.node, target) and scatter.reduction == "none")
        sizes = granted(as_numbers((*scatter.data_shape, *scatter.shape)))
        layout = arranged(scatter, apart=False)
        height = layout.positions + layout.updates
        refuse_unless(0 not in sizes and scatter.facts.is_nonnegative(w.most_rows - height))
        refuse_unless(not context.collides(scatter))
        rows = _rows_of(scatter, layout, context)
        return Plan(lambda: _sampled(layout, rows(), context))


def _reads_nearest(context: Context) -> bool:
    """Return whether the target may take a GridSample of the nearest pixel."""
    refused = context.target.limits_of("GridSample").refused
    has = context.target.has("GridSample") and context.writer.has("GridSample")
    return has and not any("nearest" in dict(use.attributes).get("mode", ()) for use in refused)


def _rows_of(scatter: Scatter, layout: Arrangement, context: Context) -> Callable[[], ir.Value]:
    """Return what writes the floats of the row of each position, twice: [1, P, 1, 2]."""
    window = attempt(partial(window_of, scatter, context))
    if (
        layout.updates.constant != 1  # one row takes fewer nodes below
        and isinstance(window, Window)
        and window.shared
        and not window.round
        and scatter.facts.is_nonnegative(window.origin)
    ):
        return partial(_rows_of_window, layout, window, context)
    search = search_of_own(scatter, context)
    refuse_unless(search.positions.shared and are_few(search))
    return partial(_rows_of_few, search)


def _sampled(layout: Arrangement, rows: ir.Value, context: Context) -> ir.Value:
    """Write data and updates as one image, [1, columns, P + N, 1], and sample it."""
    w, numbers, s = context.writer, context.numbers, layout.scatter
    aside = (*layout.left, *layout.right)
    axes, dims = [*(c for c, _ in aside), *layout.axes], [*(d for _, d in aside), *layout.dims]
    split, sizes = tuple(s.data_shape[c] for c in axes), tuple(s.shape[d] for d in dims)
    columns = math.prod(split[: len(aside)], start=term(1))
    shapes = [(term(1), columns, n, term(1)) for n in (layout.positions, layout.updates)]
    x = numbers.reshape(w.transpose(s.data, _FLOAT, axes), _FLOAT, split, shapes[0], s.facts)
    u = numbers.reshape(w.transpose(s.updates, _FLOAT, dims), _FLOAT, sizes, shapes[1], s.facts)
    y = w.sampled_rows(w.concat([x, u], _FLOAT, 2), rows, sum(_sizes(layout)))
    y = numbers.reshape(y, _FLOAT, shapes[0], split, s.facts)
    return w.transpose(y, _FLOAT, [axes.index(c) for c in range(len(axes))])


def _sizes(layout: Arrangement) -> tuple[int, int]:
    """Return how many positions and updates there are."""
    return granted(layout.positions.constant), granted(layout.updates.constant)


def _line(layout: Arrangement) -> np.ndarray:
    """Return the numbers of all positions, twice."""
    positions, _ = _sizes(layout)
    return np.arange(positions, dtype=np.float32).repeat(2).reshape(1, positions, 1, 2)


def _rows_of_few(search: Search) -> ir.Value:
    """Look up one update after the other."""
    w, node, line = search.context.writer, _node(search.context), _line(search.layout)
    positions, updates = _sizes(search.layout)
    at = w.cast(search.vector(search.positions.write()), _INT64, _FLOAT)
    row = w.constant(line, _FLOAT)
    for k in range(updates):
        here = _inside(line, w.slice(at, _FLOAT, [0], [k], [k + 1], [1]), 1, node)
        far = node("Sub", positions + k, row) if k else positions - line
        row = node("Add", row, node("Mul", far, here))
    return row


def _rows_of_window(layout: Arrangement, window: Window, context: Context) -> ir.Value:
    """Find the rows of a window by their distance from its start."""
    w, node, line = context.writer, _node(context), _line(layout)
    positions, updates = _sizes(layout)
    start = w.node("Reshape", [window.start.write(), w.constant([1])], window.start.dtype)
    start = w.cast(start, window.start.dtype, _FLOAT)
    here = _inside(line, start, updates, node)
    return node("Add", line, node("Mul", node("Sub", positions, start), here))


def _inside(
    line: np.ndarray, start: ir.Value, count: int, node: Callable[..., ir.Value]
) -> ir.Value:
    """Write 1 where positions are inside of so many rows from a start on, and 0 elsewhere."""
    behind = node("Sub", line, start)
    begun = node("Clip", node("Add", behind, 1), 0, 1)
    return node("Mul", begun, node("Clip", node("Sub", count, behind), 0, 1))


def _node(context: Context) -> Callable[..., ir.Value]:
    """Return what writes a node of floats; numbers and arrays become constants."""
    w = context.writer

    def write(op: str, *inputs: ir.Value | np.ndarray | float) -> ir.Value:
        values = [
            v if isinstance(v, ir.Value) else w.constant(np.asarray(v, np.float32), _FLOAT)
            for v in inputs
        ]
        return w.node(op, values, _FLOAT)

    return write
