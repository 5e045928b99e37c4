"""The dims of rows that a mask chooses among chosen rows.

    r = x[m];  s = r[k]        all rows of s are those of x;  chosen where m and h, if h[m] is k

The dims of m stand for the first dim of k, which counts the rows of r.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.rules import MultiplyAdds, Shape, Term, granted, refuse_unless
from onnx_scatterx.rewrites.rows.choice import Choice
from onnx_scatterx.rewrites.rows.counts import counted
from onnx_scatterx.rewrites.rows.dims import somewhere
from onnx_scatterx.rewrites.rows.following import Following
from onnx_scatterx.rewrites.rows.masks import repeats
from onnx_scatterx.rewrites.rows.part import shifted
from onnx_scatterx.rewrites.rows.reads import RowRead
from onnx_scatterx.rewrites.rows.whole import Whole, written
from onnx_scatterx.rewrites.rows.whole_rows import WholeRows

_BOOL = ir.DataType.BOOL


@dataclass
class DimsAmong:
    """The dims of a mask of all ``rows``, and behind them those of a ``choice`` among these.

    The former stand for the first dim of the latter. They are followed as the chosen rows are.
    ``chosen`` is the mask of the choice for all rows, as booleans.
    """

    choice: Choice
    rows: WholeRows
    following: Following
    chosen: Whole
    is_among = True

    def dim(self, r: int) -> int:
        refuse_unless(r > 0)
        return self.rows.width + r - 1

    def of(self, following: Following) -> tuple[int, ...]:
        return (*self.rows.dims.of(self.following), *map(self.dim, range(1, following.depth)))

    def sizes(self, dims: Sequence[int], following: Following) -> Shape:
        outer, inner = self._apart(dims)
        sizes = self.rows.dims.sizes(outer, self.following)
        return (*sizes, *(self.choice.extents[r] for r in inner))

    def work_of(self, each: Term, dims: Sequence[int], following: Following) -> MultiplyAdds:
        # How many are chosen among the chosen is open.
        outer, inner = self._apart(dims)
        repeated = math.prod((self.choice.extents[r] for r in inner), start=each)
        return self.rows.dims.work_of(repeated, outer, self.following)

    def hit(self, dims: Sequence[int]) -> ir.Value:
        context, extents = self.choice.context, self.choice.extents
        w, (outer, inner) = context.writer, self._apart(dims)
        own = sorted({*self.chosen.dims, *outer})
        chosen = self.chosen if inner else self.chosen.narrow or self.chosen
        x = written(chosen.with_dims(own), context)
        behind = {r: len(own) + r - 1 for r in range(1, len(extents))}
        among = w.axes("Unsqueeze", self.rows.dims.hit(own), _BOOL, list(behind.values()))
        both, sizes = w.node("And", [among, x], _BOOL), self.rows.dims.sizes(own, self.following)
        gone = {i: n for i, n in enumerate(sizes) if own[i] not in outer}
        gone |= {d: extents[r] for r, d in behind.items() if r not in inner}
        return somewhere(both, gone, self.choice)

    def source(self, read: RowRead) -> Whole:
        """Return all rows of the chosen rows that are read."""
        refuse_unless(not read.at and read.dims[0] == 0 and len(read.old) == len(read.new))
        axis = granted(read.order[read.axis])
        x = self.rows.of(read.read.data, axis, self.following)
        order: list[int | None] = []
        for i, d in enumerate(read.order):
            if i == read.axis:
                order += range(x.axis, x.axis + len(x.dims))
            else:
                order.append(None if d is None else shifted(d, x))
        dims = (*x.dims, *(self.dim(r) for r in read.dims[1:]))
        return replace(x.moved(order, read.axis), dims=dims, narrow=None)

    def counted(self, value: ir.Value, axis: int, following: Following) -> Whole:
        own, depth, dims = self.choice, following.depth, self.of(following)
        is_known = self.rows.choice.is_known(self.following.depth)
        refuse_unless(is_known and not self.rows.merged and depth > 0)
        refuse_unless(depth == len(own.extents) or repeats(own.mask, depth))
        sizes, hit = self.sizes(dims, following), partial(self.hit, dims)
        of_all = Choice(own.mask, sizes, hit, own.context, own.facts)
        whole = counted(of_all, value, axis, Following(len(dims), has=following.has))
        return replace(whole, dims=dims)

    def _apart(self, dims: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return the dims that are of the mask of all rows, and those of this mask."""
        width = self.rows.width
        return [r for r in dims if r < width], [r - width + 1 for r in dims if r >= width]
