"""Monomials: products of atoms, their order in a polynomial, their text, and their bounds.

``t - d floor(t / d)`` is a remainder: it lies in 0, ..., d - 1 even if t has no bounds.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_scatterx.engine.budget import LIMITS, NARROW, TooLargeError
from onnx_scatterx.engine.terms.atom import Atom, Interval

if TYPE_CHECKING:
    from onnx_scatterx.engine.terms.algebra import Term


Monomial: TypeAlias = "tuple[Atom, ...]"
Items: TypeAlias = "tuple[tuple[Monomial, int], ...]"
"""The monomials of a polynomial with their coefficients."""

_LETTERS = 200  # of a polynomial as text, or a few more


def order(item: tuple[Monomial, int]) -> tuple[int, Any]:
    """Return the key that sorts the monomials of a polynomial: their degree, then their atoms."""
    monomial = item[0]
    if len(monomial) == 1:
        return 1, monomial[0].order
    return len(monomial), [a.order for a in monomial]


_order = attrgetter("order")


def product(m: Monomial, n: Monomial) -> Monomial:
    """Return the product of two monomials; of 0 or 1, every power is the number itself."""
    if not m or not n:
        return m or n
    if len(m) + len(n) > LIMITS.degree:
        raise TooLargeError(f"a product of {len(m) + len(n)} factors")
    return of_atoms((*m, *n))


def of_atoms(factors: Iterable[Atom]) -> Monomial:
    """Return the product of atoms in any order."""
    atoms = sorted(factors, key=_order)
    made = [
        a
        for i, a in enumerate(atoms)
        if not (i and a is atoms[i - 1] and a.idempotent)
        and (a.absorber is None or a.absorber not in atoms)
    ]
    if len(made) > LIMITS.degree:
        raise TooLargeError(f"a product of {len(made)} factors")
    return tuple(made)


def text_of(items: Items) -> str:
    """Return a polynomial as text of limited length."""
    if not items:
        return "0"
    text = ""
    for monomial, coefficient in sorted(items, key=lambda item: not item[0]):
        if len(text) > _LETTERS:
            return text + " ..."
        text += ("-" if coefficient < 0 else "") if not text else f" {'-+'[coefficient > 0]} "
        if abs(coefficient) != 1 or not monomial:
            text += str(abs(coefficient)) + "*" * bool(monomial)
        for i, atom in enumerate(monomial):
            if len(text) > _LETTERS:
                return text + "..."
            text += "*" * bool(i) + str(atom)
    return text


def interval_of(t: Term, of: Callable[[Atom], Interval]) -> Interval:
    """Return bounds of a polynomial, given bounds of its atoms."""
    low: float = 0
    high: float = 0
    for monomial, c in t.items:
        a, b = _bounds(monomial, of)
        low, high = (low + c * a, high + c * b) if c > 0 else (low + c * b, high + c * a)
    if t.piecewise and high - low == math.inf:
        for quotient, k in remainders(t.items):
            least, most = _by_remainder(t, quotient, k, of)
            low, high = max(low, least), min(high, most)
    return low, high


def is_narrow(t: Term, ranges: Mapping[Atom, Interval]) -> bool:
    """Return whether 64 bits hold all comparisons and divisions in the evaluation of a term.

    ``ranges`` says between which numbers some atoms lie. Sums and products may wrap on the way.
    """

    @functools.cache
    def bounds(atom: Atom) -> Interval:
        known = ranges.get(atom)
        return atom.interval(lambda each: interval_of(each, bounds)) if known is None else known

    terms = [t, *(part for atom in t.all_atoms() for part in atom.parts)]
    if any(abs(c) >= NARROW for each in terms for _, c in each.items):
        return False  # NumPy refuses such a factor
    return all(max(map(abs, interval_of(each, bounds))) < NARROW for each in terms)


def lower_bound(items: Iterable[tuple[Monomial, int]], of: Callable[[Atom], Interval]) -> float:
    """Return the lower bound of a sum of monomials, in any order, without that of remainders."""
    low: float = 0
    for monomial, c in items:
        low += c * _bounds(monomial, of)[c < 0]
        if low == -math.inf:
            break
    return low


def _bounds(monomial: Monomial, of: Callable[[Atom], Interval]) -> Interval:
    """Return bounds of a product of atoms."""
    if len(monomial) == 1:
        low, high = of(monomial[0])
        return (low, high) if low <= high else (high, low)  # facts may contradict each other
    a: float = 1
    b: float = 1
    for atom in monomial:
        c, d = of(atom)
        products = (_product(a, c), _product(a, d), _product(b, c), _product(b, d))
        a, b = min(products), max(products)
    return a, b


def remainders(items: Sequence[tuple[Monomial, int]]) -> list[tuple[Atom, int]]:
    """Return the quotients ``q = floor(u / d)`` whose factor in a polynomial is ``-k d``, and k."""
    quotients = dict.fromkeys([a for monomial, _ in items for a in monomial if a.divides])
    return [(quotient, k) for quotient in quotients if (k := _multiple(items, quotient))]


def _multiple(items: Sequence[tuple[Monomial, int]], quotient: Atom) -> int:
    """Return k if the factor of a quotient is -k times its divisor, or 0.

    If the divisor is not a number, only 1 is looked for.
    """
    slope = {m: c for m, c in items if quotient in m}
    d = quotient.parts[1]
    if d.constant:
        c = slope.get((quotient,), 0)
        return -c // d.constant if len(slope) == 1 and c % d.constant == 0 else 0
    if len(slope) != len(d.items):
        return 0
    indexed = [(m, m.index(quotient), c) for m, c in slope.items()]
    return int({m[:i] + m[i + 1 :]: -c for m, i, c in indexed} == dict(d.items))


def _by_remainder(t: Term, quotient: Atom, k: int, of: Callable[[Atom], Interval]) -> Interval:
    """Return bounds of ``t = k (u mod d) + rest``, if the rest is shorter than the term."""
    u, d = quotient.parts
    low, high = interval_of(d, of)
    if low > 0:
        rest = t.split(quotient)[1] - k * u
        if len(rest.items) < len(t.items):
            (least, most), end = interval_of(rest, of), k * (high - 1)
            return least + min(end, 0), most + max(end, 0)
    return -math.inf, math.inf


def _product(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b
