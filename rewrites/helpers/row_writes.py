"""A choice among chosen rows: some of them are written back, and the others stay.

    r = x[m];  r[k] = f(r[k])        all rows:  Where(h, f(x), x)        if h[m] is k

The mask k of the chosen rows is a function of each of them, as h is of all rows. A row is chosen
twice where m and h are true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    MultiplyAdds,
    Reducer,
    Scatter,
    Shape,
    Term,
    granted,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.masks import Masked, as_bools, masked
from onnx_scatterx.rewrites.helpers.row_part import Part, as_base, shifted
from onnx_scatterx.rewrites.helpers.row_reads import RowRead
from onnx_scatterx.rewrites.helpers.whole import Has, Whole, written
from onnx_scatterx.rewrites.helpers.whole_rows import WholeRows

_BOOL = ir.DataType.BOOL


def some_written(part: Part) -> Whole:
    """ScatterND, ScatterElements: a write of chosen rows, by a mask, to some of the rows."""
    scatter, context = part.context.access(part.node), part.context
    refuse_unless(isinstance(scatter, Scatter) and part.has is Has.ALL)
    refuse_unless(not part.rows.is_windowed)
    assert isinstance(scatter, Scatter)
    by_mask = masked(scatter, context)
    refuse_unless(by_mask.axes == (part.axis,))
    sizes = part.shape[part.axis], part.rows.count  # if the model runs, they are equal
    refuse_unless(any(part.facts.equal(by_mask.mask.shape[0], n) for n in sizes))
    data, hit = part.rows.of(scatter.data, part.axis), _hit(by_mask, part)
    among = RowsAmong(part.rows, by_mask, hit)
    updates = _over_data(among.of(scatter.updates, by_mask.dim), by_mask, part)
    dims = sorted({r for x in (data, hit, updates) for r in x.dims})
    behind = part.rank - 1 - part.axis
    mask = hit.with_dims(dims).moved([*range(len(dims)), *[None] * behind], 0)
    reduction = Reducer(context.writer, scatter.reduction, part.dtype)

    def make(made: list[ir.Value]) -> ir.Value:
        return reduction.where(*made)

    return part.whole(make, [mask, data.with_dims(dims), updates.with_dims(dims)], dims)


def _hit(by_mask: Masked, part: Part) -> Whole:
    """Return the mask of chosen rows as booleans of all rows."""
    x = part.rows.of(by_mask.mask.value, 0)

    def make(made: list[ir.Value]) -> ir.Value:
        return as_bools(made[0], by_mask.mask, part.context)

    return replace(as_base(x), make=make, dtype=_BOOL, parts=(x,), work=None)


def _over_data(updates: Whole, by_mask: Masked, part: Part) -> Whole:
    """Return updates over the axes of the data."""
    rows, dims = range(updates.axis, updates.axis + len(updates.dims)), dict(by_mask.others)
    order: list[int | None] = []
    for c in range(part.rank):
        order += rows if c == part.axis else [shifted(dims[c], updates)]
    return updates.moved(order, part.axis)


class RowsAmong(WholeRows):
    """Follows rows that a mask chooses among chosen rows, to the rows that those are chosen from.

    ``hit`` is this mask for all rows, as booleans.
    """

    def __init__(self, rows: WholeRows, by_mask: Masked, hit: Whole) -> None:
        mask, context = by_mask.mask, rows.context
        facts, through = by_mask.scatter.facts, rows.through
        rows_of_data = (by_mask.scatter.data_shape[by_mask.named[0]],)
        super().__init__(mask, rows_of_data, lambda: mask.value, through, context, facts)
        self._among, self._chosen = rows, hit

    def sizes(self, dims: Sequence[int]) -> Shape:
        """Return the sizes of dims of the mask of all rows."""
        return self._among.sizes(dims)

    def work_of(self, each: Term, dims: Sequence[int]) -> MultiplyAdds:
        """Return the multiply-adds for all rows: how many are chosen among the chosen is open."""
        return self._among.work_of(each, dims)

    def hit(self, dims: Sequence[int]) -> ir.Value:
        """Write where a row is chosen twice."""
        refuse_unless(set(self._chosen.dims) <= set(dims))
        both = [self._among.hit(dims), written(self._chosen.with_dims(dims), self.context)]
        return self.context.writer.node("And", both, _BOOL)

    def of_repeated(self, value: ir.Value, axis: int, dims: int, has: Has) -> Whole:
        """Refuse rows that a mask repeats."""
        return granted(None)

    def of_window(self, value: ir.Value, axis: int, window: Shape, has: Has = Has.ALL) -> Whole:
        """Refuse more elements than one for each row."""
        return granted(None)

    def _place(self, value: ir.Value, axis: int) -> Whole:
        """Refuse places among the chosen rows."""
        return granted(None)

    def _source(self, read: RowRead) -> Whole:
        """Return all rows of the chosen rows that are read."""
        refuse_unless(not read.at)
        x = self._among.of(read.read.data, granted(read.order[read.axis]))
        order: list[int | None] = []
        for i, d in enumerate(read.order):
            if i == read.axis:
                order += range(x.axis, x.axis + len(x.dims))
            else:
                order.append(None if d is None else shifted(d, x))
        return x.moved(order, read.axis)
