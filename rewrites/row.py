"""A write of one position per row is a comparison with the positions and a Where.

    before   y = ScatterElements(x, idx, u, axis=1)       idx, u of shape [B, 1], x of [B, S]
    after    y = Where(idx == Range(S) or idx == Range(S) - S, u, x)

Holds where every axis but one is written in full, each along its own dim of the updates, and the
position on that one axis is an element of a tensor over those dims: a scalar that only the run
knows, or one index per row. No two updates meet. Both comparisons together are right whatever the
index's sign; the second is left out where the index is known to count from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.reduce import reduced, reducers
from onnx_scatterx.emit.select import select, select_cost
from onnx_scatterx.indexing.terms import Coord, Leaf, Term
from onnx_scatterx.lift import Scatter
from onnx_scatterx.reasons import Reason, Refusal
from onnx_scatterx.rewrites.rule import Context, Rewriting, ScatterRule

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_MOST = 1 << 20  # positions of an axis that are listed


@dataclass(frozen=True)
class _Positions:
    """The axis, and the tensor of its indices with the axis of the data for each of its dims."""

    axis: int
    dtype: ir.DataType
    places: tuple[int, ...]
    reads: tuple[ir.Value, ...]
    cost: int
    write: Callable[[], ir.Value]


class RowRule(ScatterRule):
    """Rewrites writes of one position per row."""

    name = "row"

    def plan(self, scatter: Scatter, context: Context) -> Rewriting | Refusal:
        positions = _positions(scatter, context)
        if positions is None:
            return Refusal(Reason.NO_RULE)
        axis, rank = positions.axis, len(scatter.data_shape)
        size = scatter.data_shape[axis]
        if size.constant is not None and not 0 < size.constant <= _MOST:
            return Refusal(Reason.NO_RULE)
        w, dtype = context.writer, scatter.dtype
        ops = reducers(w, scatter.reduction, dtype)
        keeps = not ops and context.fills.has_no_negative_zero(scatter.updates)
        signed = not scatter.signs[axis]
        added = [d for d in range(rank) if d not in positions.places]
        missing = _missing(scatter, axis)
        cost = select_cost(w, dtype, keeps_zeros=keeps) + (3 if signed else 1)
        cost += bool(added) + bool(missing) + len(ops) + positions.cost
        if size.constant is None:
            w.require("Range", ir.DataType.INT64)
            cost += context.numbers.cost(size) + 3 + 2 * signed

        def write() -> ir.Value:
            index, kind = positions.write(), positions.dtype
            if size.constant is None and kind != ir.DataType.INT64:
                kind = ir.DataType.INT64  # a size may be more than 32 bits hold
                index = w.node("Cast", [index], kind, to=kind.value)
            index = w.axes("Unsqueeze", index, kind, added)
            lines = _lines(context, size, axis, rank, kind, signed)
            hits = [w.node("Equal", [index, line], _BOOL) for line in lines]
            hit = hits[0] if len(hits) == 1 else w.node("Or", hits, _BOOL)
            new = w.axes("Unsqueeze", scatter.updates, dtype, missing)
            new = reduced(w, ops, scatter.data, new, dtype)
            return select(w, hit, new, scatter.data, dtype, keeps_zeros=keeps)

        return Rewriting(cost, (*positions.reads, scatter.updates, scatter.data), write)


def _lines(
    context: Context, size: Term, axis: int, rank: int, dtype: ir.DataType, signed: bool
) -> list[ir.Value]:
    """Return the positions of an axis, counted from the start and (signed) from the end."""
    w = context.writer
    others = [d for d in range(rank) if d != axis]
    if size.constant is not None:
        line = np.arange(size.constant).reshape([-1 if d == axis else 1 for d in range(rank)])
        lines = [line, line - size.constant] if signed else [line]
        return [w.constant(n.astype(dtype.numpy()), dtype) for n in lines]
    extent = context.numbers.vector(size)
    zero, one = (w.constant(np.array(n, np.int64)) for n in (0, 1))
    limit = w.axes("Squeeze", extent, dtype, [0])
    found = [w.node("Range", [zero, limit, one], dtype)]
    if signed:
        found.append(w.node("Sub", [found[0], extent], dtype))
    return [w.axes("Unsqueeze", value, dtype, others) for value in found]


def _missing(scatter: Scatter, axis: int) -> list[int]:
    """Return the axis where the updates have no dim for it, so that they broadcast along it."""
    return [axis] if len(scatter.shape) < len(scatter.data_shape) else []


def _positions(scatter: Scatter, context: Context) -> _Positions | None:
    """Return the one axis that is not written in full, with its indices."""
    facts = scatter.facts
    along: dict[int, int] = {}  # dim of the updates -> axis of the data
    rest = []
    for axis, (target, size) in enumerate(zip(scatter.targets, scatter.data_shape, strict=True)):
        dim = _dim(target)
        if dim is not None and dim not in along and facts.equal(scatter.shape[dim], size):
            along[dim] = axis
            continue
        if size.constant == 1 and target.constant == 0:
            continue
        rest.append(axis)
    if len(rest) != 1:
        return None
    (axis,) = rest
    # In the order of the axes, with at most the axis itself of extent 1 in between.
    order = [d for d in range(len(scatter.shape)) if scatter.shape[d].constant != 1]
    if [along.get(d) for d in order] != sorted(along[d] for d in order if d in along):
        return None
    if not _aligned(scatter, along, axis):
        return None
    target = scatter.targets[axis]
    found = _looked_up(target, along, scatter, context)
    if found is None and not target.coords and target.constant is None:
        return _computed(axis, target, context)
    return None if found is None else _Positions(axis, *found)


def _looked_up(
    target: Term, along: dict[int, int], scatter: Scatter, context: Context
) -> tuple[ir.DataType, tuple[int, ...], tuple[ir.Value, ...], int, Callable[[], ir.Value]] | None:
    """Return the positions as a tensor of the graph that is read as it is."""
    (atom,) = target.atoms if len(target.items) == 1 and len(target.atoms) == 1 else (None,)
    if not isinstance(atom, Leaf) or target.items[0] != ((atom,), 1):
        return None
    source = atom.source
    value = source[1] if isinstance(source, tuple) and len(source) == 2 else None
    if not isinstance(value, ir.Value) or not context.numbers.is_available(value):
        return None
    found = context.provenance.abstract(value)
    if found.shape is None or found.dtype not in (ir.DataType.INT32, ir.DataType.INT64):
        return None
    places = _places(atom, along, found.shape, scatter)
    return None if places is None else (found.dtype, places, (value,), 0, lambda: value)


def _computed(axis: int, target: Term, context: Context) -> _Positions:
    """Return one position for all rows, computed anew."""
    cost = context.numbers.cost(target)
    return _Positions(axis, _INT64, (axis,), (), cost, lambda: context.numbers.vector(target))


def _dim(target: Term) -> int | None:
    """Return d where a target is exactly x_d."""
    atoms = list(target.atoms)
    if len(atoms) == 1 and isinstance(atoms[0], Coord) and target.items == (((atoms[0],), 1),):
        return atoms[0].dim
    return None


def _aligned(scatter: Scatter, along: dict[int, int], axis: int) -> bool:
    """Return whether each dim of the updates stands at its axis, once the axis has its place."""
    rank, dims = len(scatter.data_shape), len(scatter.shape)
    if dims == rank:
        return all(
            along.get(d) == d
            or (d == axis and scatter.shape[d].constant == 1)
            or (scatter.shape[d].constant == 1 and scatter.data_shape[d].constant == 1)
            for d in range(dims)
        )
    if dims != rank - 1:
        return False
    return all(along.get(d) == (d if d < axis else d + 1) for d in range(dims))


def _places(
    atom: Leaf, along: dict[int, int], shape: tuple[Term, ...], scatter: Scatter
) -> tuple[int, ...] | None:
    """Return the axis of the data for each dim of the index tensor, ascending; None if not so.

    A dim of extent 1 may stand at any axis: it takes the next one. The others must be read whole:
    the tensor may be longer than what the indices take of it.
    """
    rank = len(scatter.data_shape)
    if len(shape) > rank:
        return None
    places: list[int] = []
    for part, extent in zip(atom.parts, shape, strict=True):
        dim = _dim(part)
        if dim is not None and dim in along and scatter.facts.equal(extent, scatter.shape[dim]):
            places.append(along[dim])
        elif part.constant == 0 and extent.constant == 1:
            places.append(-1)
        else:
            return None
    for i in reversed(range(len(places))):
        if places[i] < 0:
            places[i] = (places[i + 1] if i + 1 < len(places) else rank) - 1
    if sorted(set(places)) != places or (places and places[0] < 0):
        return None
    return tuple(places)


row = RowRule()
