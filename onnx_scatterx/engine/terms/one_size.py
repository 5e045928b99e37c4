"""Terms of one size, decided completely: alone, or under facts.

A term of one size n that is built by sums, integer multiples, ``PositivePart``, ``Indicator`` and
``FloorDiv`` by constants is, from some n on, affine on every residue class of n. So whether ``t(n)
>= 0`` holds for every ``n >= low`` is decided by the numbers before that point, and by a slope and
a value for each class. If the size has an upper bound that is small, every number is tried.

Some facts relate the size to other leaves. Then each of these gets one number. If a size allows
these numbers, and the term is negative there, the term cannot be proven, so no proof is sought.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.engine.budget import LIMITS, NARROW, PRICES, TooLargeError, budget
from onnx_scatterx.engine.terms.algebra import Term
from onnx_scatterx.engine.terms.atom import Atom, Interval
from onnx_scatterx.engine.terms.cases import FloorDiv, Indicator, PositivePart
from onnx_scatterx.engine.terms.constraints import Layers, about, number_of_facts, residue_of
from onnx_scatterx.engine.terms.monomial import is_narrow
from onnx_scatterx.engine.terms.symbol_ids import results
from onnx_scatterx.engine.terms.symbols import Symbol, size


class OneSize:
    """Decides terms of one size under facts: these are in ``layers``, and ``bounds`` of leaves.

    If the facts hold in one case only (``passing``), no numbers are sought for other leaves.
    """

    def __init__(
        self, layers: Layers, bounds: Callable[[Symbol], Interval], *, passing: bool
    ) -> None:
        self._layers = layers
        self._bounds = bounds
        self._passing = passing
        self._known: dict[Symbol, tuple[int, tuple[Term, ...], tuple[Term, ...] | None]] = {}

    def decide(self, t: Term) -> bool | None:
        """Return whether ``t >= 0`` at every size that the facts allow, or None if not decided."""
        leaves = t.leaves()
        if t.coords or len(leaves) != 1:
            return None
        (leaf,) = leaves
        low, high = self._bounds(leaf)
        if math.isinf(low) or leaf.parts:
            return None
        if not math.isinf(high):
            return self._by_all_numbers(t, leaf, int(low), int(high))
        least = int(low)
        if congruence := residue_of(leaf, self._layers):
            modulus, residue = congruence
            count = size(f"{leaf.name} // {modulus}", ("count", leaf, modulus))
            (atom,) = count.leaves()
            counted = t.replace({leaf: modulus * count + residue})
            return never_negative(counted, atom, max(0, -((residue - least) // modulus))) or None
        if never_negative(t, leaf, least) is not False:
            return never_negative(t, leaf, least)
        # False for some number, but not for every number that the facts allow.
        alone, at_others = self._facts_of(leaf)
        decided = never_negative(t, leaf, least, alone) if alone else False
        if decided or at_others is alone:
            return decided
        refuted = at_others is not None and never_negative(t, leaf, least, at_others) is False
        return False if refuted else None

    def _facts_of(self, leaf: Symbol) -> tuple[tuple[Term, ...], tuple[Term, ...] | None]:
        """Return the facts about a size alone, and all facts at one number for each other leaf.

        The latter is None if no numbers are found at which all facts can hold.
        """
        when = number_of_facts(self._layers)
        if leaf not in self._known or self._known[leaf][0] != when:
            facts = about(leaf, self._layers)
            alone = tuple(fact for fact in facts if _is_about(fact, leaf))
            others: tuple[Term, ...] | None = alone
            if len(alone) < len(facts):
                with budget().aside():
                    others = self._at_others(leaf)
            self._known[leaf] = when, alone, others
        return self._known[leaf][1:]

    def _at_others(self, leaf: Symbol) -> tuple[Term, ...] | None:
        """Return all facts about a size, with the least value in the place of every other leaf.

        Facts about these leaves are included. The result is None if these values contradict a fact,
        or if something else than the size remains in one.
        """
        if self._passing:
            return None  # facts of one case: another search decides it
        numbers: dict[Atom, int] = {}
        facts: dict[Term, None] = {}
        waiting = [leaf]
        while waiting:
            for fact in about(waiting.pop(), self._layers):
                facts[fact] = None
                new = [x for x in fact.leaves() if x is not leaf and x not in numbers]
                numbers.update({x: self._least(x) for x in new})
                waiting += new
        budget().charge_part(len(facts))
        if any(residue_of(x, self._layers) for x in numbers):
            return None
        try:
            there = dict.fromkeys(fact.replace(numbers) for fact in facts)
        except TooLargeError:
            return None
        rest = tuple(t for t in there if t.constant is None)
        contradict = any((t.constant or 0) < 0 for t in there)
        return rest if not contradict and all(_is_about(t, leaf) for t in rest) else None

    def _least(self, leaf: Symbol) -> int:
        low, high = self._bounds(leaf)
        return int(low if math.isfinite(low) else min(0, high))

    def _by_all_numbers(self, t: Term, leaf: Symbol, low: int, high: int) -> bool | None:
        """Try every number that a size may be, if they are few."""
        ranges: dict[Atom, Interval] = {leaf: (low, high)}
        if high - low >= LIMITS.listed_numbers or not is_narrow(t, ranges):
            return None
        facts = (fact for fact in about(leaf, self._layers) if _is_about(fact, leaf))
        known = tuple(fact for fact in facts if is_narrow(fact, ranges))
        return True if _holds(t, known, low, high) else None


def _is_about(fact: Term, leaf: Symbol) -> bool:
    """Return whether a fact is about one size, and about nothing else."""
    return fact.leaves() == {leaf} and not fact.coords


def never_negative(t: Term, leaf: Symbol, low: int, known: tuple[Term, ...] = ()) -> bool | None:
    """Return whether ``t >= 0`` for every value of ``leaf`` from ``low`` on; None is "unknown".

    Only values at which the terms in ``known``, of the same leaf, are >= 0 count.

    >>> from onnx_scatterx.engine.terms import size
    >>> n = size("n")
    >>> (leaf,) = n.leaves()
    >>> never_negative(n - (n + 1) // 2 - n // 2, leaf, 0)
    True
    >>> never_negative(n - 4, leaf, 0), never_negative(n - 4, leaf, 0, (n // 2 - 2,))
    (False, True)
    """
    if t.never_negative_from is None:
        t.never_negative_from = {}
    key = low, known
    if key not in t.never_negative_from:  # the leaf is the term's only one
        t.never_negative_from[key] = _decide(t, leaf, low, known)
    answer, steps = t.never_negative_from[key]
    paid = results()
    if (never_negative, t, key) in paid:
        budget().recall(steps)
    else:
        paid[never_negative, t, key] = True
        budget().charge_question(steps)
    return answer


def _decide(t: Term, leaf: Symbol, low: int, known: tuple[Term, ...]) -> tuple[bool | None, int]:
    """Return the answer and how many steps it takes."""
    weight = 1 + t.weight + sum(each.weight for each in known)
    steps = PRICES.one_size * weight
    if weight > LIMITS.weight or not _holds(t, known, low, low + LIMITS.first_numbers):
        return (None if weight > LIMITS.weight else False), steps
    forms = [_quasi_affine(each, leaf) for each in (t, *known)]
    affine = [form for form in forms if form is not None]
    period = math.lcm(1, *(form.period for form in affine))
    steps += steps * period // 64
    if len(affine) < len(forms) or period > LIMITS.listed_numbers:
        return None, steps
    # Past this point every class is affine and keeps its sign: one look at each is enough.
    last = max(low, *(form.stable_from() for form in affine)) + period
    if last - low > LIMITS.listed_numbers:
        return None, steps
    return _holds(t, known, low, last), steps + weight * (last - low) // PRICES.numbers


def _holds(t: Term, known: tuple[Term, ...], low: int, last: int) -> bool:
    """Return whether ``t >= 0`` at all of these numbers that satisfy the known facts."""
    ranges: dict[Atom, Interval] = dict.fromkeys(t.leaves(), (low, last))
    if not all(is_narrow(each, ranges) for each in (t, *known)):
        return all(
            _value(t, n) >= 0 or any(_value(each, n) < 0 for each in known)
            for n in range(low, last + 1)
        )
    numbers = np.arange(low, last + 1)
    for each in known:
        numbers = numbers[_at(each, numbers) >= 0]
    return bool((_at(t, numbers) >= 0).all())


def _at(t: Term, numbers: np.ndarray) -> np.ndarray:
    """Return a term of one size at these numbers, if all results fit into 64 bits."""
    return np.broadcast_to(t.evaluate(lambda _, __: numbers, lambda _: 0), numbers.shape)


def _value(t: Term, n: int) -> int:
    return int(t.evaluate(lambda _, __: n, lambda _: 0))


@dataclass(frozen=True)
class _QuasiAffine:
    """``t(period q + r) = slopes[r] q + values[r]`` for ``period q + r >= start``."""

    start: int
    slopes: np.ndarray
    values: np.ndarray

    @property
    def period(self) -> int:
        return len(self.slopes)

    def refined(self, period: int) -> _QuasiAffine:
        times = period // self.period
        if times == 1:
            return self
        slopes, values = _exact(times + 1, self.slopes, self.values)
        shifts = slopes * np.arange(times, dtype=slopes.dtype)[:, None]
        return _QuasiAffine(self.start, np.tile(slopes * times, times), (values + shifts).ravel())

    def stable_from(self, margin: int = 0) -> int:
        """Return the point from which no class changes its sign (less ``margin``)."""
        (grows,) = np.nonzero(self.slopes)
        if not len(grows):
            return self.start
        slopes, values = _exact(self.period + margin, self.slopes[grows], self.values[grows])
        points = self.period * (abs(values) + margin) // abs(slopes) + self.period + grows
        return max(self.start, int(points.max()))


def _exact(factor: int, *arrays: np.ndarray) -> list[np.ndarray]:
    """Return integers of a type that holds sums of two of them, each multiplied by ``factor``."""
    largest = max(_largest(array) for array in arrays)
    fits = (largest + 1) * (factor + 1) < NARROW
    return [array.astype(np.int64 if fits else object) for array in arrays]


def _largest(array: np.ndarray) -> int:
    return max(abs(int(array.max())), abs(int(array.min())))


def _quasi_affine(t: Term, leaf: Symbol) -> _QuasiAffine | None:
    parts: list[tuple[int, _QuasiAffine]] = []
    constant = 0
    for monomial, coefficient in t.items:
        if not monomial:
            constant = coefficient
            continue
        factors = [_quasi_affine_atom(a, leaf) for a in monomial]
        known = [f for f in factors if f is not None]
        if len(known) < len(factors):
            return None
        product = known[0]
        for factor in known[1:]:
            multiplied = _multiply(product, factor)
            if multiplied is None:
                return None
            product = multiplied
        parts.append((coefficient, product))
    period = math.lcm(1, *(p.period for _, p in parts))
    if period > LIMITS.listed_numbers:
        return None
    slopes, values = np.zeros(period, np.int64), np.full(period, constant, object)
    for c, part in parts:
        refined = part.refined(period)
        slopes = _sum(slopes, c, refined.slopes)
        values = _sum(values, c, refined.values)
    return _QuasiAffine(max((p.start for _, p in parts), default=0), slopes, values)


def _sum(a: np.ndarray, c: int, b: np.ndarray) -> np.ndarray:
    """Return ``a + c b``."""
    a, b = _exact(abs(c), a, b)
    total: np.ndarray = a + c * b
    return total


def _multiply(a: _QuasiAffine, b: _QuasiAffine) -> _QuasiAffine | None:
    period = math.lcm(a.period, b.period)
    if period > LIMITS.listed_numbers:
        return None
    a, b = a.refined(period), b.refined(period)
    if np.any((a.slopes != 0) & (b.slopes != 0)):
        return None  # quadratic
    s, v = _exact(_largest(b.slopes) + _largest(b.values), a.slopes, a.values)
    u, w = b.slopes.astype(s.dtype), b.values.astype(s.dtype)
    return _QuasiAffine(max(a.start, b.start), s * w + u * v, v * w)


def _quasi_affine_atom(atom: object, leaf: Symbol) -> _QuasiAffine | None:
    if atom is leaf:
        return _QuasiAffine(0, np.ones(1, np.int64), np.zeros(1, np.int64))
    if not isinstance(atom, PositivePart | Indicator | FloorDiv):
        return None
    inner = _quasi_affine(atom.parts[0], leaf)
    if inner is None:
        return None
    if isinstance(atom, FloorDiv):
        divisor = atom.parts[1].constant
        if divisor is None or divisor <= 0 or inner.period * divisor > LIMITS.listed_numbers:
            return None
        inner = inner.refined(inner.period * divisor)
        return _QuasiAffine(inner.start, inner.slopes // divisor, inner.values // divisor)
    grows = (inner.slopes > 0) | ((inner.slopes == 0) & (inner.values >= 0))
    if isinstance(atom, Indicator):
        start, ones = inner.stable_from(1), grows.astype(np.int64)
        return _QuasiAffine(start, np.zeros_like(ones), ones)
    start = inner.stable_from()
    return _QuasiAffine(start, np.where(grows, inner.slopes, 0), np.where(grows, inner.values, 0))
