"""Reads at any positions compare every position with every index, if the target lacks the gather.

    before   y = Gather(x, i, axis=a)             x of shape [l..., P, r...], i of shape [n...]
    after    hit = i == Range(P) or i == Range(P) - P                      [n..., P]
             y   = ReduceSum(Where(hit, x, -0.0))                          over the P

GatherElements has one such comparison for each row. GatherND is a Gather of rows, with the axes
that it reads by indices merged into one.

Holds for any indices with which the gather runs: each of them hits one element, and ``x + -0.0`` is
``x``. Elements that are not read are not added, so a NaN or an infinity among them does no harm.
ONNX Runtime adds int64 as doubles, so these are ``ReduceMax(Where(hit, x, least))``. The work is
positions times indices, times the rest of the elements: the target limits it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Gather,
    GatherRule,
    Plan,
    Refusal,
    Term,
    as_numbers,
    granted,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.search import SMALL, refuse_beyond

_INT32, _INT64, _FLOAT = ir.DataType.INT32, ir.DataType.INT64, ir.DataType.FLOAT
_SUMMED = {
    **{kind: kind for kind in (_FLOAT, ir.DataType.DOUBLE, _INT32, _INT64)},
    ir.DataType.FLOAT16: _FLOAT,
    **{ir.DataType[name]: _INT32 for name in ("BOOL", "INT8", "INT16", "UINT8", "UINT16")},
}  # ONNX Runtime has a ReduceSum of these types; others are exact in them


class DenseReadRule(GatherRule):
    """Rewrites gathers at positions that are known only when the model runs."""

    searches = True

    def plan(self, gather: Gather, context: Context) -> Plan | Refusal:
        size, write = _READERS[gather.node.op_type](gather, context)
        dtype, kind, w = gather.dtype, granted(_SUMMED.get(gather.dtype)), context.writer
        # An empty axis has no largest element.
        refuse_unless(dtype != _INT64 or gather.facts.is_nonnegative(size - 1))
        elements, limit = math.prod(gather.shape, start=size), context.target.dense_limit
        allowed = SMALL if limit is None else limit
        refuse_beyond(allowed, elements, gather.facts)

        def whole() -> ir.Value:
            return w.cast(write(w.cast(gather.data, dtype, kind), kind), kind, dtype)

        return Plan(whole, elements)


_Write = Callable[[ir.Value, ir.DataType], ir.Value]
"""Writes the result for data of an element type that sums are made of."""


def _gather(gather: Gather, context: Context) -> tuple[Term, _Write]:
    axis, indices, dims = gather.named[0], granted(gather.indices), len(gather.index_dims)
    rows = _Rows(axis, gather.data_shape[axis:], dims, signed=not gather.counts_from_start(axis))

    def write(x: ir.Value, kind: ir.DataType) -> ir.Value:
        return rows.at(indices, x, kind, context)

    return gather.data_shape[axis], write


@dataclass(frozen=True)
class _Rows:
    """Rows along an axis: the ``sizes`` of the data from it on, and how many dims indices have."""

    axis: int
    sizes: tuple[Term, ...]
    dims: int
    signed: bool  # whether indices may count from the end
    checked: bool = True  # whether the gather checks all indices

    def at(self, indices: ir.Value, x: ir.Value, kind: ir.DataType, context: Context) -> ir.Value:
        """Write the rows of some data at indices."""
        w, rank, dtype = context.writer, len(self.sizes), _dtype(indices, context)
        at = w.axes("Unsqueeze", indices, dtype, [self.dims + d for d in range(rank)])
        signs = {"signed": self.signed, "checked": self.checked}
        hit = context.numbers.hits(at, dtype, self.sizes[0], 0, rank, **signs)
        x = w.axes("Unsqueeze", x, kind, [self.axis + d for d in range(self.dims)])
        return _sum(hit, x, kind, self.axis + self.dims, context)


def _sum(hit: ir.Value, x: ir.Value, kind: ir.DataType, axis: int, context: Context) -> ir.Value:
    w = context.writer
    if kind == _INT64:
        least = w.constant(np.array(np.iinfo(np.int64).min))
        return w.reduce("ReduceMax", w.node("Where", [hit, x, least], kind), kind, axis)
    nothing = w.constant(np.array(-0.0 if kind != _INT32 else 0, kind.numpy()), kind)
    return w.reduce("ReduceSum", w.node("Where", [hit, x, nothing], kind), kind, axis)


def _dtype(indices: ir.Value, context: Context) -> ir.DataType:
    return context.known(indices).dtype or indices.dtype or _INT64


def _gather_elements(gather: Gather, context: Context) -> tuple[Term, _Write]:
    """Each row of the indices reads one row of the data: their sizes agree on all other axes."""
    axis, rank, w = gather.named[0], len(gather.data_shape), context.writer
    others = [d for d in range(rank) if d != axis]
    equal = (gather.facts.equal(gather.shape[d], gather.data_shape[d]) for d in others)
    refuse_unless(all(equal))
    size, indices = gather.data_shape[axis], granted(gather.indices)

    def write(x: ir.Value, kind: ir.DataType) -> ir.Value:
        dtype = _dtype(indices, context)
        at = w.axes("Unsqueeze", indices, dtype, [axis + 1])
        signed = not gather.counts_from_start(axis)
        hit = context.numbers.hits(at, dtype, size, 0, rank - axis, signed=signed)
        x = w.axes("Unsqueeze", x, kind, [axis])
        return _sum(hit, x, kind, axis + 1, context)

    return size, write


def _gather_nd(gather: Gather, context: Context) -> tuple[Term, _Write]:
    """The axes that indices name are merged, if their sizes are numbers, or if there is one."""
    refuse_unless(gather.named[0] == 0)  # there is no batch
    w, numbers, indices = context.writer, context.numbers, granted(gather.indices)
    count, dims = len(gather.named), len(gather.index_dims)
    named, rest = gather.data_shape[:count], gather.data_shape[count:]
    sizes = as_numbers(named) or ()
    filled = all(gather.facts.is_nonnegative(n - 1) for n in gather.data_shape)
    # In the shape that a Reshape takes, 0 copies a size.
    refuse_unless(count == 1 or (sizes and filled))
    size = math.prod(named[1:], start=named[0])
    signed = count == 1 and not gather.counts_from_start(0)
    rows = _Rows(0, (size, *rest), dims, signed, filled)

    def column(c: int, stride: int) -> ir.Value:
        at = w.node("Slice", [indices, *(w.constant([n]) for n in (c, c + 1, dims))], _INT64)
        at = w.axes("Squeeze", at, _INT64, [dims])
        if not gather.counts_from_start(c):
            at = context.numbers.from_start(at, sizes[c])
        return at if stride == 1 else w.node("Mul", [at, w.constant(np.array(stride))], _INT64)

    def write(x: ir.Value, kind: ir.DataType) -> ir.Value:
        if count == 1:
            return rows.at(w.axes("Squeeze", indices, _INT64, [dims]), x, kind, context)
        strides = [math.prod(sizes[c + 1 :]) for c in range(count)]
        at, *others = [column(c, stride) for c, stride in enumerate(strides)]
        for other in others:
            at = w.node("Add", [at, other], _INT64)
        x = w.node("Reshape", [x, numbers.shape([size, *rest])], kind)
        return rows.at(at, x, kind, context)

    return size, write


_READERS = {"Gather": _gather, "GatherElements": _gather_elements, "GatherND": _gather_nd}
