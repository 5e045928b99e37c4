"""Conditions, and terms that depend on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from onnx_scatterx.proof.core.arithmetic import (
    ONE,
    ZERO,
    content,
    highest,
    integer,
    lowest,
    monomials,
    polynomial,
)
from onnx_scatterx.proof.core.terms import RULES, Sort, Term, make


def _condition(op: str, args: tuple[Term, ...] = (), data: object = None) -> Term:
    return make(op, args, data, "condition")


TRUE, FALSE = _condition("true"), _condition("false")


def truth(value: bool) -> Term:
    """Return TRUE or FALSE."""
    return TRUE if value else FALSE


def at_most(a: Term, b: Term) -> Term:
    """Return ``a <= b``."""
    difference = a - b
    if highest(difference) <= 0:
        return TRUE
    if lowest(difference) > 0:
        return FALSE
    divisor = content(difference)
    parts = dict(monomials(difference))
    constant = parts.pop((), 0)
    reduced = {m: c // divisor for m, c in parts.items()}
    reduced[()] = -((-constant) // divisor)
    return _condition("at most 0", (polynomial(reduced),))


def below(a: Term, b: Term) -> Term:
    """Return ``a < b``."""
    return at_most(a + 1, b)


def equal(a: Term, b: Term) -> Term:
    """Return ``a = b`` for terms of any sort."""
    if a is b:
        return TRUE
    if a.sort == "condition":
        for one, other in ((a, b), (b, a)):
            if one in (TRUE, FALSE):
                return other if one is TRUE else negation(other)
        if negation(a) is b:
            return FALSE
    if a.sort != "integer":
        return _condition("same", tuple(sorted((a, b), key=lambda t: t.number)))
    difference = a - b
    if lowest(difference) > 0 or highest(difference) < 0:
        return FALSE
    divisor = content(difference)
    parts = monomials(difference)
    if divisor and parts.get((), 0) % divisor:
        return FALSE
    first = next(c for m, c in sorted(parts.items(), key=lambda i: [x.number for x in i[0]]) if m)
    reduced = {m: c // (divisor if first > 0 else -divisor) for m, c in parts.items()}
    return _condition("equals 0", (polynomial(reduced),))


COMPARISONS: Mapping[str, Callable[[Term, Term], Term]] = {
    "<": below,
    "<=": at_most,
    ">": lambda a, b: below(b, a),
    ">=": lambda a, b: at_most(b, a),
    "==": equal,
    "!=": lambda a, b: negation(equal(a, b)),
}
"""The comparisons of integers, by their signs."""


def within(a: Term, low: Term, limit: Term) -> Term:
    """Return ``low <= a < limit``."""
    return both(at_most(low, a), below(a, limit))


def negation(a: Term) -> Term:
    """Return the negation of a condition."""
    if a is TRUE or a is FALSE:
        return FALSE if a is TRUE else TRUE
    if a.op == "not":
        return a.args[0]
    if a.op == "at most 0":
        return at_most(integer(1), a.args[0])
    return _condition("not", (a,))


def both(*terms: Term) -> Term:
    """Return the conjunction."""
    kept: dict[Term, None] = {}
    for term in terms:
        for part in term.args if term.op == "and" else (term,):
            if part is FALSE or negation(part) in kept:
                return FALSE
            if part is not TRUE:
                kept[part] = None
    if len(kept) < 2:
        return next(iter(kept), TRUE)
    return _condition("and", tuple(sorted(kept, key=lambda t: t.number)))


def either(*terms: Term) -> Term:
    """Return the disjunction."""
    return negation(both(*(negation(t) for t in terms)))


def inside(at: Iterable[Term], dims: Iterable[Term]) -> Term:
    """Return the condition that a tensor of these dims has an element at these coordinates."""
    return both(*(within(c, ZERO, d) for c, d in zip(at, dims, strict=True)))


def some(dims: Iterable[Term]) -> Term:
    """Return the condition that a tensor of these dims has an element."""
    return both(*(below(ZERO, d) for d in dims))


def implies(a: Term, b: Term) -> Term:
    """Return ``a -> b``."""
    return either(negation(a), b)


def choose(condition: Term, a: Term, b: Term) -> Term:
    """Return a if the condition is true, else b."""
    if condition is TRUE or a is b:
        return a
    if condition is FALSE:
        return b
    if condition.op == "not":
        condition, a, b = condition.args[0], b, a
    a, b = under(a, condition, True), under(b, condition, False)
    if a is b:
        return a
    if a.sort == "condition":
        return either(both(condition, a), both(negation(condition), b))
    sort: Sort = a.sort
    return make("choose", (condition, a, b), None, sort, min(a.low, b.low), max(a.high, b.high))


def under(term: Term, condition: Term, value: bool) -> Term:
    """Simplify a term under a known condition; only choices at its top are simplified."""
    while term.op == "choose":
        own = term.args[0]
        if own is condition:
            term = term.args[1 if value else 2]
        elif negation(condition) is own:
            term = term.args[2 if value else 1]
        elif own.op == "and" and not value and condition in own.args:
            term = term.args[2]
        elif condition.op == "and" and value and own in condition.args:
            term = term.args[1]
        else:
            break
    return term


def by_case(term: Term, function: Callable[[Term], Term]) -> Term:
    """Return a function of a term. If the term is a choice, the result is a choice, too."""
    if term.op == "choose":
        condition, a, b = term.args
        return choose(condition, by_case(a, function), by_case(b, function))
    return function(term)


def from_condition(condition: Term) -> Term:
    """Return 1 if the condition is true, else 0."""
    return choose(condition, ONE, ZERO)


def as_condition(term: Term) -> Term:
    """Return the condition that a number is not 0."""
    return by_case(term, lambda t: negation(equal(t, ZERO)))


RULES.update(
    {
        "at most 0": lambda _, args: at_most(args[0], ZERO),
        "equals 0": lambda _, args: equal(args[0], ZERO),
        "same": lambda _, args: equal(*args),
        "not": lambda _, args: negation(*args),
        "and": lambda _, args: both(*args),
        "choose": lambda _, args: choose(*args),
    }
)
