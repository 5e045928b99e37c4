"""The search for a proof that a term is never negative.

It looks at intervals, moves a coordinate to an end of its range, looks for a fact that leads to the
term, at cases of ``PositivePart`` and ``Indicator``, and at the bounds of a floor division.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from onnx_scatterx.engine.budget import LIMITS, PRICES, budget
from onnx_scatterx.engine.terms.algebra import Term, term
from onnx_scatterx.engine.terms.atom import Atom
from onnx_scatterx.engine.terms.cases import FloorDiv, Indicator, PositivePart, both_cases
from onnx_scatterx.engine.terms.monomial import lower_bound, remainders
from onnx_scatterx.engine.terms.symbols import IndexVar

if TYPE_CHECKING:
    from onnx_scatterx.engine.terms.facts import Facts


def prove(t: Term, facts: Facts) -> bool:
    """Return whether ``t >= 0`` is proven; what is known of elements is looked at last."""
    return _prove(t, facts, LIMITS.proof_depth) or _by_elements(t, facts)


def _by_elements(t: Term, facts: Facts) -> bool:
    """Add what is known of the elements that a term names; other facts do not change."""
    if not any(layer.elements for layer in facts.layers):
        return False
    pairs = [(known, leaf) for leaf in t.leaves() if (known := facts.of_elements(leaf)) is not None]
    more = tuple(f for known, leaf in pairs for f in known.of(term(leaf)))
    return bool(more) and _prove(t, facts.including(*more), LIMITS.proof_depth)


def _prove(t: Term, facts: Facts, depth: int) -> bool:
    spending = budget()
    spending.charge_question(PRICES.monomial * (1 + len(t.items)))
    low, high = facts.interval(t)
    if low >= 0:
        return True
    if high < 0 or t.constant is not None or depth == 0:
        return False
    # The depth to which a proof was sought before, within the open question.
    key = facts, t
    tried = spending.memo.get(key, 0)
    if tried >= depth:
        return bool(tried == math.inf)
    is_easy = spending.question >= LIMITS.question_steps - LIMITS.easy_steps
    hard = not is_easy or (t.piecewise and depth == LIMITS.proof_depth)
    proven = not (hard and facts.counterexamples.refute(t)) and _prove_anew(t, facts, depth)
    spending.memo[key] = math.inf if proven else depth
    return proven


def _prove_anew(t: Term, facts: Facts, depth: int) -> bool:
    decided = facts.one_size.decide(t)
    if decided is not None:
        return decided
    return (
        _by_coordinate(t, facts, depth)
        or _by_known(t, facts, depth)
        or _by_cases(t, facts, depth)
        or _by_division(t, facts, depth)
    )


def _by_coordinate(t: Term, facts: Facts, depth: int) -> bool:
    """Replace a coordinate by the end of its range at which the term is least."""
    for atom in t.atoms:
        if not isinstance(atom, IndexVar) or atom.dim not in facts.extents:
            continue
        slope, rest = t.split(atom)
        if atom.dim in slope.coords | rest.coords:
            continue
        extent = facts.extents[atom.dim]
        nonempty = facts.including(extent - 1)
        if _prove(slope, facts, depth - 1):
            return _prove(t.replace({atom: 0}), nonempty, depth - 1)
        if _prove(-slope, facts, depth - 1):
            return _prove(t.replace({atom: extent - 1}), nonempty, depth - 1)
    return False


def _by_known(t: Term, facts: Facts, depth: int) -> bool:
    """``t = (a f + rest) / b`` for a known ``f >= 0``, positive a and b, and ``rest >= 0``."""
    most = len(t.items) if depth > 2 else 0  # monomials of a rest for which a proof is sought
    for monomial, a in t.items:
        for layer in facts.layers:
            for fact, c in layer.relations.get(monomial, ()):
                if a * c <= 0 or not may_lead(t, abs(c), fact, abs(a), most, facts):
                    continue
                rest = abs(c) * t - abs(a) * fact
                if facts.interval(rest)[0] >= 0 or (
                    len(rest.items) <= most and _prove(rest, facts, depth - 2)
                ):
                    return True
    return False


def may_lead(t: Term, b: int, fact: Term, a: int, most: int, facts: Facts) -> bool:
    """Return whether ``b t - a fact`` is short, or may have a lower bound that is not negative.

    Most facts lead nowhere: so this is found out before the term is made.
    """
    sums = dict(t.items) if b == 1 else {m: b * k for m, k in t.items}
    for m, k in fact.items:
        sums[m] = sums.get(m, 0) - a * k
    items = [item for item in sums.items() if item[1]]
    if len(items) <= most or lower_bound(reversed(items), facts.atom_interval) >= 0:
        return True
    return (t.piecewise or fact.piecewise) and bool(remainders(items))


def _by_cases(t: Term, facts: Facts, depth: int) -> bool:
    piecewise = [a for a in t.atoms if isinstance(a, PositivePart | Indicator)]
    if not piecewise:
        return False
    inside = [b for a in piecewise for p in a.parts for b in p.all_atoms()]
    # The innermost first: what it decides, the outer ones may use. It decides most where it
    # stands in most of them.
    piecewise.sort(key=lambda a: (a.depth, -inside.count(a), a.order))
    tried = piecewise[: LIMITS.first_cases if depth == LIMITS.proof_depth else 1]
    return any(_in_both_cases(atom, t, facts, depth) for atom in tried)


def _in_both_cases(atom: PositivePart | Indicator, t: Term, facts: Facts, depth: int) -> bool:
    for condition, value in both_cases(atom):
        of_case = _in_case(atom, condition, value, facts)
        if of_case is None:
            continue  # this case never happens
        seen = budget().memo.setdefault((atom, condition), {})
        if not _prove(_decided(t.replace({atom: value}, seen), of_case), of_case, depth - 1):
            return False
    return True


def _in_case(atom: Atom, condition: Term, value: Term, facts: Facts) -> Facts | None:
    """Return the facts and those of a case, during one question; None if it never happens."""
    memo = budget().memo
    key = facts, atom, condition
    if key not in memo:
        memo[key] = _with_case(atom, condition, value, facts)
    return cast("Facts | None", memo[key])


def _with_case(atom: Atom, condition: Term, value: Term, facts: Facts) -> Facts | None:
    if facts.interval(condition)[1] < 0:
        return None
    facts_of_atom = (f for layer in facts.layers for f in layer.by_piece.get(atom, ()))
    seen = budget().memo.setdefault((atom, condition), {})
    known = [f.replace({atom: value}, seen) for f in facts_of_atom]
    if any((f.constant or 0) < 0 for f in known):
        return None
    return facts.assuming(condition, *known, passing=True)


def _decided(t: Term, facts: Facts) -> Term:
    """Return a term without the cases that bounds decide, so that their operands cancel."""
    values: dict[Atom, Term] = {}
    for atom in t.atoms:
        if isinstance(atom, Indicator):
            low, high = facts.interval(atom.parts[0])
            if low >= 0:
                values[atom] = term(1)
            elif high < 0:
                values[atom] = term(0)
    return _decided(t.replace(values), facts) if values else t


def _by_division(t: Term, facts: Facts, depth: int) -> bool:
    """``d q <= u <= d q + d - 1`` for ``q = floor(u / d)``."""
    for monomial, c in t.items:
        if len(monomial) != 1 or not isinstance(monomial[0], FloorDiv):
            continue
        numerator, d = monomial[0].parts
        if d.interval()[0] <= 0:
            continue
        rest = t - c * term(monomial[0])
        least = numerator - d + 1 if c > 0 else numerator
        if _prove(d * rest + c * least, facts, depth - 1):
            return True
    return False
