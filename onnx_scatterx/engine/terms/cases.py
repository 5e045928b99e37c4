"""Atoms with cases: ``PositivePart``, ``Indicator`` and ``FloorDiv``; what they express."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from onnx_scatterx.engine.terms.algebra import Number, Term, interned, polynomial, term
from onnx_scatterx.engine.terms.atom import Atom, Interval


class PositivePart(Atom):
    """``max(t, 0)``."""

    __slots__ = ()
    decidable = True

    def interval(self, of: Callable[[Term], Interval]) -> Interval:
        low, high = of(self.parts[0])
        return max(low, 0), max(high, 0)

    def rebuild(self, parts: tuple[Term, ...]) -> Term:
        return pos(parts[0])

    def value(self, parts: list[Any], leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        return max(parts[0], 0) if isinstance(parts[0], int) else np.maximum(parts[0], 0)

    def __str__(self) -> str:
        return f"max(0, {self.parts[0]})"


class Indicator(Atom):
    """1 if ``t >= 0``, else 0; its own square.

    For an atom n that is never negative, ``n [n - 1 >= 0]`` is n.
    """

    __slots__ = ("absorber",)
    idempotent = True
    decidable = True

    def completed(self) -> None:
        (inner,) = self.parts
        lead = inner.items[-1][0]
        counts = len(lead) == 1 and (inner + 1).items == ((lead, 1),)
        self.absorber = lead[0] if counts and (inner + 1).interval()[0] >= 0 else None

    def interval(self, of: Callable[[Term], Interval]) -> Interval:
        low, high = of(self.parts[0])
        return int(low >= 0), int(high >= 0)

    def rebuild(self, parts: tuple[Term, ...]) -> Term:
        return step(parts[0])

    def value(self, parts: list[Any], leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        inside = parts[0] >= 0
        return int(inside) if isinstance(inside, bool) else inside.astype(np.int64)

    def __str__(self) -> str:
        return f"[{self.parts[0]} >= 0]"


class FloorDiv(Atom):
    """``floor(t / d)``; if ``d`` is 0, the original model has no element or does not run."""

    __slots__ = ()
    decidable = True
    divides = True

    def interval(self, of: Callable[[Term], Interval]) -> Interval:
        (low, high), (d_low, d_high) = of(self.parts[0]), of(self.parts[1])
        if d_low <= 0:
            return -math.inf, math.inf
        quotients = [_quotient(a, d) for a in (low, high) for d in (d_low, d_high)]
        return min(quotients), max(quotients)

    def rebuild(self, parts: tuple[Term, ...]) -> Term:
        return floor_div(*parts)

    def value(self, parts: list[Any], leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        t, d = parts
        if isinstance(t, int) and isinstance(d, int):
            return t // d if d else 0
        return np.floor_divide(t, np.where(d == 0, 1, d))

    def __str__(self) -> str:
        return f"(({self.parts[0]}) // ({self.parts[1]}))"


def _quotient(a: float, d: float) -> float:
    if math.isinf(d):
        return 0 if a >= 0 else -1
    return a if math.isinf(a) else a // d


def pos(t: Number) -> Term:
    """Return ``max(t, 0)``."""
    t = term(t)
    low, high = t.interval()
    if low >= 0:
        return t
    if high <= 0:
        return term(0)
    if t.items[-1][1] < 0:  # Pos(t) = Pos(-t) + t
        return pos(-t) + t
    flat = _flattened(t)
    if flat is not None:
        return flat
    common = math.gcd(*(c for _, c in t.items))
    if common > 1:
        return common * pos(polynomial({m: c // common for m, c in t.items}))
    return interned(PositivePart, (), (t,))


def _flattened(t: Term) -> Term | None:
    """Return ``max(t, 0)`` if one of the cases of a ``PositivePart`` in ``t`` decides it.

    >>> from onnx_scatterx.engine.terms.symbols import size
    >>> n = size("n")
    >>> pos(pos(n - 2) + 1 - n) is pos(1 - n)
    True
    """
    for monomial, c in t.items:
        if abs(c) != 1 or len(monomial) != 1 or not isinstance(monomial[0], PositivePart):
            continue
        one = t - polynomial({monomial: c})  # t is the larger of the two, or the smaller if c < 0
        other = one + c * monomial[0].parts[0]
        bounds = one.interval(), other.interval()
        if c > 0:
            if bounds[0][0] >= 0 or bounds[1][0] >= 0:
                return t
            if bounds[1][1] <= 0:
                return pos(one)
            if bounds[0][1] <= 0:
                return pos(other)
        elif bounds[0][0] >= 0 and bounds[1][0] >= 0:
            return t
        elif bounds[0][1] <= 0 or bounds[1][1] <= 0:
            return term(0)
    return None


def step(t: Number) -> Term:
    """Return 1 if ``t >= 0``, else 0."""
    t = term(t)
    low, high = t.interval()
    if low >= 0:
        return term(1)
    if high < 0:
        return term(0)
    if t.items[-1][1] < 0:  # [t >= 0] = 1 - [-t - 1 >= 0]
        return 1 - step(-t - 1)
    common = math.gcd(*(c for m, c in t.items if m))
    if common > 1:  # [c u + k >= 0] = [u + floor(k / c) >= 0]
        return step(polynomial({m: c // common for m, c in t.items}))
    return interned(Indicator, (), (t,))


def floor_div(t: Term, divisor: Term) -> Term:
    """Return ``floor(t / divisor)``, for a divisor that is not zero."""
    d = divisor.constant
    if d is None:
        whole, rest = divided(t, divisor)
        return whole + (_divide_exactly(rest, divisor) or interned(FloorDiv, (), (rest, divisor)))
    if d < 0:
        return floor_div(-t, term(-d))
    if d == 0:
        return interned(FloorDiv, (), (t, divisor))
    if t.constant is not None:
        return term(t.constant // d)
    quotient = polynomial({m: c // d for m, c in t.items})
    rest = t - d * quotient
    for (
        monomial,
        coefficient,
    ) in rest.items:  # floor((a + floor(p / k)) / d) = floor((a k + p) / (k d))
        if coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], FloorDiv):
            inner, k = monomial[0].parts
            if (k.interval()[0]) > 0:
                others = rest - polynomial({monomial: 1})
                return quotient + floor_div(others * k + inner, k * d)
    common = math.gcd(d, *(c for m, c in rest.items if m))
    if common > 1:  # floor((c u + k) / (c e)) = floor((u + floor(k / c)) / e)
        rest, d = polynomial({m: c // common for m, c in rest.items}), d // common
    low, high = rest.interval()
    if low >= 0 and high < d:
        return quotient
    return quotient + interned(FloorDiv, (), (rest, term(d)))


def divided(t: Term, divisor: Term) -> tuple[Term, Term]:
    """Return q and r with ``t = q divisor + r``: q has the monomials that the divisor divides."""
    quotient = term(0)
    if len(divisor.items) == 1:
        quotients = (_divide_exactly(polynomial({m: c}), divisor) for m, c in t.items)
        quotient = sum((q for q in quotients if q is not None), start=quotient)
    return quotient, t - quotient * divisor


def _divide_exactly(t: Term, divisor: Term) -> Term | None:
    """Return q with ``t = q divisor``, or None if the polynomials do not divide."""
    quotient, rest = term(0), t
    lead, lead_coefficient = divisor.items[-1]
    for _ in range(16):
        if not rest.items:
            return quotient
        monomial, coefficient = rest.items[-1]
        others = list(monomial)
        for atom in lead:
            if atom not in others:
                return None
            others.remove(atom)
        if coefficient % lead_coefficient:
            return None
        factor = polynomial({tuple(others): coefficient // lead_coefficient})
        quotient, rest = quotient + factor, rest - factor * divisor
    return None


def maximum(a: Number, b: Number) -> Term:
    """Return the larger of two terms."""
    return pos(term(a) - b) + b


def minimum(a: Number, b: Number) -> Term:
    """Return the smaller of two terms."""
    return term(a) - pos(term(a) - b)


def both_cases(atom: PositivePart | Indicator) -> list[tuple[Term, Term]]:
    """Return the value of an atom in each of its cases, after the term that is >= 0 in this case.

    >>> from onnx_scatterx.engine.terms.symbols import size
    >>> n = size("n")
    >>> both_cases(*step(n - 3).atoms), both_cases(*pos(n - 3).atoms)
    ([(n - 3, 1), (-n + 2, 0)], [(n - 3, n - 3), (-n + 3, 0)])
    """
    (inner,) = atom.parts
    if isinstance(atom, PositivePart):
        return [(inner, inner), (-inner, term(0))]
    return [(inner, term(1)), (-inner - 1, term(0))]


def equals(a: Number, b: Number) -> Term:
    """Return 1 if two terms are equal, else 0."""
    difference = term(a) - b
    return step(difference) - step(difference - 1)


def where(condition: Number, a: Number, b: Number) -> Term:
    """Return ``a`` if the condition is 1 and ``b`` if it is 0."""
    condition, b = term(condition), term(b)
    return b + condition * (term(a) - b)
