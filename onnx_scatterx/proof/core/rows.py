"""Unknown functions of a whole row, such as a row of a matrix multiplied by a stored matrix.

A row is a term in a coordinate k of its last axis. Its largest parts that do not depend on k are
its parameters, and the rest, with a numbered hole for each of them, is its form: ``x[p(j), k] + 1``
has the form ``x[_, k] + _`` and the parameters p(j) and 1. The form and the parameters determine
the row. So a function f of rows is an unknown function ``f_form(parameters)``. Two rows of one form
have the same result if their parameters are equal, at whatever places of their tensors they stand:
``f(x[p(j)])`` is ``f(x)`` at the place p(j).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from onnx_scatterx.proof.core.arithmetic import ONE, ZERO, polynomial
from onnx_scatterx.proof.core.terms import (
    Monomial,
    Term,
    UnsupportedError,
    apply,
    limit_of,
    step,
    variable,
    walk,
)


@dataclass
class Rows:
    """The forms of the rows of both models, each with its number."""

    _numbers: dict[Hashable, int] = field(default_factory=dict)

    def function(
        self,
        name: Hashable,
        row: Callable[[Term], Term],
        length: Term,
        besides: Iterable[Term],
    ) -> Callable[..., Term]:
        """Return a function of a row, whose arguments are further terms, as a term of floats.

        ``row`` returns the element at a coordinate below ``length``, which is at least 1. It may
        depend on the terms ``besides``.
        """
        point = _point(length, besides)
        parameters: list[Term] = []
        form = _Form(self, point, parameters).of(row(point))
        own = ("row", self.number(("function", name, form)))
        return lambda *arguments: apply(own, (*parameters, *arguments))

    def number(self, key: Hashable) -> int:
        """Return the number of a key."""
        return self._numbers.setdefault(key, len(self._numbers))


def _point(length: Term, besides: Iterable[Term]) -> Term:
    """Return a coordinate along a row that no other term contains."""
    if length is ONE:
        return ZERO
    taken, depth = set(walk(besides)), 0
    while (point := variable(("row", depth), limit=length)) in taken:
        depth += 1
    return point


@dataclass
class _Form:
    """The form of one row: each of its parts gets a number, the same for the same part.

    Parts without the ``point`` become ``parameters``, in the order in which they are met.
    """

    rows: Rows
    point: Term
    parameters: list[Term]
    _made: dict[Term, int] = field(default_factory=dict)
    _depends: dict[Term, bool] = field(default_factory=dict)

    def of(self, term: Term) -> int:
        """Return the number of the form of a part."""
        if not self._has_point(term):
            return self._hole(term)
        if term not in self._made:
            step()
            self._made[term] = self.rows.number(self._key(term))
        return self._made[term]

    def _key(self, term: Term) -> Hashable:
        if term is self.point:
            return "point"
        if limit_of(term) is not None:
            raise UnsupportedError("a coordinate whose axis depends on a row")
        if term.op == "polynomial":
            return "polynomial", *self._summands(term)
        return term.op, term.data, term.sort, tuple([self.of(a) for a in term.args])

    def _summands(self, term: Term) -> Iterable[Hashable]:
        rest: dict[Monomial, int] = {}
        for monomial, coefficient in term.data:
            if any(map(self._has_point, monomial)):
                yield coefficient, tuple([self.of(a) for a in monomial])
            else:
                rest[monomial] = coefficient
        yield self._hole(polynomial(rest))

    def _hole(self, term: Term) -> int:
        self.parameters.append(term)
        return self.rows.number(("hole", len(self.parameters), term.sort))

    def _has_point(self, term: Term) -> bool:
        if term not in self._depends:
            step()
            self._depends[term] = term is self.point or any(map(self._has_point, term.args))
        return self._depends[term]
