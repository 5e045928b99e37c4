"""A write along a diagonal of two axes is a comparison of their positions and a Where.

    before   y = ScatterND(x, i, u)      i[n] = (n + a, n + b)
    after    y = Where(Range(N)[:, 1] + b - a == Range(M)[1, :], u aligned, x)

Holds if one dim of the updates runs along two axes, shifted by known numbers a and b, and every
other axis is written in full, along a dim of its own. Then no two updates collide. The element at
(r, c) is written if c - r = b - a, and r - a is a row of the updates. The second condition holds on
the whole diagonal if a or b is 0 and the updates reach an end of their axis. If this is not proven,
the graph tests the condition. A Pad in front aligns the updates with an axis, unless all are one
number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.emit.reduce import iota, reduced_where
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.optimizer.symbolic.terms import Term, dim_of
from onnx_scatterx.text.reasons import Reason, Refusal, granted, refuse_unless

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64


@dataclass(frozen=True)
class _Diagonal:
    """Two axes that one dim of the updates runs along, starting at positions ``shifts``.

    ``along`` has the dims of the other axes; an axis of one position may have none.
    """

    scatter: Scatter
    dim: int
    axes: tuple[int, int]
    shifts: tuple[int, int]
    along: dict[int, int]

    @property
    def count(self) -> Term:
        """The updates along the diagonal."""
        return self.scatter.shape[self.dim]

    def size(self, side: int) -> Term:
        """Return how long one of the two axes is."""
        return self.scatter.data_shape[self.axes[side]]

    @property
    def reaches_end(self) -> bool:
        """Whether no row of the diagonal lies behind the updates."""
        facts = self.scatter.facts
        return any(facts.is_nonnegative(self.count + self.shifts[k] - self.size(k)) for k in (0, 1))


class DiagonalRule(ScatterRule):
    """Rewrites writes along a diagonal."""

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        found = _diagonal(scatter)
        w, dtype = context.writer, scatter.dtype
        number = context.constants.splat(scatter.updates)
        updates: Callable[[], ir.Value]
        if number is not None:
            updates = partial(w.constant, number, dtype)
        else:
            updates = _updates(found, context)

        def write() -> ir.Value:
            hit = _hit(found, context)
            return reduced_where(w, hit, scatter.reduction, scatter.data, updates(), dtype)

        return Plan(write)


def _diagonal(scatter: Scatter) -> _Diagonal:
    """Return the two axes that share a dim, if the others are written in full."""
    facts = scatter.facts
    places: dict[int, list[tuple[int, int]]] = {}  # dim -> axes, and from where on
    for axis, target, size in scatter.by_axis():
        dim = dim_of(target - target.offset)
        if dim is not None and target.offset >= 0:
            places.setdefault(dim, []).append((axis, target.offset))
        else:
            refuse_unless(size.constant == 1)  # an axis of one position needs no dim
    twice = [d for d, found in places.items() if len(found) > 1]
    refuse_unless(len(twice) == 1 and len(places[twice[0]]) == 2)
    (dim,) = twice
    along = {d: found[0][0] for d, found in places.items() if d != dim}
    # If a write that is as long as the axis starts after 0, it is empty, or the original fails.
    full = (facts.equal(scatter.shape[d], scatter.data_shape[c]) for d, c in along.items())
    refuse_unless(all(full))
    refuse_unless(all(n.constant == 1 for d, n in enumerate(scatter.shape) if d not in places))
    (first, a), (second, b) = places[dim]
    return _Diagonal(scatter, dim, (first, second), (a, b), along)


def _hit(found: _Diagonal, context: Context) -> ir.Value:
    """Write which elements of the two axes, and of those behind the first, are written."""
    w, numbers = context.writer, context.numbers
    rank, (first, second), (a, b) = len(found.scatter.data_shape), found.axes, found.shifts
    lines = [iota(numbers, found.size(k)) for k in (0, 1)]
    rows = w.axes("Unsqueeze", lines[0], _INT64, list(range(1, rank - first)))
    columns = w.axes("Unsqueeze", lines[1], _INT64, list(range(1, rank - second)))
    moved = [rows, columns]
    if a != b:
        side = int(a > b)
        moved[side] = w.node("Add", [moved[side], w.constant([abs(a - b)])], _INT64)
    hits = [w.node("Equal", moved, _BOOL)]
    if min(a, b) > 0:
        hits.append(w.node("Less", [w.constant([a - 1]), rows], _BOOL))
    if not found.reaches_end:
        hits.append(w.node("Less", [rows, numbers.vector(found.count + a)], _BOOL))
    hit = hits[0]
    for other in hits[1:]:
        hit = w.node("And", [hit, other], _BOOL)
    return hit


def _updates(found: _Diagonal, context: Context) -> Callable[[], ir.Value]:
    """Return what writes the updates at their axes with the fewest nodes, or refuse."""
    facts, n = found.scatter.facts, found.count
    choices = []
    for side, shift in enumerate(found.shifts):
        size = found.size(side)
        if not facts.is_nonnegative(n + shift - size):
            continue
        # Updates that are checked end within their axis; one element is broadcast against none.
        checked = found.scatter.is_checked((found.dim,))
        whole = facts.equal(n + shift, size) or (shift < 2 and checked)
        choices.append(partial(_aligned, found, context, side, None if whole else size))
    refuse_unless(choices)
    trials = [context.writer.dry_run(choice) for choice in choices]
    costs = [(t.cost, i) for i, t in enumerate(trials) if not isinstance(t, Refusal)]
    if not costs:
        granted(trials[0])
    return choices[min(costs)[1]]


def _aligned(found: _Diagonal, context: Context, side: int, cut: Term | None) -> ir.Value:
    """Write the updates with each dim at its axis, and the diagonal's dim at one of its two axes.

    They are padded in front there, and then ``cut`` to so many elements.
    """
    s, w = found.scatter, context.writer
    own = found.axes[side], found.dim
    order = sorted([*((axis, d) for d, axis in found.along.items()), own])
    axes, dims = [axis for axis, _ in order], [d for _, d in order]
    kept = sorted(dims)
    x = w.axes("Squeeze", s.updates, s.dtype, [d for d in range(len(s.shape)) if d not in dims])
    x = w.transpose(x, s.dtype, [kept.index(d) for d in dims])
    place = dims.index(found.dim)
    if front := found.shifts[side]:
        refuse_unless(w.version >= 11, Reason.OPSET, "Pad of these needs operator set 11")
        pads = [0] * (2 * len(dims))
        pads[place] = front
        zero = w.constant(np.zeros((), s.dtype.numpy()), s.dtype)
        x = w.pad(x, s.dtype, w.constant(pads), zero)
    if cut is not None:
        x = context.numbers.slice(x, s.dtype, place, 0, cut)
    added = [c for c in range(len(s.data_shape)) if c not in axes]
    return w.axes("Unsqueeze", x, s.dtype, added)
