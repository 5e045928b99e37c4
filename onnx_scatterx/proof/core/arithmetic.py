"""Integers: polynomials in normal form, intervals that contain them, and division.

Division rounds down. A quotient is simplified as far as its terms allow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from onnx_scatterx.proof.core.terms import RULES, SUMS, Monomial, Term, limit_of, make


def integer(value: int) -> Term:
    """Return a number as a term."""
    return make("integer", (), int(value), "integer", int(value), int(value))


ZERO, ONE = integer(0), integer(1)


def number(term: Term) -> int | None:
    """Return the value of a term that is a number; None for other terms."""
    if term.op == "integer":
        return int(term.data)
    return None


def monomials(term: Term) -> dict[Monomial, int]:
    """Return an integer as a sum: products of other terms, each with its coefficient."""
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


def _term(value: Term | int) -> Term:
    return value if isinstance(value, Term) else integer(value)


SUMS.update(
    {
        "+": lambda a, b: add(a, _term(b)),
        "-": lambda a, b: subtract(a, _term(b)),
        "*": lambda a, b: multiply(a, b) if isinstance(b, Term) else scale(a, b),
    }
)


def highest(term: Term) -> int:
    """Return an upper bound, from the limits of coordinates and the intervals of terms."""
    return min(term.high, _at_limits(term, 1).high)


def lowest(term: Term) -> int:
    """Return a lower bound, from the limits of coordinates and the intervals of terms."""
    return max(term.low, _at_limits(term, -1).low)


def _at_limits(term: Term, sign: int) -> Term:
    """Substitute ``limit - 1`` for coordinates in which the term rises (``sign`` -1: falls).

    The term rises in a coordinate if, in each monomial with the coordinate, the coefficient is
    positive and the other factors are not negative.
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
    return _extreme("minimum", a, b, subtract(a, b), min)


def maximum(a: Term, b: Term) -> Term:
    """Return the larger."""
    return _extreme("maximum", a, b, subtract(b, a), max)


def _extreme(op: str, a: Term, b: Term, difference: Term, pick: Callable[[int, int], int]) -> Term:
    """Return a if the difference is known to be at most 0, b if at least 0; otherwise a term."""
    if highest(difference) <= 0:
        return a
    if lowest(difference) >= 0:
        return b
    a, b = sorted((a, b), key=lambda t: t.number)
    return make(op, (a, b), None, "integer", pick(a.low, b.low), pick(a.high, b.high))


def content(term: Term) -> int:
    """Return the greatest common divisor of the coefficients, without the constant."""
    return math.gcd(*(c for m, c in monomials(term).items() if m))


def divide(a: Term, b: Term) -> Term:
    """Return the quotient rounded down; 0 if b is not positive, which callers rule out."""
    whole, rest = _split(a, b)
    if rest is None:
        return whole
    if b.op == "integer" and b.data <= 0:
        return ZERO
    if rest.op == "integer" and b.op == "integer":
        return add(whole, integer(rest.data // b.data))
    if b.low >= 1:
        ends = [e // d for e in (rest.low, rest.high) for d in (b.low, b.high)]
        low, high = min(ends), max(ends)
    else:
        low, high = min(0, rest.low), max(0, rest.high)
        if whole is not ZERO:  # to split off the multiple is right only if b is positive
            whole, rest = ZERO, a
            low, high = min(0, a.low), max(0, a.high)
    return add(whole, make("divide", (rest, b), None, "integer", low, high))


def modulo(a: Term, b: Term) -> Term:
    """Return the remainder of `divide`; 0 if b is not positive."""
    whole, rest = _split(a, b)
    if rest is None:
        return subtract(a, multiply(whole, b))
    if b.op == "integer" and b.data <= 0:
        return ZERO
    if rest.op == "integer" and b.op == "integer":
        return integer(rest.data % b.data)
    if b.low < 1:
        rest = a
    high = max(0, b.high - 1)
    if rest.low >= 0:
        high = min(high, rest.high)
    return make("modulo", (rest, b), None, "integer", 0, high)


def _split(a: Term, b: Term) -> tuple[Term, Term | None]:
    """Return q and r with ``a = q * b + r``; r is None if q is known to be the quotient."""
    if b is ONE:
        return a, None
    parts = monomials(b)
    if len(parts) != 1:
        # If b is a sum, a is compared only with b as a whole.
        if a is b and b.low >= 1:
            return ONE, None
        return (ZERO, None) if _fits(a, b) else (ZERO, a)
    ((factors, coefficient),) = parts.items()
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, c in monomials(a).items():
        left = _without(monomial, factors)
        if left is None:
            rest[monomial] = c
            continue
        q = c // coefficient if coefficient > 0 else 0
        whole[left] = whole.get(left, 0) + q
        if c - q * coefficient:
            rest[monomial] = c - q * coefficient
    quotient, remainder = polynomial(whole), polynomial(rest)
    if _fits(remainder, b):
        return quotient, None
    return quotient, remainder


def _without(monomial: Monomial, factors: Monomial) -> Monomial | None:
    left = list(monomial)
    for factor in factors:
        if factor not in left:
            return None
        left.remove(factor)
    return tuple(left)


def _fits(rest: Term, b: Term) -> bool:
    """Return whether ``0 <= rest < b`` is known."""
    return lowest(rest) >= 0 and highest(subtract(rest, b)) < 0


def exact_quotient(a: Term, b: Term) -> Term | None:
    """Return q with ``a = q * b``, if every part of a has b as a factor."""
    parts = monomials(b)
    if len(parts) != 1:
        return ONE if a is b else None
    ((factors, coefficient),) = parts.items()
    whole: dict[Monomial, int] = {}
    for monomial, c in monomials(a).items():
        left = _without(monomial, factors)
        if left is None or c % coefficient:
            return None
        whole[left] = whole.get(left, 0) + c // coefficient
    return polynomial(whole)


def _with_atoms(term: Term, args: tuple[Term, ...]) -> Term:
    atoms = dict(zip(term.args, args, strict=True))
    return add(*(scale(multiply(*(atoms[a] for a in m)), c) for m, c in term.data))


RULES.update(
    polynomial=_with_atoms,
    minimum=lambda _, args: minimum(*args),
    maximum=lambda _, args: maximum(*args),
    divide=lambda _, args: divide(*args),
    modulo=lambda _, args: modulo(*args),
)
