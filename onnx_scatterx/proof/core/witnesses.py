"""Unknown functions with known properties, which are added to the questions that use them.

Examples are the update that a scatter finds by a search, the greatest element along an axis, and
the places of a mask. A property of every point of an axis is added only for the points that a
question names. An added fact is true for any choice of points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from onnx_scatterx.proof.core.arithmetic import ZERO, integer, number
from onnx_scatterx.proof.core.terms import Term, limit_of, walk

_ROUNDS = 3
_MOST = 400
_SMALL = 16
_GUESSES = 10


@dataclass(frozen=True)
class Universal:
    """A property of every point of an axis."""

    limit: Term
    instance: Callable[[Term], Term]


@dataclass(frozen=True)
class Definition:
    """The properties of a function: facts about a value, and facts for all points of an axis.

    If the value is a point of an axis, ``limit`` returns the length of this axis. ``beside`` are
    other unknowns in the facts: what is known of them matters to questions that name the value.
    """

    facts: Callable[[Term], Iterable[Term]]
    universals: Callable[[Term], Iterable[Universal]] = lambda _: ()
    limit: Callable[[Term], Term] | None = None
    beside: tuple[Term, ...] = ()


_Pattern = tuple[Term, tuple[Term, ...], Callable[[tuple[Term, ...]], Term]]


@dataclass
class Witnesses:
    """All functions with known properties, and the facts about single terms."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    patterns: dict[Any, list[_Pattern]] = field(default_factory=dict)
    attached: dict[Term, dict[tuple[Term, frozenset[Term]], None]] = field(default_factory=dict)
    _matches: dict[Term, list[Term | None]] = field(default_factory=dict)
    _defined: dict[Term, list[Term]] = field(default_factory=dict)
    _coordinates: dict[Term, frozenset[Term]] = field(default_factory=dict)

    def define(self, name: str, definition: Definition) -> None:
        """Note the properties of a function."""
        self.definitions.setdefault(name, definition)

    def beside(self, term: Term) -> tuple[Term, ...]:
        """Return the other unknowns in the facts about the value of a function."""
        definition = self.definitions.get(term.data[0]) if term.op == "apply" else None
        return () if definition is None else definition.beside

    def attach(self, element: Term, at: Iterable[Term], fact: Term) -> None:
        """Add a fact about an element to every question that names an unknown in the element.

        The question must name the coordinates, too, since the fact assumes that the element exists.
        """
        rests = frozenset(coordinates(fact, *at))
        for part in walk([element]):
            if part.op == "apply":
                self.attached.setdefault(part, {})[fact, rests] = None

    def match(
        self, pattern: Term, points: Sequence[Term], fact: Callable[[tuple[Term, ...]], Term]
    ) -> None:
        """Add a fact to questions that name the function of a pattern.

        An argument of the pattern is a coordinate of ``points``, or does not depend on ``points``.
        ``fact`` gets the question's arguments for these coordinates, and 0 for a coordinate that is
        no argument.
        """
        if all(a in points or not set(points) & set(walk([a])) for a in pattern.args):
            self.patterns.setdefault(pattern.data, []).append((pattern, tuple(points), fact))

    def _matched(self, term: Term) -> list[Term]:
        """Return the facts of the patterns that match a term; those of new patterns are added."""
        facts, patterns = self._matches.setdefault(term, []), self.patterns.get(term.data, ())
        facts.extend(_instance(term, pattern) for pattern in patterns[len(facts) :])
        return [fact for fact in facts if fact is not None]

    def _facts_of(self, term: Term, definition: Definition) -> list[Term]:
        if term not in self._defined:
            self._defined[term] = list(definition.facts(term))
        return self._defined[term]

    def _named_by(self, fact: Term) -> frozenset[Term]:
        """Return the coordinates that a fact names."""
        if fact not in self._coordinates:
            self._coordinates[fact] = frozenset(coordinates(fact))
        return self._coordinates[fact]

    def facts_for(self, roots: Iterable[Term]) -> list[Term]:
        """Return the facts that are added to a question.

        No fact names a coordinate that the question does not name: a coordinate exists only if its
        axis is not empty.
        """
        roots = list(roots)
        spoken = frozenset().union(*map(self._named_by, roots))

        def attached(terms: Iterable[Term]) -> list[Term]:
            pairs = (pair for term in terms for pair in self.attached.get(term, ()))
            return [fact for fact, rests in pairs if rests <= spoken]

        facts: dict[Term, None] = {}
        seen: dict[Term, None] = {}  # a dict, whose order does not depend on memory addresses
        universals: list[Universal] = []
        points: dict[Term, Term] = {}  # point: the length of its axis
        fresh = list(walk(roots))
        used: set[tuple[int, Term]] = set()
        for _ in range(_ROUNDS):
            made: list[Term] = []
            for term in fresh:
                if term in seen:
                    continue
                seen[term] = None
                limit = limit_of(term)
                if limit is not None:
                    points[term] = limit
                if term.op != "apply":
                    continue
                made.extend(self._matched(term))
                definition = self.definitions.get(term.data[0])
                if definition is None:
                    continue
                made.extend(self._facts_of(term, definition))
                universals.extend(definition.universals(term))
                if definition.limit is not None:
                    points[term] = definition.limit(term)
            for i, universal in enumerate(universals):
                for point in _chosen(universal.limit, points):
                    if (i, point) not in used:
                        used.add((i, point))
                        made.append(universal.instance(point))
            made = [f for f in made if self._named_by(f) <= spoken]
            made += attached(seen)  # last, because new terms may have attached more
            facts.update(dict.fromkeys(made))
            fresh = [t for t in walk(made) if t not in seen]
            if not fresh or len(facts) > _MOST:
                break
        facts.update(dict.fromkeys(attached(fresh)))
        return list(facts)


def _instance(term: Term, pattern: _Pattern) -> Term | None:
    """Return the fact of a pattern about a term; None if the term does not match."""
    shape, points, fact = pattern
    bound: dict[Term, Term] = {}
    if len(shape.args) != len(term.args) or not all(
        (bound.setdefault(a, b) if a in points and a is not ZERO else a) is b
        for a, b in zip(shape.args, term.args, strict=True)
    ):
        return None
    return fact(tuple(bound.get(p, ZERO) for p in points))


def coordinates(*terms: Term) -> list[Term]:
    """Return the coordinates that terms contain."""
    return [t for t in walk(terms) if limit_of(t) is not None]


def _chosen(limit: Term, points: dict[Term, Term]) -> list[Term]:
    length = number(limit)
    if length is not None and length <= _SMALL:
        return [integer(i) for i in range(length)]
    own = sorted(points, key=lambda p: points[p] is not limit)  # points of the same axis first
    return [ZERO, limit - 1, *own[:_GUESSES]]
