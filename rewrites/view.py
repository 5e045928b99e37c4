"""A region of one tensor is that tensor, sliced, transposed and given the right axes.

    before   y = Scatter(data, all of it, updates)
    after    y = updates            (a full cover: nothing at all, or Slice, Transpose, ...)

Holds for a region of one cell whose elements all come from one source. Slice clamps its bounds, so
a bound may be any number that is the right one after clamping; a bound that is known only when the
model runs is computed from sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import onnx_ir as ir

from onnx_scatterx.emit.writer import FAR
from onnx_scatterx.indexing.terms import Pos, Term, floor_div, maximum, minimum, pos, term
from onnx_scatterx.mosaic.alias import Alias
from onnx_scatterx.mosaic.plan import Form, Plan, Planner, Region
from onnx_scatterx.mosaic.sources import View, Walk
from onnx_scatterx.mosaic.span import ONE
from onnx_scatterx.reasons import Reason, Refusal, RefusedError
from onnx_scatterx.weighing.costs import Work


def _cheaper(best: Plan | Refusal, other: Plan, alias: Alias, planner: Planner) -> Plan:
    """Return the cheaper of two plans, where the other one keeps the nodes of an alias."""
    work = [Work("Transpose", alias.shape, len(alias.shape))] * alias.cost
    weight = other.weight + planner.costs.weigh(alias.cost, work, planner.dtype)
    if isinstance(best, Plan) and best.weight <= weight:
        return best
    return replace(other, cost=other.cost + alias.cost, weight=weight)


@dataclass(frozen=True)
class _Cut:
    """A Slice of one axis: bounds as literals, or as terms that the run computes."""

    axis: int
    start: int | Term
    end: int | Term
    step: int
    is_flipped: bool = False  # reversed afterwards

    @property
    def is_literal(self) -> bool:
        return isinstance(self.start, int) and isinstance(self.end, int)


class ViewForm(Form):
    """Writes a region that is part of one tensor."""

    name = "view"

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        if len(region.cells) != 1 or not isinstance(region.cells[0].source, View):
            return Refusal(Reason.NO_RULE)
        if any(s.modulus != 1 for s in region.cells[0].box):
            return Refusal(Reason.NO_RULE)
        view = region.cells[0].source
        best: Plan | Refusal
        try:
            best = self._of(view, region, planner)
        except RefusedError as error:
            best = error.refusal
        for alias in planner.aliases.get(view.value, ()):
            if (isinstance(best, Refusal) or best.cost) and planner.numbers.is_available(
                alias.value
            ):
                seen = alias.seen(view, region.low, region.high, planner.facts)
                if seen is not None:
                    best = _cheaper(best, self._of(seen, region, planner), alias, planner)
        return best

    def _of(self, view: View, region: Region, planner: Planner) -> Plan:
        cuts = [
            cut
            for axis, walk in enumerate(view.walks)
            if (cut := _cut(axis, walk, view.shape[axis], region, planner)) is not None
        ]
        literal = [c for c in cuts if c.is_literal]
        computed = [c for c in cuts if not c.is_literal]
        layout = _layout(view, region)
        flipped = [c.axis for c in cuts if c.is_flipped]
        cost = bool(literal) + len(computed) + bool(flipped)
        for cut in computed:
            for bound in (cut.start, cut.end):
                cost += planner.numbers.cost(bound) if isinstance(bound, Term) else 0
        wide = [d for d in layout.added if region.extent(d).constant != 1]
        if wide and layout.added == list(range(len(layout.added))):
            layout = replace(layout, added=[])  # Expand adds leading axes itself
        cost += bool(layout.squeezed) + layout.is_permuted + bool(layout.added)
        if wide:
            cost += 1 + planner.numbers.shape_cost(region.extents)
        _check(planner, view, cuts, layout, bool(wide))
        allow_zero = False
        if view.is_reshaped:
            allow_zero = _needs_allow_zero(view, planner)
            cost += 1 + planner.numbers.shape_cost(view.shape)

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            x = view.value
            if view.is_reshaped:
                given = {"allowzero": 1} if allow_zero else {}
                x = w.node("Reshape", [x, planner.numbers.shape(view.shape)], dtype, **given)
            if literal:
                x = w.slice(
                    x,
                    dtype,
                    [c.axis for c in literal],
                    [c.start for c in literal if isinstance(c.start, int)],
                    [c.end for c in literal if isinstance(c.end, int)],
                    [c.step for c in literal],
                )
            for c in computed:
                bounds = [
                    planner.numbers.vector(b) if isinstance(b, Term) else w.constant([b])
                    for b in (c.start, c.end)
                ]
                x = w.slice_dynamic(x, dtype, c.axis, bounds[0], bounds[1], c.step)
            if flipped:
                n = len(flipped)
                x = w.slice(x, dtype, flipped, [FAR] * n, [-FAR] * n, [-1] * n)
            x = w.axes("Squeeze", x, dtype, layout.squeezed)
            x = w.transpose(x, dtype, layout.perm)
            x = w.axes("Unsqueeze", x, dtype, layout.added)
            if wide:
                x = w.node("Expand", [x, planner.numbers.shape(region.extents)], dtype)
            return x

        return planner.plan(cost, self, write, work=_work(view, cuts, layout, wide, region))


def _work(
    view: View, cuts: list[_Cut], layout: _Layout, wide: list[int], region: Region
) -> list[Work]:
    """Return what the nodes of a view write."""
    counts = tuple(ONE if w.dim is None else region.extent(w.dim) for w in view.walks)
    work = []
    steps = {c.axis: c.step for c in cuts if not c.is_flipped}
    one_by_one = [c.axis for c in cuts if not c.is_literal]
    literal = [c.axis for c in cuts if c.is_literal]
    for axes in ([literal] if literal else []) + [[a] for a in one_by_one]:
        last = max(axes)
        work.append(Work("Slice", counts, last + (steps.get(last, 1) != 1)))
    flipped = [c.axis for c in cuts if c.is_flipped]
    if flipped:
        work.append(Work("Slice", counts, max(flipped) + 1))
    if layout.is_permuted:
        rank = len(layout.perm)
        moved = max(d for d in range(rank) if layout.perm[d] != d)
        kept = tuple(n for a, n in enumerate(counts) if a not in layout.squeezed)
        work.append(Work("Transpose", tuple(kept[d] for d in layout.perm), moved + 1))
    if wide:
        work.append(Work("Pad", region.extents, max(wide) + 1))
    return work


def _is_sized(view: View, axis: int) -> bool:
    """Return whether the size of an axis is declared."""
    declared = view.value.shape
    return not view.is_reshaped and declared is not None and isinstance(declared[axis], int)


def _needs_allow_zero(view: View, planner: Planner) -> bool:
    """Return whether a Reshape to a view's shape must say that a 0 is a 0."""
    planner.writer.require("Reshape", planner.dtype)
    if all(planner.facts.proves(n - 1) for n in view.shape):
        return False
    if planner.writer.version < 14:
        raise RefusedError(Reason.OPSET, "Reshape with allowzero needs operator set 14")
    return True


