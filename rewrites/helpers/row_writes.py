"""A choice among chosen rows: some of them are written back, and the others stay.

    r = x[m];  r[k] = f(r[k])        all rows:  Where(h, f(x), x)        if h[m] is k

The mask k of the chosen rows is a function of each of them, as h is of all rows. A row is chosen
twice where m and h are true. The mask may run over more axes of the rows, behind them. What is
written may also be in the order of the mask, as in a masked scatter: ``r[k] = u``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    MultiplyAdds,
    Reducer,
    Scatter,
    Shape,
    Term,
    attempt,
    granted,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.following import Following, Has
from onnx_scatterx.rewrites.helpers.masks import Masked, as_bools, masked, repeats
from onnx_scatterx.rewrites.helpers.row_counts import counted
from onnx_scatterx.rewrites.helpers.row_part import Part, shifted
from onnx_scatterx.rewrites.helpers.row_reads import RowRead
from onnx_scatterx.rewrites.helpers.whole import Whole, written
from onnx_scatterx.rewrites.helpers.whole_rows import WholeRows

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
    sizes = rows, part.rows.count(following)  # if the model runs, they are equal
    refuse_unless(following.has is Has.ALL or equal(*sizes))  # if they are as many
    refuse_unless(any(equal(mask.shape[0], n) for n in sizes))
    refuse_unless(all(map(equal, mask.shape[1:], by_mask.sizes[1:])))
    among = RowsAmong(part.rows, replace(following, has=Has.ALL), by_mask, hit)
    updates = among.of(scatter.updates, by_mask.dim, among.rows)
    updates = _over_data(updates, by_mask, among, part)
    dims = sorted({r for x in (data, hit, updates) for r in x.dims})
    places = {axis: len(dims) + i for i, axis in enumerate(axes[1:])}
    behind = [places.get(c) for c in range(part.axis + 1, part.rank)]
    where = (hit.narrow or hit).with_dims(dims).moved([*range(len(dims)), *behind], 0)
    reduction = Reducer(context.writer, scatter.reduction, part.dtype)

    def make(made: list[ir.Value]) -> ir.Value:
        return reduction.where(*made)

    return part.whole(make, [where, data.with_dims(dims), updates.with_dims(dims)], dims)


def _hit(by_mask: Masked, part: Part) -> Whole:
    """Return the mask of chosen rows as booleans of all rows."""

    def bools(x: Whole) -> Whole:
        def make(made: list[ir.Value]) -> ir.Value:
            return as_bools(made[0], by_mask.mask, part.context)

        return x.changed(make, _BOOL)

    x = part.rows_of(by_mask.mask.value, 0, Has.ALL)
    return replace(bools(x), narrow=None if x.narrow is None else bools(x.narrow))


def _over_data(updates: Whole, by_mask: Masked, among: RowsAmong, part: Part) -> Whole:
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


class RowsAmong(WholeRows):
    """Follows rows that a mask chooses among chosen rows, to the rows that those are chosen from.

    ``hit`` is this mask for all rows, as booleans. In tensors of all rows, the dims of the mask of
    all rows come first. They stand for the first dim of this mask, and its other dims follow.
    """

    def __init__(self, rows: WholeRows, following: Following, by_mask: Masked, hit: Whole) -> None:
        mask, context = by_mask.mask, rows.context
        facts, through = by_mask.scatter.facts, rows.through
        own, counts = by_mask.sizes, rows.counts
        super().__init__(mask, own, lambda: mask.value, through, context, facts, counts=counts)
        self._among, self._chosen, self._outer = rows, hit, following

    @property
    def width(self) -> int:
        """How many dims of masks a tensor of all rows may have."""
        return self._among.width + len(self.extents) - 1

    def dims(self, following: Following) -> tuple[int, ...]:
        """Return the dims of the mask of all rows, and the further ones of this mask."""
        return (*self._among.dims(self._outer), *map(self.dim, range(1, following.depth)))

    def dim(self, r: int) -> int:
        """Return the dim of a tensor of all rows that a dim of the mask is, or refuse the first."""
        refuse_unless(r > 0)
        return self._among.width + r - 1

    def sizes(self, dims: Sequence[int], following: Following) -> Shape:
        """Return the sizes of dims of tensors of all rows."""
        rows, inner = self._apart(dims)
        return (*self._among.sizes(rows, self._outer), *(self.extents[r] for r in inner))

    def work_of(self, each: Term, dims: Sequence[int], following: Following) -> MultiplyAdds:
        """Return the multiply-adds for all rows: how many are chosen among the chosen is open."""
        rows, inner = self._apart(dims)
        repeated = math.prod((self.extents[r] for r in inner), start=each)
        return self._among.work_of(repeated, rows, self._outer)

    def hit(self, dims: Sequence[int]) -> ir.Value:
        """Write where a row is chosen twice."""
        w = self.context.writer
        rows, inner = self._apart(dims)
        own = sorted({*self._chosen.dims, *rows})
        chosen = self._chosen if inner else self._chosen.narrow or self._chosen
        x = written(chosen.with_dims(own), self.context)
        behind = {r: len(own) + r - 1 for r in range(1, len(self.extents))}
        among = w.axes("Unsqueeze", self._among.hit(own), _BOOL, list(behind.values()))
        both = w.node("And", [among, x], _BOOL)
        gone = {
            i: n for i, n in enumerate(self._among.sizes(own, self._outer)) if own[i] not in rows
        }
        gone |= {d: self.extents[r] for r, d in behind.items() if r not in inner}
        return self._somewhere(both, [*gone], [*gone.values()])

    def _apart(self, dims: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the dims that are of the mask of all rows, and those of this mask."""
        width = self._among.width
        return [r for r in dims if r < width], [r - width + 1 for r in dims if r >= width]

    def _of(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return all rows of a value; one of other rows has them in the order of the mask."""
        whole = attempt(partial(super()._of, value, axis, following))
        if isinstance(whole, Whole):
            return whole
        among, dims, depth = self._among, self.dims(following), following.depth
        is_whole = among.is_whole(self._outer.depth)
        refuse_unless(self.counts and is_whole and not among.merged and depth > 0)
        refuse_unless(depth == len(self.extents) or repeats(self.mask, depth))
        hit, facts = partial(self.hit, dims), self.facts
        sizes = self.sizes(dims, following)
        rows = WholeRows(self.mask, sizes, hit, self.through, self.context, facts)
        all_rows = replace(rows.rows, has=following.has)
        return replace(counted(rows, value, axis, all_rows), dims=dims)

    def of_window(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Refuse more elements than one for each row."""
        return granted(None)

    def _place(self, value: ir.Value, axis: int, depth: int) -> Whole:
        """Refuse places among the chosen rows."""
        return granted(None)

    def _source(self, read: RowRead) -> Whole:
        """Return all rows of the chosen rows that are read."""
        refuse_unless(not read.at and read.dims[0] == 0 and len(read.old) == len(read.new))
        x = self._among.of(read.read.data, granted(read.order[read.axis]), self._outer)
        order: list[int | None] = []
        for i, d in enumerate(read.order):
            if i == read.axis:
                order += range(x.axis, x.axis + len(x.dims))
            else:
                order.append(None if d is None else shifted(d, x))
        dims = (*x.dims, *(self.dim(r) for r in read.dims[1:]))
        return replace(x.moved(order, read.axis), dims=dims, narrow=None)
