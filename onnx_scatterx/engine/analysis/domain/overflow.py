"""Whether a term fits the range of its tensor's type: terms never overflow, tensors do.

An int64 ``Add`` of a position that is known only at run time is not followed, as it may overflow.
Its result is the sum modulo 2**64. A valid index is smaller than its axis, so if the sum is well
within 2**64, it did not wrap.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.broadcast_shapes import broadcast_coords
from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.analysis.domain.tensor import ElementOf, TensorValue
from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.engine.terms.prove import Facts
from onnx_scatterx.engine.terms.terms import (
    Atom,
    FloorDiv,
    IndexVar,
    Indicator,
    Interval,
    Lookup,
    Monomial,
    PositivePart,
    Symbol,
    Term,
    as_term,
    interval_of,
    polynomial,
    term,
)
from onnx_scatterx.graphs.traversal import made_by

AXIS_LIMIT = 2**31 - 1  # no axis has more elements
_FACTOR = 2**31
_LARGEST = 2**63 - 1


def fits(t: Term, dtype: ir.DataType, facts: Facts) -> bool:
    """Return whether a term cannot leave a type's range.

    Of the facts only the bounds of single elements are used. Two assumptions are made: an axis has
    fewer than 2**31 elements, and int64 arithmetic on sizes, positions and numbers below 2**31 does
    not overflow.
    """
    if dtype == ir.DataType.BOOL:
        return True
    limits = np.iinfo(dtype.numpy())
    least, most = int(limits.min), int(limits.max)
    if dtype.bitwidth == 64:
        sized = _sized(t)
        if sized.items and not _within(t, least, most, facts):
            t, least, most = t - sized, least // 2, most // 2
            if dtype == ir.DataType.UINT64 and sized.interval()[0] < 0:
                return False
    return _within(t, least, most, facts)


def stays(t: Term, facts: Facts) -> bool:
    """Return whether a term fits int64, given that each element in it does.

    >>> from onnx_scatterx.engine.terms.terms import element, pos
    >>> p = element("p", (), name="p")
    >>> stays(pos(p) - pos(p - 1), Facts()), stays(p - 1, Facts())
    (True, False)
    """
    if magnitude(t, facts) < _LARGEST // 2:
        return True
    own = t.leaves()
    beside = [fact.leaves() for fact in facts.known() if not own.isdisjoint(fact.leaves())]
    bounds = [
        bound
        for leaf in own.union(*beside)
        for bound in (
            (AXIS_LIMIT - as_term(leaf),)
            if is_size(leaf)
            else (_LARGEST - as_term(leaf), as_term(leaf) + _LARGEST + 1)
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
        low, high = capped(atom)
        if isinstance(atom, Symbol):
            least, most = facts.range_of(atom)
            return max(low, least), min(high, most)
        return low, high

    return interval_of(t, bounds)


def _sized(t: Term) -> Term:
    """Return the part of a term made of sizes and positions, with factors below ``_FACTOR``."""
    return polynomial({m: c for m, c in t.items if m and _factor(m, c) < _FACTOR})


def _factor(monomial: Monomial, coefficient: int) -> float:
    """Return a bound of the factor of a product of sizes and positions.

    An element of a table counts as a factor too. Infinite if the product has anything else.
    """
    return abs(coefficient) * math.prod(map(_factor_of, monomial))


def _factor_of(atom: Atom) -> float:
    if isinstance(atom, IndexVar | Indicator) or is_size(atom):
        return 1  # a Step is always 0 or 1
    if isinstance(atom, Lookup):
        return max(map(abs, atom.bounds))
    if isinstance(atom, PositivePart | FloorDiv):  # no further from 0 than its operand
        return sum(_factor(m, c) for m, c in atom.parts[0].items)
    return math.inf


def most_of(t: Term) -> float:
    """Return the greatest number that a term over sizes can be.

    >>> from onnx_scatterx.engine.terms.terms import size
    >>> most_of(size("n") - 1) == AXIS_LIMIT - 1
    True
    """
    return interval_of(t, capped)[1]


def is_size(atom: Atom) -> bool:
    """Return whether an atom is a size or a position; other numbers are bounded by their type."""
    return isinstance(atom, Symbol) and (atom.low, atom.high) == (0, math.inf)


def capped(atom: Atom) -> Interval:
    """Return bounds of an atom, given that no axis is longer than ``AXIS_LIMIT``.

    A coordinate is less than the extent of its axis.
    """
    low, high = atom.interval(lambda t: interval_of(t, capped))
    if isinstance(atom, IndexVar):
        high = min(high, AXIS_LIMIT - 1)
    elif is_size(atom):
        high = min(high, AXIS_LIMIT)
    return low, high


_ROOM = (1 << 64) - 2 * AXIS_LIMIT
_SIGNS = {"Add": (1, 1), "Sub": (1, -1)}


def without_wraparound(index: Term, scope: Scope) -> Term:
    """Return an index of an axis with its sums written out.

    It is the same number, provided that a node has checked that it lies within its axis.
    """
    for _ in range(LIMITS.sums):
        larger = _written_out(index, scope)
        if larger is None:
            return index
        low, high = interval_of(larger, _within_64_bits)
        if not -_ROOM <= low <= high <= _ROOM:
            return index
        index = larger
    return index


def _within_64_bits(atom: Atom) -> Interval:
    low, high = capped(atom)
    return max(low, -(1 << 63)), min(high, 1 << 63)


def _written_out(index: Term, scope: Scope) -> Term | None:
    """Return a term with one of its leaves written out as a sum, or None."""
    for monomial, factor in index.items:
        leaf = monomial[0] if len(monomial) == 1 else None
        total = _sum(leaf, scope) if isinstance(leaf, Symbol) else None
        if leaf is not None and total is not None:
            _, rest = index.split(leaf)
            if leaf not in rest.all_atoms():
                return rest + factor * total
    return None


def _sum(leaf: Symbol, scope: Scope) -> Term | None:
    origin = leaf.origin
    if not isinstance(origin, ElementOf) or origin.visit is not scope.visit_id:
        return None
    node = made_by(origin.value, *_SIGNS)
    if node is None:
        return None
    whole = scope.of(node.outputs[0])
    if whole.shape is None or whole.dtype != ir.DataType.INT64:
        return None
    terms = [_at(scope.of(v), whole, leaf, scope) for v in node.inputs]
    signs = _SIGNS[node.op_type]
    if len(terms) != 2 or any(t is None for t in terms):
        return None
    return sum((s * t for s, t in zip(signs, terms, strict=True) if t is not None), start=term(0))


def _at(part: TensorValue, whole: TensorValue, leaf: Symbol, scope: Scope) -> Term | None:
    """Return the element of an operand that the leaf was computed from."""
    if part.shape is None or part.index_map is None:
        return None
    own = part.index_map.at(broadcast_coords(part.shape, whole.dims, scope.facts))
    return own.at(dict(enumerate(leaf.parts)))
