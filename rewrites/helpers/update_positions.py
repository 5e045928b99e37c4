"""Where every update is written, as a tensor: its position on the one axis of an arrangement.

The axes that are searched are one axis of P positions (``arrangement``). An update's position is

    sum over these axes of  index * stride         an index from 0 on, negative ones moved up by S

as a tensor [l..., N, r...]. Its extent is 1 on axes aside that no index depends on. An
update that a mask does not choose has a position that is none of the data (``chosen_rows``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Scatter,
    Shape,
    Symbol,
    TensorValue,
    Term,
    as_numbers,
    granted,
    refuse_unless,
    tabulated,
    term,
)
from onnx_scatterx.rewrites.helpers.arrangement import Arrangement
from onnx_scatterx.rewrites.rows import ChosenRows

_INT64 = ir.DataType.INT64
_LISTED = 1 << 12  # elements of an index that is made a constant

Write = Callable[[], ir.Value]


@dataclass(frozen=True)
class _Index:
    """An index on one axis, as a tensor over the dims of the updates in the arrangement's order.

    ``full`` are the dims that it has in full; its extent is 1 along the others. If it is
    ``signed``, a negative one counts from the end. If it is ``checked``, the scatter checks every
    element of it.
    """

    full: frozenset[int]
    dtype: ir.DataType
    signed: bool
    write: Write
    checked: bool = False


@dataclass(frozen=True)
class UpdatePositions:
    """The positions as a tensor; ``shape`` is [l..., N, r...], ``shared`` says all l, r are 1.

    If the original runs, all of them are ``inside`` the data, or that of an update that is not
    chosen.
    """

    shape: Shape
    shared: bool
    write: Write
    inside: bool


def positions_of(
    layout: Arrangement,
    context: Context,
    chosen: ChosenRows | None = None,
    nowhere: Term | None = None,
) -> UpdatePositions:
    """Return the targets of updates as a tensor, or refuse if the indices cannot be read.

    If rows are ``chosen``, their placeholders are written with the targets, before all else, and
    the others have the target ``nowhere``.
    """
    s = layout.scatter
    indices = [_index(c, layout, context) for c in layout.axes]
    order = layout.dims_in_order
    full = frozenset(chosen.dims if chosen else ()).union(*(i.full for i in indices))
    split = tuple(s.shape[d] if d in full or d in layout.dims else term(1) for d in order)
    shape = layout.merged(split)
    strides = [
        math.prod((s.data_shape[a] for a in layout.axes[i + 1 :]), start=term(1))
        for i in range(len(layout.axes))
    ]
    numbers = context.numbers
    spread = any(d not in full and s.shape[d].constant != 1 for d in layout.dims)
    inside = all(i.checked or i.signed for i in indices)

    def write() -> ir.Value:
        w = context.writer
        total: ir.Value | None = None
        if chosen is not None:
            chosen.prepare()
        for c, index, stride in zip(layout.axes, indices, strides, strict=True):
            at = _from_zero(layout, c, index, context, is_chosen=chosen is not None)
            if stride.constant != 1:
                at = w.node("Mul", [at, numbers.vector(stride)], _INT64)
            total = at if total is None else w.node("Add", [total, at], _INT64)
        assert total is not None
        if chosen is not None and nowhere is not None:
            other = numbers.vector(nowhere)
            total = w.node("Where", [chosen.write_mask(order), total, other], _INT64)
        if spread:
            total = w.node("Expand", [total, numbers.shape(split)], _INT64)
        total = numbers.reshape(total, _INT64, split, shape, s.facts)
        if inside and (chosen is None or nowhere == term(-1)):
            w.note_index(total, layout.positions, from_zero=chosen is None)
        return total

    return UpdatePositions(shape, full <= set(layout.dims), write, inside)


def _from_zero(
    layout: Arrangement, axis: int, index: _Index, context: Context, *, is_chosen: bool
) -> ir.Value:
    """Write an index with negative ones counted from the start.

    If rows are chosen from it, the scatter does not check the others.
    """
    w, s = context.writer, layout.scatter
    at, size = w.cast(index.write(), index.dtype, _INT64), s.data_shape[axis]
    if index.checked and not is_chosen:
        w.note_index(at, size, from_zero=not index.signed)
    if not index.signed:
        return at
    at = w.node("Mod", [at, context.numbers.divisor(size, s.facts)], _INT64)
    w.note_index(at, size, from_zero=True)
    return at


def _index(axis: int, layout: Arrangement, context: Context) -> _Index:
    s = layout.scatter
    target, signed = s.index_exprs[axis], not s.nonnegative[axis]
    index = _constant(target, layout, context) or _line(target, layout, context)
    index = index or _read(target, layout, context)
    return _own_index(axis, layout, context) if index is None else replace(index, signed=signed)


def _constant(target: Term, layout: Arrangement, context: Context) -> _Index | None:
    """Return an index whose elements are all known numbers."""
    s, order = layout.scatter, layout.dims_in_order
    extents = as_numbers(s.shape[d] if d in target.coords else term(1) for d in order)
    if target.leaves() or extents is None or math.prod(extents) > _LISTED:
        return None
    array = tabulated(target, dict(zip(order, extents, strict=True))).astype(np.int64)
    return _Index(target.coords, _INT64, False, lambda: context.writer.constant(array))


def _line(target: Term, layout: Arrangement, context: Context) -> _Index | None:
    """Return an index that is a coordinate of the update."""
    dim, order, numbers = target.dim, layout.dims_in_order, context.numbers
    if dim is None:
        return None
    size, added = layout.scatter.shape[dim], [i for i, d in enumerate(order) if d != dim]

    def write() -> ir.Value:
        return context.writer.axes("Unsqueeze", numbers.positions(size), _INT64, added)

    return _Index(frozenset((dim,)), _INT64, False, write)


def _read(target: Term, layout: Arrangement, context: Context) -> _Index | None:
    """Return an index that is the element of a tensor at coordinates of the update."""
    s, order = layout.scatter, layout.dims_in_order
    read = index_tensor(target, context)
    if read is None:
        return None
    atom, value, dtype, shape = read
    dims = s.dims_read(atom.parts, shape)
    if dims is None or (None in dims and layout.updates.constant != 1):
        return None
    stands = [order.index(d) for d in dims if d is not None]
    if stands != sorted(set(stands)):
        return None
    gone = [i for i, d in enumerate(dims) if d is None]
    added = [i for i in range(len(order)) if i not in stands]
    full = frozenset(order[i] for i in stands)

    def write() -> ir.Value:
        at = context.writer.axes("Squeeze", value, dtype, gone)
        return context.writer.axes("Unsqueeze", at, dtype, added)

    return _Index(full, dtype, False, write, s.is_checked(full))


def index_tensor(
    target: Term, context: Context
) -> tuple[Symbol, ir.Value, ir.DataType, Shape] | None:
    """Return the tensor of integers that a target is an element of, with its type and shape."""
    read = context.element_read(target)
    if read is None or not context.numbers.is_available(read[1]):
        return None
    symbol, value = read
    tensor = context.known(value)
    if tensor.shape is None or tensor.dtype not in (ir.DataType.INT32, _INT64):
        return None
    return symbol, value, tensor.dtype, tensor.shape


def _may_be_negative(axis: int, index: TensorValue, s: Scatter) -> bool:
    """Return whether an index tensor may hold negative numbers for an axis."""
    numbers = index.column(axis) if s.node.op_type == "ScatterND" else index.index_map
    return numbers is None or not s.facts.is_nonnegative(numbers)


def _own_index(axis: int, layout: Arrangement, context: Context) -> _Index:
    """Return an index from the scatter's own index tensor, unchanged, or refuse."""
    s, w, order = layout.scatter, context.writer, layout.dims_in_order
    value = granted(s.indices)
    tensor = context.known(value)
    dtype = granted(tensor.dtype)
    refuse_unless(tensor.shape is not None and s.node.op_type != "TensorScatter")
    refuse_unless(dtype in (ir.DataType.INT32, _INT64))
    columns = s.node.op_type == "ScatterND"
    have = list(s.index_dims)
    # If the index does not change along a nonempty dim, its first element is enough.
    cut = [
        d
        for d in have
        if d not in layout.dims
        and d not in s.index_exprs[axis].coords
        and s.facts.is_nonnegative(s.shape[d] - 1)
        and s.shape[d].constant != 1
    ]
    perm = [have.index(d) for d in order if d in have]
    added = [i for i, d in enumerate(order) if d not in have]
    full = frozenset(d for d in have if d not in cut and s.shape[d].constant != 1)

    def write() -> ir.Value:
        x, starts, axes = value, [0] * len(cut), list(cut)
        if columns and tensor.dims[-1].constant != 1:
            starts, axes = [*starts, axis], [*axes, len(have)]
        if axes:
            ends = [i + 1 for i in starts]
            x = w.slice(x, dtype, axes, starts, ends, [1] * len(axes))
        if columns:
            x = w.axes("Squeeze", x, dtype, [len(have)])
        return w.axes("Unsqueeze", w.transpose(x, dtype, perm), dtype, added)

    return _Index(full, dtype, _may_be_negative(axis, tensor, s), write, checked=True)
