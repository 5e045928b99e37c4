"""Integers: polynomials in normal form, and intervals that contain them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from onnx_scatterx.equivalence.core.terms import Monomial, Term, limit_of, make


def integer(value: int) -> Term:
    """Return a number."""
    return make("integer", (), int(value), "integer", int(value), int(value))


ZERO, ONE = integer(0), integer(1)


def number(term: Term) -> int | None:
    """Return the number that a term is; None if it is not known."""
    if term.op == "integer":
        return int(term.data)
    return None


def monomials(term: Term) -> dict[Monomial, int]:
    """Return an integer as a sum: products of other terms, and how often each is taken."""
    if term.op == "integer":
        return {(): term.data} if term.data else {}
    if term.op == "polynomial":
        return dict(term.data)
    return {(term,): 1}


def _product_interval(low: int, high: int, other_low: int, other_high: int) -> tuple[int, int]:
    ends = (low * other_low, low * other_high, high * other_low, high * other_high)
    return min(ends), max(ends)


def interval(parts: Iterable[tuple[Monomial, int]]) -> tuple[int, int]:
    """Return the interval of a sum."""
    low = high = 0
    for monomial, coefficient in parts:
        one, other = coefficient, coefficient
        for atom in monomial:
            one, other = _product_interval(one, other, atom.low, atom.high)
        low, high = low + one, high + other
    return low, high


def polynomial(parts: dict[Monomial, int]) -> Term:
    """Return a sum as a term."""
    kept = {m: c for m, c in parts.items() if c}
    if not kept:
        return ZERO
    if len(kept) == 1:
        ((monomial, coefficient),) = kept.items()
        if not monomial:
            return integer(coefficient)
        if len(monomial) == 1 and coefficient == 1:
            return monomial[0]
    ordered = tuple(sorted(kept.items(), key=lambda i: [a.number for a in i[0]]))
    atoms = tuple(dict.fromkeys(a for m, _ in ordered for a in m))
    low, high = interval(ordered)
    return make("polynomial", atoms, ordered, "integer", low, high)


def add(*terms: Term) -> Term:
    """Return the sum."""
    total: dict[Monomial, int] = {}
    for term in terms:
        for monomial, coefficient in monomials(term).items():
            total[monomial] = total.get(monomial, 0) + coefficient
    return polynomial(total)


def scale(term: Term, factor: int) -> Term:
    """Return a multiple."""
    return polynomial({m: c * factor for m, c in monomials(term).items()})


def subtract(a: Term, b: Term) -> Term:
    """Return the difference."""
    return ZERO if a is b else add(a, scale(b, -1))


def multiply(*terms: Term) -> Term:
    """Return the product."""
    total: dict[Monomial, int] = {(): 1}
    for term in terms:
        step: dict[Monomial, int] = {}
        for m, c in total.items():
            for n, d in monomials(term).items():
                key = tuple(sorted((*m, *n), key=lambda a: a.number))
                step[key] = step.get(key, 0) + c * d
        total = step
    return polynomial(total)


def highest(term: Term) -> int:
    """Return a bound from above, which uses the limits of coordinates."""
    return min(term.high, _at_limits(term, 1).high)


def lowest(term: Term) -> int:
    """Return a bound from below, which uses the limits of coordinates."""
    return max(term.low, _at_limits(term, -1).low)


def _at_limits(term: Term, sign: int) -> Term:
    """Substitute ``limit - 1`` for each coordinate if that makes the term larger (or smaller: -1).

    It does so if all monomials with the coordinate have coefficients of this sign and otherwise
    factors that are not negative: then the term is monotone in it.
    """
    for _ in range(8):
        parts = monomials(term)
        for atom in dict.fromkeys(a for m in parts for a in m):
            limit = limit_of(atom)
            if limit is None or atom.low < 0:
                continue
            touched = {m: c for m, c in parts.items() if atom in m}
            if all(c * sign > 0 and all(a.low >= 0 for a in m) for m, c in touched.items()):
                top = subtract(limit, ONE)
                rest = {m: c for m, c in parts.items() if m not in touched}
                grown = []
                for m, c in touched.items():
                    grown.append(scale(multiply(*(top if a is atom else a for a in m)), c))
                term = add(polynomial(rest), *grown)
                break
        else:
            break
    return term


def minimum(a: Term, b: Term) -> Term:
    """Return the smaller."""
    difference = subtract(a, b)
    if highest(difference) <= 0:
        return a
    if lowest(difference) >= 0:
        return b
    a, b = sorted((a, b), key=lambda t: t.number)
    return make("minimum", (a, b), None, "integer", min(a.low, b.low), min(a.high, b.high))


def maximum(a: Term, b: Term) -> Term:
    """Return the larger."""
    difference = subtract(a, b)
    if lowest(difference) >= 0:
        return a
    if highest(difference) <= 0:
        return b
    a, b = sorted((a, b), key=lambda t: t.number)
    return make("maximum", (a, b), None, "integer", max(a.low, b.low), max(a.high, b.high))


def content(term: Term) -> int:
    """Return the greatest common divisor of the coefficients, without the constant."""
    return math.gcd(*(c for m, c in monomials(term).items() if m))
