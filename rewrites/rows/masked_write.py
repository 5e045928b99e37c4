"""A write of chosen rows to the rows that the same mask chooses: a Where for each round.

    y = ScatterND(x, Transpose(NonZero(m)), f(h[m]))        y = Where(m, f(h), x)

If several elements of the mask may name one element of the data, it is written in rounds, in their
order (``Masked.rounds``). If at most one of them is true, as a token is given to an expert by the
first choice or by the second, one round is enough: what is read by the mask is summed before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import Context, Reducer, refuse_unless
from onnx_scatterx.rewrites.rows.choice import Choice
from onnx_scatterx.rewrites.rows.dims import MaskDims
from onnx_scatterx.rewrites.rows.following import Has
from onnx_scatterx.rewrites.rows.functions import whole_of
from onnx_scatterx.rewrites.rows.mask_shares import is_one_of
from onnx_scatterx.rewrites.rows.masks import Masked, before_expands, fitting, over_axes, placed
from onnx_scatterx.rewrites.rows.whole import Whole, written
from onnx_scatterx.rewrites.rows.whole_rows import WholeRows

_BOOL = ir.DataType.BOOL


@dataclass(frozen=True)
class MaskedWrite:
    """A write by a mask, with its ``updates`` as a tensor of all ``rows``."""

    by_mask: Masked
    rows: WholeRows
    updates: Whole

    def write(self) -> ir.Value:
        """Write it."""
        by_mask, s = self.by_mask, self.by_mask.scatter
        context, others = self.rows.choice.context, by_mask.beside
        w, reduction = context.writer, Reducer(context.writer, s.reduction, s.dtype)
        updates = self.updates.narrow or self.updates
        several = len(by_mask.rounds) > 1
        dims = [r for r in by_mask.unnamed if r in self.updates.dims and several]
        new, x = written(_over_data(by_mask, updates, dims), context), s.data
        if self.rows.merged:
            named = [r for r, axis in enumerate(by_mask.axes) if axis is not None]
            hit = over_axes(self.rows.dims.hit(named), _BOOL, by_mask, context, others)
            return reduction.where(hit, x, new)
        narrow = _before_broadcast(by_mask)
        mask = fitting(by_mask, context) if narrow is None else narrow
        for at in by_mask.rounds:
            hit = mask if narrow else placed(mask, _BOOL, by_mask, context, others, at)
            here = new
            for r, i in zip(by_mask.unnamed, at, strict=True):
                if r in dims:
                    here = w.node("Gather", [here, w.constant(np.array(i))], s.dtype, axis=0)
            x = reduction.where(hit, x, here)
        return x


def whole_write(by_mask: Masked, context: Context, *, counts: bool) -> MaskedWrite:
    """Return a write of a function of rows that the same mask reads, or refuse.

    If it ``counts``, operands of the function may have the rows in the mask's order.
    """
    rows = _rows(by_mask, context, counts=counts)
    return MaskedWrite(by_mask, rows, rows.of(by_mask.scatter.updates, by_mask.dim, rows.start))


def counted_write(by_mask: Masked, source: ir.Value, context: Context) -> MaskedWrite:
    """Return a write of the updates, or of what they are the first elements of, or refuse."""
    rows = _rows(by_mask, context, counts=False)
    has = Has.ALL if source is by_mask.scatter.updates else Has.MORE
    updates = rows.counted(source, by_mask.dim, replace(rows.start, has=has))
    return MaskedWrite(by_mask, rows, updates)


def _rows(by_mask: Masked, context: Context, *, counts: bool) -> WholeRows:
    """Return what follows the updates of a masked write to all rows of the data."""
    fitted = partial(fitting, by_mask, context)
    mask, several = by_mask.mask, len(by_mask.rounds) > 1
    merged = by_mask.unnamed if several and is_one_of(mask, by_mask.unnamed, context) else []
    choice = Choice(mask, by_mask.sizes, fitted, context, by_mask.scatter.facts)
    return WholeRows(choice, MaskDims(choice), whole_of, counts, tuple(merged))


def _before_broadcast(by_mask: Masked) -> ir.Value | None:
    """Return the mask before it was broadcast to all axes of the data, if it was."""
    source = before_expands(by_mask.mask.value)
    in_order = list(by_mask.axes) == list(range(len(by_mask.scatter.data_shape)))
    is_bool = by_mask.mask.abstract.dtype == _BOOL
    return source if by_mask.fits and in_order and is_bool else None


def _over_data(by_mask: Masked, updates: Whole, rounds: list[int]) -> Whole:
    """Return updates over the axes of the data, behind the dims that are written in rounds."""
    places = {r: updates.axis + i for i, r in enumerate(updates.dims)}
    axes: dict[int, int] = {}
    for r, axis in enumerate(by_mask.axes):
        if axis is not None and r in places:
            axes[axis] = places[r]
    for axis, dim in by_mask.others:
        axes[axis] = dim if dim < updates.axis else dim + len(updates.dims) - 1
    order = [axes.get(c) for c in range(len(by_mask.scatter.data_shape))]
    while order and order[0] is None:  # it is broadcast
        del order[0]
    refuse_unless(not rounds or len(order) == len(by_mask.scatter.data_shape))
    return updates.moved([*(places[r] for r in rounds), *order], 0)
