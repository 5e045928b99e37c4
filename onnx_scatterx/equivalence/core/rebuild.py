"""Terms rebuilt with other parts."""

from __future__ import annotations

from onnx_scatterx.equivalence.core import arithmetic, division, logic
from onnx_scatterx.equivalence.core.terms import Term, make


def rebuild(term: Term, done: dict[Term, Term]) -> Term:
    """Return a term with the parts in ``done`` replaced; new replacements are added to ``done``."""
    found = done.get(term)
    if found is not None:
        return found
    if not term.args:
        return term
    if term.op == "polynomial":
        parts = []
        for monomial, coefficient in term.data:
            factors = [rebuild(a, done) for a in monomial]
            parts.append(arithmetic.scale(arithmetic.multiply(*factors), coefficient))
        made = arithmetic.add(*parts)
    else:
        made = _made(term, tuple(rebuild(a, done) for a in term.args))
    done[term] = made
    return made


def _made(term: Term, args: tuple[Term, ...]) -> Term:
    if args == term.args:
        return term
    zero = arithmetic.ZERO
    match term.op:
        case "minimum":
            return arithmetic.minimum(*args)
        case "maximum":
            return arithmetic.maximum(*args)
        case "divide":
            return division.divide(*args)
        case "modulo":
            return division.modulo(*args)
        case "at most 0":
            return logic.at_most(args[0], zero)
        case "equals 0":
            return logic.equal(args[0], zero)
        case "same":
            return logic.equal(*args)
        case "not":
            return logic.negation(args[0])
        case "and":
            return logic.both(*args)
        case "choose":
            return logic.choose(*args)
        case "lookup":
            from onnx_scatterx.equivalence.core.lookups import entry

            return entry(term.data, args[0])
        case "wrap":
            from onnx_scatterx.equivalence.core.types import wrapped

            return wrapped(args[0], term.data)
    return make(term.op, args, term.data, term.sort, term.low, term.high)
