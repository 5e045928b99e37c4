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

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.emit.reduce import iota, reduced, reducers, select
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.optimizer.symbolic.terms import Term, dim_of
from onnx_scatterx.text.reasons import Reason, Refusal, RefusedError

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

    @property
    def is_checked(self) -> bool:
        """Whether the original checks all positions: it does not check empty indices."""
        s = self.scatter
        return all(s.facts.is_nonnegative(s.shape[d] - 1) for d in s.index_dims if d != self.dim)


class DiagonalRule(ScatterRule):
    """Rewrites writes along a diagonal."""

    name = "diagonal"
    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        found = _diagonal(scatter)
        if found is None:
            return Refusal(Reason.NO_RULE)
        w, dtype = context.writer, scatter.dtype
        number = context.constants.splat(scatter.updates)
        ops = reducers(w, scatter.reduction, dtype)
        aligned = None if number is not None else _Aligned.of(found, context)

        def write() -> ir.Value:
            hit = _hit(found, context)
            if aligned is None:
                assert number is not None
                new = w.constant(number, dtype)
            else:
                new = aligned.write()
            new = reduced(w, ops, scatter.data, new, dtype)
            return select(w, hit, new, scatter.data, dtype)

        return Plan(write)


def _diagonal(scatter: Scatter) -> _Diagonal | None:
    """Return the two axes that share a dim, if the others are written in full."""
    facts = scatter.facts
    places: dict[int, list[tuple[int, int]]] = {}  # dim -> axes, and from where on
    for axis, (target, size) in enumerate(
        zip(scatter.index_exprs, scatter.data_shape, strict=True)
    ):
        dim = dim_of(target - target.offset)
        if dim is not None and target.offset >= 0:
            places.setdefault(dim, []).append((axis, target.offset))
        elif size.constant != 1:  # an axis of one position needs no dim
            return None
    twice = [d for d, found in places.items() if len(found) > 1]
    if len(twice) != 1 or len(places[twice[0]]) != 2:
        return None
    (dim,) = twice
    along = {d: found[0][0] for d, found in places.items() if d != dim}
    # If a write that is as long as the axis starts after 0, it is empty, or the original fails.
    if not all(facts.equal(scatter.shape[d], scatter.data_shape[c]) for d, c in along.items()):
        return None
    unused = [n for d, n in enumerate(scatter.shape) if d not in places]
    if any(n.constant != 1 for n in unused):
        return None
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


@dataclass(frozen=True)
class _Aligned:
    """The updates with each dim at its axis, and the diagonal's dim at one of its two axes.

    ``front`` elements are padded before them there. ``cut`` is how many are kept afterwards.
    """

    found: _Diagonal
    context: Context
    side: int
    front: int
    cut: Term | None

    @classmethod
    def of(cls, found: _Diagonal, context: Context) -> _Aligned:
        facts, n = found.scatter.facts, found.count
        choices = []
        for side, shift in enumerate(found.shifts):
            size = found.size(side)
            if not facts.is_nonnegative(n + shift - size):
                continue
            # Updates that are checked end within their axis; one element is broadcast against none.
            whole = facts.equal(n + shift, size) or (shift < 2 and found.is_checked)
            choices.append(cls(found, context, side, shift, None if whole else size))
        if not choices:
            raise RefusedError(Reason.NO_RULE)
        trials = [(context.writer.dry_run(choice.write), choice) for choice in choices]
        costs = [(t.cost, i) for i, (t, _) in enumerate(trials) if not isinstance(t, Refusal)]
        if not costs:
            raise RefusedError(*vars(trials[0][0]).values())
        return choices[min(costs)[1]]

    @property
    def _order(self) -> list[tuple[int, int]]:
        """The axes with their dims, ascending."""
        own = (self.found.axes[self.side], self.found.dim)
        return sorted([(axis, d) for d, axis in self.found.along.items()] + [own])

    def write(self) -> ir.Value:
        s, w, order = self.found.scatter, self.context.writer, self._order
        dims = [d for _, d in order]
        kept = sorted(dims)
        x = w.axes("Squeeze", s.updates, s.dtype, [d for d in range(len(s.shape)) if d not in dims])
        x = w.transpose(x, s.dtype, [kept.index(d) for d in dims])
        place = dims.index(self.found.dim)
        if self.front:
            if w.version < 11:
                raise RefusedError(Reason.OPSET, "Pad of these needs operator set 11")
            pads = [0] * (2 * len(dims))
            pads[place] = self.front
            zero = w.constant(np.zeros((), s.dtype.numpy()), s.dtype)
            x = w.pad(x, s.dtype, w.constant(pads), zero)
        if self.cut is not None:
            start, end = w.constant([0]), self.context.numbers.vector(self.cut)
            x = w.slice_dynamic(x, s.dtype, place, start, end, 1)
        axes = [axis for axis, _ in order]
        return w.axes(
            "Unsqueeze", x, s.dtype, [c for c in range(len(s.data_shape)) if c not in axes]
        )


diagonal = DiagonalRule()
