"""Terms with their cases decided, if the facts decide them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.engine.budget import budget
from onnx_scatterx.engine.terms.algebra import Term
from onnx_scatterx.engine.terms.atom import Atom
from onnx_scatterx.engine.terms.cases import FloorDiv, Indicator, PositivePart, both_cases
from onnx_scatterx.engine.terms.constraints import Asked

if TYPE_CHECKING:
    from onnx_scatterx.engine.terms.facts import Facts


def simplify(t: Term, facts: Facts) -> Term:
    """Return the term with every ``PositivePart``, ``Indicator`` and ``FloorDiv`` replaced that
    facts decide.
    """
    if not t.piecewise:
        return t
    known, asked = facts.simplifications.get(t, (t, None))
    spending = budget()
    if asked is not None and not facts.news.may_answer(t, asked):
        spending.recall(asked.price)
        return known
    unanswered, before = spending.unanswered, spending.price
    simplified = _simplified(t, facts)
    if unanswered == spending.unanswered:
        vain = 0 if asked is None or simplified is not known else asked.vain + 1
        asked = Asked(facts.news.count, spending.price - before, vain)
        facts.simplifications[t] = simplified, asked
    return simplified


def _simplified(t: Term, facts: Facts) -> Term:
    for _ in range(8):
        if not t.piecewise:
            return t
        decided: dict[Atom, Term] = {}
        pieces = [a for a in t.all_atoms() if a.decidable]
        for atom in sorted(pieces, key=lambda a: a.order):
            value = _decide(atom, facts)
            if value is not None:
                decided[atom] = value
        if not decided:
            return t
        t = t.replace(decided)
    return t


def _decide(atom: Atom, facts: Facts) -> Term | None:
    if isinstance(atom, PositivePart | Indicator):
        cases = both_cases(atom)
        return next((value for known, value in cases if facts.is_nonnegative(known)), None)
    if isinstance(atom, FloorDiv):
        inner, divisor = atom.parts
        quotient, rest = inner.divided(divisor)
        if facts.is_nonnegative(rest) and facts.is_nonnegative(divisor - 1 - rest):
            return quotient
    return None
