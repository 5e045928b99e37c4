"""Reads with one index for whole rows are a Gather of rows.

    before   y = GatherND(x, i)                               i of shape [n..., 1]
    after    y = Gather(x, Squeeze(i, -1), axis=0)            or what was unsqueezed to i

    before   y = GatherElements(x, Expand(i, shape), axis=a)        i over axis a alone
    after    y = Gather(x, i, axis=a)

    before   y = GatherElements(x, Expand(i, shape), axis=a)        i over the axes 0 .. a
    after    y = GatherND(x, Unsqueeze(i, -1), batch_dims=a)
    or       y = Gather(Reshape(x, [P * n, rest...]), i + n * Range(P))     P rows of n positions

    before   y = GatherND(x, Transpose(NonZero(m)))      m is promised to choose so many elements
    after    y = Gather(Reshape(x, [n, rest...]), p)     p: as the target finds positions

Holds if the index, as a function of the point that is read, depends on these axes alone, and the
other axes are read in full. All three count negative indices from the end. GatherElements and
GatherND check no index if their output is empty, but Gather does: each other axis must have an
element, or the index must be within bounds. GatherND with batch dims reads the merged axes, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Gather,
    GatherRule,
    Plan,
    Reason,
    Refusal,
    Term,
    as_numbers,
    attempt,
    attribute_of,
    granted,
    made_by,
    only,
    refuse_unless,
    tabulated,
    term,
)
from onnx_scatterx.rewrites.helpers.search import Positions, positions
from onnx_scatterx.rewrites.helpers.update_positions import index_tensor
from onnx_scatterx.rewrites.rows import mask_of

_INT64 = ir.DataType.INT64
_ROWS = 1 << 16  # indices of a constant


class RowReadRule(GatherRule):
    """Rewrites reads whose index is the same for all elements of a row."""

    def plan(self, gather: Gather, context: Context) -> Plan | Refusal:
        for form in (self._counted, self._moved):
            plan = attempt(partial(form, gather, context))
            if isinstance(plan, Plan):
                return plan
        return self._listed(gather, context)

    def _counted(self, gather: Gather, context: Context) -> Plan | Refusal:
        """Return a plan for a read of a promised number of chosen rows."""
        w, target, dtype = context.writer, context.target, gather.dtype
        refuse_unless(gather.node.op_type == "GatherND" and dtype != ir.DataType.STRING)
        listed = made_by(gather.indices, "Transpose")
        mask = mask_of(None if listed is None else made_by(listed.inputs[0], "NonZero"), context)
        shape, depth = gather.data_shape, len(mask.shape)
        refuse_unless(mask.abstract.chosen is not None)
        refuse_unless(not target.chooses_rows(granted(mask.abstract.dtype)))
        refuse_unless(
            attribute_of(granted(listed), "perm", [1, 0]) == [1, 0]
            and list(gather.named) == list(range(depth))
        )
        refuse_unless(all(map(gather.facts.equal, mask.shape, shape[:depth])))

        def write() -> ir.Value:
            at, merged = (
                context.numbers.chosen_positions(mask.value),
                math.prod(mask.shape, start=term(1)),
            )
            rows = (merged, *shape[depth:])
            data = context.numbers.reshape(gather.data, dtype, shape, rows, gather.facts)
            return w.node("Gather", [data, at], dtype, axis=0)

        nodes = w.fragment_of(write)
        return nodes if isinstance(nodes, Refusal) else Plan(write)

    def _listed(self, gather: Gather, context: Context) -> Plan | Refusal:
        """Return a plan for a GatherND that names one axis, with the given indices."""
        is_listed = gather.node.op_type == "GatherND" and len(gather.named) == 1
        refuse_unless(is_listed and gather.dtype != ir.DataType.STRING)
        (axis,) = gather.named
        _require_checks(gather, axis, gather.data_shape[axis + 1 :])
        write = partial(_by_list, gather, axis, context)
        nodes = context.writer.fragment_of(write)
        return nodes if isinstance(nodes, Refusal) else Plan(write)

    def _moved(self, gather: Gather, context: Context) -> Plan | Refusal:
        axis = _axis(gather)
        index = _index(gather, axis, context)
        refuse_unless(gather.dtype != ir.DataType.STRING)
        over = _over(gather, axis)
        _require_checks(gather, axis, [n for d, n in enumerate(gather.shape) if d not in over])
        why = Refusal(Reason.NO_RULE)
        for op, form in (("Gather", _rows), ("GatherND", _batches), ("", _flat)):
            if op == gather.node.op_type:
                continue
            write = partial(form, gather, axis, over, index, context)
            nodes = context.writer.fragment_of(write)
            if not isinstance(nodes, Refusal):
                return Plan(write)
            why = nodes
        return why


def _require_checks(gather: Gather, axis: int, rest: Sequence[Term]) -> None:
    """Refuse a read whose index may be beyond the axis where the node checks none."""
    facts, target, size = gather.facts, gather.index_exprs[axis], gather.data_shape[axis]
    within = facts.is_nonnegative(target + size) and facts.is_nonnegative(size - 1 - target)
    refuse_unless(within or all(facts.is_nonnegative(n - 1) for n in rest))


def _axis(gather: Gather) -> int:
    """Return the axis that indices name, if all others are read in full, in place."""
    refuse_unless(len(gather.shape) == len(gather.data_shape))
    return only([d for d in range(len(gather.shape)) if not gather.in_place(d)])


def _over(gather: Gather, axis: int) -> range:
    """Return the dims of the indices: the axis, or all up to it."""
    alone = gather.index_exprs[axis].coords <= {axis}
    return range(axis if alone else 0, axis + 1)


def _index(gather: Gather, axis: int, context: Context) -> Positions:
    """Return the indices as a tensor of the graph or a constant, if they move along these dims."""
    target, over = gather.index_exprs[axis], _over(gather, axis)
    refuse_unless(target.coords.issubset(over))
    refuse_unless(all(gather.shape[d].constant == 1 for d in {*over} - target.coords))
    known = as_numbers(gather.shape[d] for d in over)
    if not target.leaves() and known is not None and math.prod(known) <= _ROWS:
        table = tabulated(target, dict(zip(over, known, strict=True)))
        return Positions(_INT64, tuple(over), lambda: context.writer.constant(table))
    return positions(target, axis, {d: d for d in range(len(gather.shape))}, gather, context)


def _at(
    over: range, index: Positions, context: Context, dtype: ir.DataType, *, column: bool = False
) -> ir.Value:
    """Write the indices over these dims, and with a last dim of one ``column``."""
    w, at, axes = context.writer, index.write(), list(index.axes)
    more = [i for i, d in enumerate(axes) if d not in over]
    if column and more == [len(axes) - 1]:
        more, column = [], False
    at = w.axes("Squeeze", at, index.dtype, more)
    missing = [i for i, d in enumerate(over) if d not in axes]
    at = w.axes("Unsqueeze", at, index.dtype, missing + [len(over)] * column)
    return w.cast(at, index.dtype, dtype)


def _rows(gather: Gather, axis: int, over: range, index: Positions, context: Context) -> ir.Value:
    refuse_unless(len(over) == 1)
    at = _at(over, index, context, index.dtype)
    return context.writer.node("Gather", [gather.data, at], gather.dtype, axis=axis)


def _batches(
    gather: Gather, axis: int, over: range, index: Positions, context: Context
) -> ir.Value:
    w = context.writer
    refuse_unless(len(over) > axis)
    at = _at(over, index, context, _INT64, column=True)
    batch = {"batch_dims": axis} if axis else {}
    return w.node("GatherND", [gather.data, at], gather.dtype, **batch)


def _flat(gather: Gather, axis: int, over: range, index: Positions, context: Context) -> ir.Value:
    refuse_unless(len(over) > axis)
    at = _at(over, index, context, _INT64)
    return _merged(gather, axis, at, len(over), context, signed=not gather.nonnegative[axis])


def _by_list(gather: Gather, axis: int, context: Context) -> ir.Value:
    """Read the rows that the indices of a GatherND name on its only axis."""
    w, at, dtype = context.writer, granted(gather.indices), _INT64
    read, dims = index_tensor(gather.stored[axis], context), list(gather.index_dims)
    squeezed = [len(dims)]
    if read is not None:
        atom, value, kind, shape = read
        along = gather.dims_read(atom.parts, shape)
        if along is not None and [d for d in along if d is not None] == dims:
            at, dtype, squeezed = value, kind, [i for i, d in enumerate(along) if d is None]
    at = w.axes("Squeeze", at, dtype, squeezed)
    if axis == 0:
        return w.node("Gather", [gather.data, at], gather.dtype, axis=0)
    at, signed = w.cast(at, dtype, _INT64), not gather.counts_from_start(axis)
    return _merged(gather, axis, at, len(dims), context, signed=signed)


def _merged(
    gather: Gather, axis: int, at: ir.Value, dims: int, context: Context, *, signed: bool
) -> ir.Value:
    """Read rows of the axes up to this one, merged, at positions of so many dims on this one."""
    w, sizes = context.writer, [n.constant or 0 for n in gather.data_shape[: axis + 1]]
    filled = all(gather.facts.is_nonnegative(n - 1) for n in gather.data_shape)
    # In the shape that a Reshape takes, 0 copies a size.
    refuse_unless(axis > 0 and filled and 0 not in sizes)
    *batch, size = sizes
    if signed:
        at = context.numbers.from_start(at, size)
    first = np.arange(math.prod(batch)).reshape(*batch, *[1] * (dims - axis)) * size
    at = w.node("Add", [at, w.constant(first)], _INT64)
    shape = context.numbers.shape([term(math.prod(sizes)), *gather.data_shape[axis + 1 :]])
    rows = w.node("Reshape", [gather.data, shape], gather.dtype)
    return w.node("Gather", [rows, at], gather.dtype, axis=0)