def _check(planner: Planner, view: View, cuts: list[_Cut], layout: _Layout, expanded: bool) -> None:
    for cut in cuts:
        planner.writer.require_slice(
            planner.dtype,
            stepped=cut.step != 1 or cut.is_flipped,
            computed=not cut.is_literal,
            sized=_is_sized(view, cut.axis),
        )
    needed = {
        "Squeeze": bool(layout.squeezed),
        "Transpose": layout.is_permuted,
        "Unsqueeze": bool(layout.added),
        "Expand": expanded,
    }
    for op, used in needed.items():
        if used:
            planner.writer.require(op, planner.dtype)


@dataclass(frozen=True)
class _Layout:
    """What brings the axes of a source into the order of the region."""

    squeezed: list[int]
    perm: list[int]
    added: list[int]

    @property
    def is_permuted(self) -> bool:
        return self.perm != list(range(len(self.perm)))


def _layout(view: View, region: Region) -> _Layout:
    """Match the axes of a source with those of the region.

    Source axes of one position serve region axes of extent 1 that nothing runs over; those that
    are left are squeezed, region axes that are left are added.
    """
    runs = {w.dim: axis for axis, w in enumerate(view.walks) if w.dim is not None}
    if len(runs) < sum(w.dim is not None for w in view.walks):
        raise RefusedError(Reason.DIAGONAL)
    fixed = [axis for axis, w in enumerate(view.walks) if w.dim is None]
    bare = [d for d in range(region.rank) if d not in runs]
    units = [d for d in bare if region.extent(d).constant == 1]
    for axis, d in zip(fixed, units, strict=False):
        runs[d] = axis
    squeezed = fixed[len(units) :]
    added = [d for d in bare if d not in runs]
    kept = [a for a in range(len(view.walks)) if a not in squeezed]
    perm = [kept.index(runs[d]) for d in range(region.rank) if d in runs]
    return _Layout(squeezed, perm, added)


