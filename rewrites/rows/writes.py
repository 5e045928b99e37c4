"""A choice among chosen rows: some of them are written back, and the others stay.

    r = x[m];  r[k] = f(r[k])        all rows:  Where(h, f(x), x)        if h[m] is k

The mask k of the chosen rows is a function of each of them, as h is of all rows. A row is chosen
twice where m and h are true. The mask may run over more axes of the rows, behind them. What is
written may also be in the order of the mask, as in a masked scatter: ``r[k] = u``.
"""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Reducer,
    Scatter,
    refuse_unless,
)
from onnx_scatterx.rewrites.rows.among import DimsAmong
from onnx_scatterx.rewrites.rows.choice import Choice
from onnx_scatterx.rewrites.rows.dims import Dims
from onnx_scatterx.rewrites.rows.following import Has
from onnx_scatterx.rewrites.rows.masks import Masked, as_bools, masked
from onnx_scatterx.rewrites.rows.part import Part, shifted
from onnx_scatterx.rewrites.rows.whole import Whole
from onnx_scatterx.rewrites.rows.whole_rows import WholeRows

_BOOL = ir.DataType.BOOL


def some_written(part: Part) -> Whole:
    """ScatterND, ScatterElements: a write of chosen rows, by a mask, to some of the rows."""
    scatter, context = part.context.access(part.node), part.context
    refuse_unless(isinstance(scatter, Scatter) and not part.following.is_windowed)
    assert isinstance(scatter, Scatter)
    by_mask = masked(scatter, context)
    axes, mask = by_mask.named, by_mask.mask
    refuse_unless(axes == sorted(axes) and not by_mask.unnamed and axes[0] == part.axis)
    data, hit = part.rows_of(scatter.data, part.axis, Has.ALL), _hit(by_mask, part)
    rows, equal, following = part.shape[part.axis], part.facts.equal, part.following
    sizes = rows, part.choice.count(following)  # if the model runs, they are equal
    refuse_unless(following.has is Has.ALL or equal(*sizes))  # if they are as many
    refuse_unless(any(equal(mask.shape[0], n) for n in sizes))
    refuse_unless(all(map(equal, mask.shape[1:], by_mask.sizes[1:])))
    choice = Choice(mask, by_mask.sizes, lambda: mask.value, context, scatter.facts)
    dims_among = DimsAmong(choice, part.rows, replace(following, has=Has.ALL), hit)
    among = WholeRows(choice, dims_among, part.rows.through, part.rows.counts)
    updates = among.of(scatter.updates, by_mask.dim, among.start)
    updates = _over_data(updates, by_mask, dims_among, part)
    dims = sorted({r for x in (data, hit, updates) for r in x.dims})
    places = {axis: len(dims) + i for i, axis in enumerate(axes[1:])}
    behind = [places.get(c) for c in range(part.axis + 1, part.rank)]
    where = (hit.narrow or hit).with_dims(dims).moved([*range(len(dims)), *behind], 0)
    reduction = Reducer(context.writer, scatter.reduction, part.dtype)
    parts = [where, data.with_dims(dims), updates.with_dims(dims)]
    return part.whole(lambda made: reduction.where(*made), parts, dims)


def _hit(by_mask: Masked, part: Part) -> Whole:
    """Return the mask of chosen rows as booleans of all rows."""

    def bools(x: Whole) -> Whole:
        return x.changed(lambda made: as_bools(made[0], by_mask.mask, part.context), _BOOL)

    x = part.rows_of(by_mask.mask.value, 0, Has.ALL)
    return replace(bools(x), narrow=None if x.narrow is None else bools(x.narrow))


def _over_data(updates: Whole, by_mask: Masked, among: Dims, part: Part) -> Whole:
    """Return updates over the axes of the data."""
    places = {r: updates.axis + i for i, r in enumerate(updates.dims)}
    rows = [r for r in updates.dims if r < part.rows.width]
    at: dict[int, int | None] = {axis: shifted(dim, updates) for axis, dim in by_mask.others}
    for r, axis in enumerate(by_mask.named[1:], 1):
        at[axis] = places.get(among.dim(r))
    order: list[int | None] = []
    for c in range(part.rank):
        order += [places[r] for r in rows] if c == part.axis else [at[c]]
    return replace(updates.moved(order, part.axis), dims=tuple(rows), narrow=None)
