"""Whether a term fits the range of a type: terms never overflow, tensors do.

Two assumptions are made: an axis has fewer than 2**31 elements, and int64 arithmetic on sizes,
positions and numbers below 2**31 does not overflow.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from onnx_scatterx.engine.budget import AXIS_LIMIT
from onnx_scatterx.engine.terms.algebra import Term, term
from onnx_scatterx.engine.terms.atom import Atom, Interval
from onnx_scatterx.engine.terms.cases import FloorDiv, Indicator, PositivePart
from onnx_scatterx.engine.terms.monomial import Monomial, interval_of
from onnx_scatterx.engine.terms.symbols import IndexVar, Lookup, Symbol

if TYPE_CHECKING:
    from onnx_scatterx.engine.terms.facts import Facts

_FACTOR = 2**31
_LARGEST = 2**63 - 1


def fits(t: Term, least: int, most: int, facts: Facts) -> bool:
    """Return whether a term cannot leave the range of a type; only bounds of atoms are used.

    >>> from onnx_scatterx.engine.terms import Facts, size
    >>> n = size("n")
    >>> [fits(n * n * n + least, -(2**63), 2**63 - 1, Facts()) for least in (-5, -(2**63))]
    [True, False]
    """
    if most - least > _LARGEST:  # 64 bits
        sized = _sized(t)
        if sized.items and not _within(t, least, most, facts):
            if least == 0 and sized.interval()[0] < 0:
                return False
            t, least, most = t - sized, least // 2, most // 2
    return _within(t, least, most, facts)


def stays_in_int64(t: Term, facts: Facts) -> bool:
    """Return whether a term fits int64, given that each element in it does."""
    if magnitude(t, facts) < _LARGEST // 2:
        return True
    own = t.leaves()
    beside = [fact.leaves() for fact in facts.known() if not own.isdisjoint(fact.leaves())]
    bounds = [
        bound
        for leaf in own.union(*beside)
        for bound in (
            (AXIS_LIMIT - term(leaf),)
            if leaf.is_size
            else (_LARGEST - term(leaf), term(leaf) + _LARGEST + 1)
        )
    ]
    known = facts.assuming(*bounds)
    return known.is_nonnegative(_LARGEST - t) and known.is_nonnegative(t + _LARGEST + 1)


def magnitude(t: Term, facts: Facts) -> float:
    """Return a bound of a term's magnitude, without its part of sizes and positions alone."""
    low, high = _between(t - _sized(t), facts)
    return max(-low, high)


def _within(t: Term, least: int, most: int, facts: Facts) -> bool:
    low, high = _between(t, facts)
    return low >= least and high <= most


def _between(t: Term, facts: Facts) -> Interval:
    def bounds(atom: Atom) -> Interval:
        low, high = atom.within_axes()
        if isinstance(atom, Symbol):
            least, most = facts.range_of(atom)
            return max(low, least), min(high, most)
        return low, high

    return interval_of(t, bounds)


def _sized(t: Term) -> Term:
    """Return the part of a term made of sizes and positions, with factors below ``_FACTOR``."""
    return Term.of({m: c for m, c in t.items if m and _factor(m, c) < _FACTOR})


def _factor(monomial: Monomial, coefficient: int) -> float:
    """Return a bound of the factor of a product of sizes and positions.

    An element of a table counts as a factor too. Infinite if the product has anything else.
    """
    return abs(coefficient) * math.prod(map(_factor_of, monomial))


def _factor_of(atom: Atom) -> float:
    if isinstance(atom, IndexVar | Indicator) or (isinstance(atom, Symbol) and atom.is_size):
        return 1  # an Indicator is always 0 or 1
    if isinstance(atom, Lookup):
        return max(map(abs, atom.bounds))
    if isinstance(atom, PositivePart | FloorDiv):  # no further from 0 than its operand
        return sum(_factor(m, c) for m, c in atom.parts[0].items)
    return math.inf