def _cut(axis: int, walk: Walk, extent: Term, region: Region, planner: Planner) -> _Cut | None:
    """Return the Slice that leaves what a walk visits of an axis, or None where that is all."""
    if walk.dim is None:
        first, count, step = walk.start, term(1), 1
    else:
        first = planner.simplified(walk.start + walk.step * region.low[walk.dim])
        count, step = planner.simplified(region.extent(walk.dim)), walk.step
    if step > 0:
        return _forward(axis, first, count, step, extent, planner)
    facts = planner.facts
    if step == -1 and facts.equal(count, extent):
        return _Cut(axis, FAR, -FAR, step)  # all of it, and nothing where there is nothing
    end = first + step * count
    if facts.proves(count - 1) and facts.proves(first):
        start = _start(first, extent, planner)
        if facts.proves(-end - 1):
            return _Cut(axis, start, -FAR, step)
        if facts.proves(end):
            return _Cut(axis, start, end.constant if end.constant is not None else end, step)
    if step != -1:
        raise RefusedError(Reason.UNKNOWN_SIZE, f"where a reversed slice starts: {first}")
    # An empty slice from the end cannot be said in one: cut forwards, then reverse what is there.
    cut = _forward(axis, planner.simplified(end + 1), count, 1, extent, planner)
    return _Cut(axis, FAR, -FAR, -1) if cut is None else replace(cut, is_flipped=True)


def _forward(
    axis: int, first: Term, count: Term, step: int, extent: Term, planner: Planner
) -> _Cut | None:
    facts = planner.facts
    whole = facts.proves(first + step * count - extent)
    if step == 1 and whole and facts.equal(first, 0):
        return None
    start = _start(first, extent, planner)
    if whole:
        return _Cut(axis, start, FAR, step)

    def ends_there(t: Term) -> bool:
        return facts.equal(_length(first, t, step, extent), count)

    key = "end", first, count, step, extent
    return _Cut(axis, start, _bound(key, first + step * count, extent, planner, ends_there), step)


def _start(first: Term, extent: Term, planner: Planner) -> int | Term:
    def starts_there(t: Term) -> bool:
        return planner.facts.equal(_clamped(t, extent), first)

    return _bound(("start", first, extent), first, extent, planner, starts_there)


@lru_cache(maxsize=1 << 12)
def _length(first: Term, end: Term, step: int, extent: Term) -> Term:
    return pos(floor_div(_clamped(end, extent) - first + step - 1, step))


@lru_cache(maxsize=1 << 12)  # many slices of a model have the same bounds
def _clamped(bound: Term, extent: Term) -> Term:
    return maximum(minimum(bound, extent), 0)


def _bound(
    key: object, exact: Term, extent: Term, planner: Planner, serves: Callable[[Term], bool]
) -> int | Term:
    """Return a Slice bound that serves as well as the exact one, and costs least.

    A literal ``-c`` stands for ``extent - c``; a computed bound must not be negative. ``key`` is
    what the answer depends on: many slices of a model have the same bounds.
    """
    if exact.constant is not None and exact.constant >= 0:
        return exact.constant
    memo = planner.facts.memo
    if key not in memo:
        memo[key] = _serving(exact, extent, planner, serves)
    known: int | list[Term] = memo[key]
    if isinstance(known, int):
        return known
    best: tuple[int, Term] | None = None
    for t in known:
        try:
            cost = planner.numbers.cost(t)
        except RefusedError:
            continue
        if best is None or cost < best[0]:
            best = cost, t
    if best is None:
        raise RefusedError(Reason.UNKNOWN_SIZE, str(exact))
    return best[1]


def _serving(
    exact: Term, extent: Term, planner: Planner, serves: Callable[[Term], bool]
) -> int | list[Term]:
    """Return a literal bound that serves, or else the terms that do."""
    facts = planner.facts
    for t, sign in ((exact, 1), (extent - exact, -1)):
        number = _eventual_number(planner.simplified(t), planner)
        if number is not None and (sign > 0 or number > 0):
            literal = term(number) if sign > 0 else extent - number
            if serves(literal):
                return sign * number
    variants = _variants(exact, planner)
    return [t for t in variants if facts.proves(t) and (t is exact or serves(t))]


def _eventual_number(t: Term, planner: Planner) -> int | None:
    """Return the number that a term is for all large sizes, if it looks like one."""
    high = planner.facts.interval(t)[1]
    if high < 2**31:
        return int(high)
    big = t.replace({a: a.parts[0] for a in t.atoms if isinstance(a, Pos)})
    return big.constant if big.constant is not None and big.constant >= 0 else None


def _variants(t: Term, planner: Planner) -> list[Term]:
    """Return a term with some of its cases taken as decided: what clamping may make no matter."""
    found = [t]
    for atom in sorted((a for a in t.atoms if isinstance(a, Pos)), key=lambda a: a.uid)[:3]:
        found += [v.replace({atom: c}) for v in found for c in (atom.parts[0], 0)]
    return [planner.simplified(v) for v in found]


view = ViewForm()
