"""Every position looks up its update among all updates.

    before   y = ScatterND(x, i, u)                          i of shape [N, 1], x of [P, ...]
    after    row = ReduceMax(Where(i == Range(P), P + Range(N), Range(P)))    over the N
             y   = Gather(Concat(x, u), row)

``row`` is the last update that is written to a position, as ONNX Runtime writes them on one thread.
If no update is written to the position, ``row`` is the position's own row.

Holds for any indices, unless updates are known to collide: ONNX does not define that result, so the
scatter is kept. The work is positions times updates. That is a few passes over the data if there
are few updates, and a few passes over the updates if there are few positions. If there are more,
the target must allow this form and its size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.emit.iota import iota
from onnx_scatterx.emit.take import take
from onnx_scatterx.lift.canonical import Canonical
from onnx_scatterx.lift.scatters import Scatter
from onnx_scatterx.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.rewrites.helpers.arrangement import Arrangement, arranged
from onnx_scatterx.rewrites.helpers.places import Places, places_of
from onnx_scatterx.symbolic.terms import Term, term
from onnx_scatterx.text.reasons import Detail, Reason, Refusal, RefusedError

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_FEW = 8  # updates, or positions, that every target may compare with all of the others
_SMALL = 1 << 14  # elements of the largest tensor of a comparison that every target may make


@dataclass(frozen=True)
class Search:
    """A scatter with its positions on one axis, and the positions of its updates."""

    layout: Arrangement
    places: Places
    context: Context

    @property
    def scatter(self) -> Scatter:
        """The scatter."""
        return self.layout.scatter

    @property
    def padded(self) -> bool:
        """Whether there may be no updates: then one without a target is added, for ReduceMax."""
        return not self.scatter.facts.is_nonnegative(self.layout.updates - 1)

    @property
    def compared(self) -> Term:
        """How many comparisons there are."""
        count = self.layout.updates + self.padded
        return math.prod(self.places.shape[: self.layout.place], start=term(1)) * math.prod(
            self.places.shape[self.layout.place + 1 :], start=self.layout.positions * count
        )


class DenseWriteRule(ScatterRule):
    """Rewrites writes to any positions, where the last update wins."""

    name = "dense_write"
    is_dense = True
    searches = True
    takes_last = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        search = search_of(scatter, context)
        if search is None or scatter.reduction != "none" or meets(scatter):
            return Refusal(Reason.NO_RULE)
        found = _last(search)
        return replace(found, work=allow(search.compared, search))


def search_of(scatter: Scatter, context: Context) -> Search | None:
    """Return a scatter as a search, or None if its indices cannot be read."""
    layout = arranged(scatter, apart=False)
    places = None if layout is None else places_of(layout, context)
    return None if layout is None or places is None else Search(layout, places, context)


def meets(scatter: Scatter) -> bool:
    """Return whether updates are known to collide."""
    known = not any(t.leaves() for t in scatter.index_exprs)
    return known and Canonical(scatter).unique is False


def is_dense(search: Search) -> bool:
    """Return whether the work is more than a few passes over the data, or over the updates."""
    proves, layout = search.scatter.facts.is_nonnegative, search.layout
    return not any(proves(_FEW - n) for n in (layout.updates, layout.positions))


def is_small(elements: Term, search: Search) -> bool:
    """Return whether so many elements are negligible, and no more than the target allows."""
    limit = search.context.target.dense_limit
    most = _SMALL if limit is None else min(_SMALL, limit)
    return search.scatter.facts.interval(elements)[1] <= most


def allow(elements: Term, search: Search) -> Term | None:
    """Return the elements of the largest tensor if the form is dense; refuse too large ones.

    A size that is not known counts as its upper bound.
    """
    if not is_dense(search) or is_small(elements, search):
        return None
    _, most = search.scatter.facts.interval(elements)
    limit = search.context.target.dense_limit
    if limit is None:
        raise RefusedError(Reason.NO_RULE)
    if most > limit:
        size = Detail("{} elements, the target allows {}", elements, limit)
        raise RefusedError(Reason.TOO_LARGE, size)
    return elements


def matches(search: Search, *, padded: bool) -> tuple[ir.Value, ir.Value]:
    """Write which update has which position, [l..., P, N, r...], and the positions, [P, 1, ...]."""
    w, numbers, layout = search.context.writer, search.context.numbers, search.layout
    place, behind = layout.place, len(layout.right)
    ahead = 0 if search.places.shared else place
    behind = 0 if search.places.shared else behind
    at = search.places.write()
    if search.places.shared:
        rank = len(search.places.shape)
        at = squeezed(search, at, [d for d in range(rank) if d != place])
    if padded:
        pads = [0] * (2 * (ahead + 1 + behind))
        pads[ahead + 1 + behind + ahead] = 1
        nowhere = w.constant(np.array(-1))
        at = w.pad(at, _INT64, w.constant(pads), nowhere)
    at = w.axes("Unsqueeze", at, _INT64, [ahead])
    line = iota(numbers, layout.positions)
    line = w.axes("Unsqueeze", line, _INT64, [1 + d for d in range(1 + behind)])
    return w.node("Equal", [at, line], _BOOL), line


def squeezed(search: Search, x: ir.Value, axes: list[int]) -> ir.Value:
    """Drop axes of extent 1."""
    return search.context.writer.axes("Squeeze", x, _INT64, axes)


def rows(search: Search) -> ir.Value:
    """Write for each position P + its last update, or the position if it is not updated.

    The shape is [P] if all rows of the data share their indices, else [l..., P, r...].
    """
    w, numbers, layout = search.context.writer, search.context.numbers, search.layout
    shared = search.places.shared
    ahead = 0 if shared else layout.place
    behind = 0 if shared else len(layout.right)
    hit, line = matches(search, padded=search.padded)
    updates = iota(numbers, layout.updates + search.padded)
    updates = w.node("Add", [updates, numbers.vector(layout.positions)], _INT64)
    updates = w.axes("Unsqueeze", updates, _INT64, [1 + d for d in range(behind)])
    found = w.node("Where", [hit, updates, line], _INT64)
    return w.reduce("ReduceMax", found, _INT64, ahead + 1)


def _last(search: Search) -> Plan:
    """Take each position's last update, or the element of the data."""
    s, w, layout, numbers = (
        search.scatter,
        search.context.writer,
        search.layout,
        search.context.numbers,
    )
    shared, place = search.places.shared, layout.place

    def write() -> ir.Value:
        row = rows(search)
        parts = [layout.data(search.context), layout.update(search.context)]
        both = w.concat(parts, s.dtype, place)
        x = take(numbers, both, row, s.dtype, place, None if shared else layout.shape)
        return layout.back(x, search.context)

    return Plan(write)


dense_write = DenseWriteRule()
