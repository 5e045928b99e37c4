"""Functions that are known by what holds of them: facts of one value, and facts for all points.

A scatter that finds its update by a search, the greatest element along an axis, the positions of a
mask: each is a function of which a solver is told something where it is used. What holds for every
point of an axis is told for some points only, those that the question speaks of; whichever are
chosen, all that is told is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from onnx_scatterx.equivalence.arithmetic import ONE, ZERO, integer, number, subtract
from onnx_scatterx.equivalence.logic import at_most, implies
from onnx_scatterx.equivalence.terms import Term, limit_of, walk

_ROUNDS = 3
_MOST = 400
_SMALL = 6
_GUESSES = 10


@dataclass(frozen=True)
class Universal:
    """Something that holds for every point of an axis."""

    limit: Term
    instance: Callable[[Term], Term]


@dataclass(frozen=True)
class Definition:
    """What holds of a function: at its arguments, and for all points; the axis that it points into.

    ``limit`` is given if the value is a point of an axis of that length, one worth telling others.
    """

    facts: Callable[[Term], Iterable[Term]]
    universals: Callable[[Term], Iterable[Universal]] = lambda _: ()
    limit: Callable[[Term], Term] | None = None


@dataclass
class Witnesses:
    """All functions that are known by what holds of them, and what is known of single terms."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    attached: dict[Term, dict[Term, None]] = field(default_factory=dict)

    def define(self, name: str, definition: Definition) -> None:
        """Say what holds of a function."""
        self.definitions.setdefault(name, definition)

    def attach(self, term: Term, fact: Term) -> None:
        """Tell a fact wherever one of the unknown values within a term is spoken of."""
        for part in walk([term]):
            if part.op == "apply":
                self.attached.setdefault(part, {})[fact] = None

    def told(self, roots: Iterable[Term]) -> list[Term]:
        """Return what is told along with a question.

        Nothing is told of coordinates that the question does not speak of: that one exists says
        that an axis is not empty.
        """
        roots = list(roots)
        spoken = {t for t in walk(roots) if limit_of(t) is not None}
        facts: dict[Term, None] = {}
        seen: set[Term] = set()
        universals: list[Universal] = []
        points: dict[Term, Term] = {}  # a point, and the length of its axis
        fresh = list(walk(roots))
        used: set[tuple[int, Term]] = set()
        for _ in range(_ROUNDS):
            made: list[Term] = []
            for term in fresh:
                if term in seen:
                    continue
                seen.add(term)
                limit = limit_of(term)
                if limit is not None:
                    points[term] = limit
                if term.op != "apply":
                    continue
                definition = self.definitions.get(term.data[0])
                if definition is None:
                    continue
                made.extend(definition.facts(term))
                universals.extend(definition.universals(term))
                if definition.limit is not None:
                    points[term] = definition.limit(term)
            for i, universal in enumerate(universals):
                for point in _chosen(universal.limit, points):
                    if (i, point) not in used:
                        used.add((i, point))
                        made.append(universal.instance(point))
            # Last, because what was made may have attached more.
            made += [f for term in seen for f in self.attached.get(term, ())]
            made = [f for f in made if all(t in spoken for t in coordinates(f))]
            facts.update(dict.fromkeys(made))
            fresh = [t for t in walk(made) if t not in seen]
            if not fresh or len(facts) > _MOST:
                break
        last = (f for term in fresh for f in self.attached.get(term, ()))
        facts.update((f, None) for f in last if all(t in spoken for t in coordinates(f)))
        return list(facts)


def coordinates(term: Term) -> list[Term]:
    """Return the coordinates that a term speaks of."""
    return [t for t in walk([term]) if limit_of(t) is not None]


def _chosen(limit: Term, points: dict[Term, Term]) -> list[Term]:
    length = number(limit)
    if length is not None and length <= _SMALL:
        return [integer(i) for i in range(length)]
    own = sorted(points, key=lambda p: points[p] is not limit)  # those of its own axis first
    return [ZERO, subtract(limit, ONE), *own[:_GUESSES]]


def guarded(point: Term, limit: Term, fact: Term) -> Term:
    """Return that a fact holds if a point is one of an axis."""
    return implies(at_most(ZERO, point), implies(at_most(point, subtract(limit, ONE)), fact))
