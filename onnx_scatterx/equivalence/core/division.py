"""Division of integers that rounds down, as far as it is known without the numbers."""

from __future__ import annotations

from onnx_scatterx.equivalence.core.arithmetic import (
    ONE,
    ZERO,
    add,
    highest,
    integer,
    lowest,
    monomials,
    multiply,
    polynomial,
    subtract,
)
from onnx_scatterx.equivalence.core.terms import Monomial, Term, make


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
        if whole is not ZERO:  # the multiple may be split off only if b is positive
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
    """Return q and r with ``a = q * b + r``; r is None if that is known to be the division."""
    if b is ONE:
        return a, None
    parts = monomials(b)
    if len(parts) != 1:
        # Only a multiple of the whole sum counts: the rest must be below it.
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
