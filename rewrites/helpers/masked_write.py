"""A write of chosen rows to the rows that the same mask chooses: a Where for each round.

    y = ScatterND(x, Transpose(NonZero(m)), f(h[m]))        y = Where(m, f(h), x)

If several elements of the mask may name one element of the data, it is written in rounds, in their
order (``Masked.rounds``). If at most one of them is true, as a token is given to an expert by the
first choice or by the second, one round is enough: what is read by the mask is summed before.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import Context, Reducer, refuse_unless
from onnx_scatterx.rewrites.helpers.mask_shares import is_one_of
from onnx_scatterx.rewrites.helpers.masks import Masked, before_expands, fitting, over_axes, placed
from onnx_scatterx.rewrites.helpers.row_functions import whole_of
from onnx_scatterx.rewrites.helpers.whole import Whole, written
from onnx_scatterx.rewrites.helpers.whole_rows import WholeRows

_BOOL = ir.DataType.BOOL


def whole_rows(by_mask: Masked, context: Context, *, counts: bool = False) -> WholeRows:
    """Return what follows the updates of a masked write to all rows of the data."""
    fitted = partial(fitting, by_mask, context)
    mask, several = by_mask.mask, len(by_mask.rounds) > 1
    merged = by_mask.unnamed if several and is_one_of(mask, by_mask.unnamed, context) else []
    return WholeRows(
        mask,
        by_mask.sizes,
        fitted,
        whole_of,
        context,
        by_mask.scatter.facts,
        counts=counts,
        merged=tuple(merged),
    )


def written_by_mask(by_mask: Masked, rows: WholeRows, updates: Whole) -> ir.Value:
    """Write a masked write of updates that are tensors of all rows."""
    s, context = by_mask.scatter, rows.context
    w, others = context.writer, by_mask.beside
    reduction = Reducer(w, s.reduction, s.dtype)
    dims = [r for r in by_mask.unnamed if r in updates.dims and len(by_mask.rounds) > 1]
    updates = updates.narrow or updates
    new, x = written(_over_data(by_mask, updates, dims), context), s.data
    if rows.merged:
        named = [r for r, axis in enumerate(by_mask.axes) if axis is not None]
        hit = over_axes(rows.hit(named), _BOOL, by_mask, context, others)
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
