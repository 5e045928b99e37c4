"""A write of a few rows samples an image of the data and the updates: each row the nearest one.

    before   y = ScatterND(x, i, u)                          i of shape [N, 1], x of [P, ...]
    after    row[p] = P + k                                  k the last update with i[k] == p, or
             row[p] = p                                      if no update has this position
             y = GridSample(Concat(x, u), row, mode="nearest")

It is for a target that takes a GridSample, but neither a Where nor a Gather of computed positions.
Such a target often has no integers, so the rows are computed from the floats f of the indices:

    row = P + k - (P + k - row) * Min(Abs([0, 1, ..., P - 1] - f[k]), 1)       for k = 0, 1, ...

All numbers are less than 2^24, so they are exact. Holds as ``dense_write`` does, if sizes are
known, the elements are floats, and all elements of a row of the data share their indices.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Refusal,
    Scatter,
    ScatterRule,
    as_numbers,
    granted,
    is_lacked,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.helpers.search import Search, search_of_own
from onnx_scatterx.rewrites.helpers.side_by_side import are_few

_FLOAT, _INT64 = ir.DataType.FLOAT, ir.DataType.INT64


class SampledWriteRule(ScatterRule):
    """Rewrites writes of a few rows at computed positions for a target that samples images."""

    reads_all_data = True
    searches = True
    takes_last = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        w, target = context.writer, context.target
        refuse_unless(target.has("GridSample") and w.has("GridSample") and scatter.dtype == _FLOAT)
        refuse_unless(is_lacked(scatter.node, target) and scatter.reduction == "none")
        search = search_of_own(scatter, context)
        refuse_unless(search.positions.shared and are_few(search) and not context.collides(scatter))
        sizes = granted(as_numbers((*scatter.data_shape, *scatter.shape)))
        layout = search.layout
        height = layout.positions + layout.updates
        refuse_unless(0 not in sizes and scatter.facts.is_nonnegative(w.most_rows - height))
        return Plan(lambda: _sampled(search))


def _sampled(search: Search) -> ir.Value:
    """Write data and updates as one image, [1, columns, P + N, 1], and sample it."""
    layout, context, s = search.layout, search.context, search.scatter
    w, numbers = context.writer, context.numbers
    aside = (*layout.left, *layout.right)
    axes, dims = [*(c for c, _ in aside), *layout.axes], [*(d for _, d in aside), *layout.dims]
    split, sizes = tuple(s.data_shape[c] for c in axes), tuple(s.shape[d] for d in dims)
    columns = math.prod(split[: len(aside)], start=term(1))
    shapes = [(term(1), columns, n, term(1)) for n in (layout.positions, layout.updates)]
    x = numbers.reshape(w.transpose(s.data, _FLOAT, axes), _FLOAT, split, shapes[0], s.facts)
    u = numbers.reshape(w.transpose(s.updates, _FLOAT, dims), _FLOAT, sizes, shapes[1], s.facts)
    positions, updates = (granted(n.constant) for n in (layout.positions, layout.updates))
    both = w.concat([x, u], _FLOAT, 2)
    y = w.sampled_rows(both, _rows(search), positions + updates)
    y = numbers.reshape(y, _FLOAT, shapes[0], split, s.facts)
    return w.transpose(y, _FLOAT, [axes.index(c) for c in range(len(axes))])


def _rows(search: Search) -> ir.Value:
    """Write the floats of the row of each position, twice: [1, P, 1, 2]."""
    w, positions = search.context.writer, granted(search.layout.positions.constant)
    at = w.cast(search.vector(search.positions.write()), _INT64, _FLOAT)
    line = np.arange(positions, dtype=np.float32).repeat(2).reshape(1, positions, 1, 2)
    row, one = w.constant(line, _FLOAT), w.constant(np.array(1, np.float32), _FLOAT)
    for k in range(granted(search.layout.updates.constant)):
        here = w.slice(at, _FLOAT, [0], [k], [k + 1], [1])
        far = w.node("Abs", [w.node("Sub", [w.constant(line, _FLOAT), here], _FLOAT)], _FLOAT)
        own = w.constant(np.array(positions + k, np.float32), _FLOAT)
        left = w.node("Sub", [own, row], _FLOAT) if k else w.constant(positions - line, _FLOAT)
        missed = w.node("Min", [far, one], _FLOAT)
        row = w.node("Sub", [own, w.node("Mul", [left, missed], _FLOAT)], _FLOAT)
    return row
