"""Slices of one axis: the bounds that select given positions, as numbers or as terms of sizes.

Slice clamps its bounds and counts negative ones from the end, so several bounds give one slice: a
literal, a number that the graph computes anyway, or one computed from sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from onnx_scatterx.engine.terms import Facts, PositivePart, Term, maximum, minimum, term, where
from onnx_scatterx.engine.terms import step as at_least
from onnx_scatterx.engine.write.terms import TermEmitter
from onnx_scatterx.graphs import INT64_MAX
from onnx_scatterx.text import Detail, Reason, RefusedError

_VARIANTS = 27  # bounds tried in place of one


@dataclass(frozen=True)
class Cut:
    """A Slice of one axis: bounds as literals, or as terms that are computed at run time."""

    axis: int
    start: int | Term
    end: int | Term
    step: int
    is_flipped: bool = False  # reversed afterwards

    @classmethod
    def of(
        cls, numbers: TermEmitter, axis: int, extent: Term, first: Term, count: Term, step: int = 1
    ) -> Cut | None:
        """Return the Slice of an axis of an extent for ``first + step * q``, ``0 <= q < count``.

        It is None if the axis is whole. It does not depend on the place in which it is written,
        unless its bounds are computed at run time. Refuses if the bounds cannot be written.
        """
        step = _int64(step)  # one beyond int64 visits one position, as the largest one does
        if step > 0:
            return _forward(axis, first, count, step, extent, numbers)
        return _backward(axis, first, count, step, extent, numbers)

    @property
    def is_literal(self) -> bool:
        return isinstance(self.start, int) and isinstance(self.end, int)


def _backward(
    axis: int, first: Term, count: Term, step: int, extent: Term, numbers: TermEmitter
) -> Cut | None:
    facts = numbers.scope.facts
    if step == -1 and facts.equal(count, extent):
        # The whole axis, also if it is empty. From a start of INT64_MAX, IREE reads zeros.
        return Cut(axis, -1, -INT64_MAX, step)
    end = first + step * count
    if facts.is_nonnegative(count - 1) and facts.is_nonnegative(first):
        start = _start(first, extent, numbers)
        if facts.is_nonnegative(-end - 1):
            return Cut(axis, start, -INT64_MAX, step)
        if facts.is_nonnegative(end):
            return Cut(axis, start, end.constant if end.constant is not None else end, step)
    if step != -1:
        raise RefusedError(Reason.UNKNOWN_SIZE, Detail("where a reversed slice starts: {}", first))
    # One Slice cannot cut an empty part from the end: cut forwards, then reverse the result.
    forward = _forward(axis, facts.simplify(end + 1), count, 1, extent, numbers)
    return Cut(axis, -1, -INT64_MAX, -1) if forward is None else replace(forward, is_flipped=True)


def _forward(
    axis: int, first: Term, count: Term, step: int, extent: Term, numbers: TermEmitter
) -> Cut | None:
    facts = numbers.scope.facts
    whole = facts.is_nonnegative(first + step * count - extent)
    if step == 1 and whole and facts.equal(first, 0):
        return None
    start = _start(first, extent, numbers)
    if whole:
        return Cut(axis, start, INT64_MAX, step)

    def ends_there(t: Term, signed: bool) -> bool:
        left = _clamped(t, extent, signed, facts) - first
        return facts.equal(maximum((left + step - 1) // step, 0), count)

    key = "end", first, count, step, extent
    return Cut(axis, start, _bound(key, first + step * count, extent, numbers, ends_there), step)


def _start(first: Term, extent: Term, numbers: TermEmitter) -> int | Term:
    facts = numbers.scope.facts

    def starts_there(t: Term, signed: bool) -> bool:
        return facts.equal(_clamped(t, extent, signed, facts), first)

    return _bound(("start", first, extent), first, extent, numbers, starts_there)


def _clamped(bound: Term, extent: Term, signed: bool, facts: Facts) -> Term:
    """Return the position of a Slice bound; if ``signed``, it may count from the end."""
    if signed:
        bound = where(at_least(bound), bound, bound + extent)
    return maximum(minimum(bound, extent), 0)


def _bound(
    key: object,
    exact: Term,
    extent: Term,
    numbers: TermEmitter,
    serves: Callable[[Term, bool], bool],
) -> int | Term:
    """Return the cheapest Slice bound that selects the same elements as the exact one.

    A literal ``-c`` can replace ``extent - c``, and so can a number that the model computes whose
    sign is not known. ``key`` is everything that the answer depends on: many slices of a model have
    the same bounds.
    """
    if exact.constant is not None and exact.constant >= 0:
        return _int64(exact.constant)
    facts = numbers.scope.facts
    literal, variants = facts.memoised(
        key, lambda: (_literal(exact, extent, facts, serves), _variants(exact, facts))
    )
    if literal is not None:
        return literal
    similar = numbers.reader.available.similar(exact) if exact.piecewise else []
    candidates = [(t, False) for t in variants]
    candidates += [(t, True) for t in similar if t not in variants]

    def is_right(t: Term, signed: bool) -> bool:
        # The exact bound lies within the axis; another one may overflow int64.
        return (signed or facts.is_nonnegative(t)) and (
            t is exact or (numbers.stays(t) and serves(t, signed))
        )

    costs: list[tuple[int, int]] = []
    for i, (t, _) in enumerate(candidates):
        with suppress(RefusedError):
            costs.append((numbers.cost(t), i))
    for _, i in sorted(costs):  # the first correct one is the cheapest
        if facts.memoised((key, *candidates[i]), partial(is_right, *candidates[i])):
            return candidates[i][0]
    raise RefusedError(Reason.UNKNOWN_SIZE, exact)


def _literal(
    exact: Term, extent: Term, facts: Facts, serves: Callable[[Term, bool], bool]
) -> int | None:
    """Return a literal bound that selects the same elements, or None."""
    for t, sign in ((exact, 1), (extent - exact, -1)):
        number = _eventual_number(facts.simplify(t), facts)
        if number is not None and (sign > 0 or number > 0):
            literal = term(number) if sign > 0 else extent - number
            if serves(literal, False):
                return _int64(sign * number)
    return None


def _int64(number: int) -> int:
    """Return the bound or step of the same effect that int64 holds: no axis is as long."""
    return max(-INT64_MAX, min(number, INT64_MAX))


def _eventual_number(t: Term, facts: Facts) -> int | None:
    """Return the number that a term is for all large sizes, if it looks like one."""
    high = facts.interval(t)[1]
    if high < 2**31:
        return int(high)
    big = t.replace({a: a.parts[0] for a in t.atoms if isinstance(a, PositivePart)})
    return big.constant if big.constant is not None and big.constant >= 0 else None


def _variants(t: Term, facts: Facts) -> list[Term]:
    """Return forms of a term with some cases decided: after clamping they may be the same."""
    variants = list(dict.fromkeys((t, facts.simplify(t))))
    made = set(variants)
    for each in variants:  # which grows
        for atom in sorted(
            (a for a in each.all_atoms() if isinstance(a, PositivePart)), key=lambda a: -a.order
        ):
            for value in (atom.parts[0], 0):
                variant = facts.simplify(each.replace({atom: value}))
                if variant not in made and len(variants) < _VARIANTS:
                    variants.append(variant)
                    made.add(variant)
    return variants
