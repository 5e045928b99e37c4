"""Facts about terms: which are never negative, and the ranges of coordinates.

Facts are in layers, each on top of others, which it reads and does not change. A proof finds the
facts that it may use by their leaves and monomials.

What is known of all elements of a tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from onnx_scatterx.optimizer.symbolic.budget import Memo, budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.quasi_polynomial import never_negative
from onnx_scatterx.optimizer.symbolic.terms import (
    Atom,
    IndexVar,
    Interval,
    Monomial,
    Number,
    PositivePart,
    Symbol,
    Term,
    as_term,
    element,
    interval_of,
    term,
)


@dataclass(frozen=True)
class Elements:
    """What is known of every element ``e`` of a tensor.

    ``bounds`` are >= 0, with ``Elements.ANY`` in place of the element. ``distinct``: no two
    elements are equal. ``ordered``: along the last axis none is less than the one before; if there
    is a ``row``, only in the row of this number.
    """

    ANY: ClassVar[Term] = element("any", (), name="e")

    bounds: tuple[Term, ...] = ()
    distinct: bool = False
    ordered: bool = False
    row: int | None = None

    def is_ordered(self, row: Sequence[Term]) -> bool:
        """Return whether none is less than the one before, along the last axis of a row."""
        known = self.row is None or [t.constant for t in row] == [self.row]
        return self.ordered and known

    def of(self, e: Number) -> list[Term]:
        """Return terms that are >= 0 for an element."""
        (any_,) = self.ANY.atoms
        return [bound.replace({any_: e}) for bound in self.bounds]


T = TypeVar("T")


class ConstraintSet:
    """Terms that are never negative, and the range of every coordinate.

    If ``passing``, the time of learning is not recorded: the facts hold during one question.
    """

    def __init__(
        self,
        extents: Mapping[int, Term] | None = None,
        known: Iterable[Term] = (),
        *,
        below: ConstraintSet | None = None,
        passing: bool = False,
    ) -> None:
        self._passing = passing
        inherited = {} if below is None else below.extents
        self.extents: Mapping[int, Term] = {**inherited, **extents} if extents else inherited
        self._layers: tuple[ConstraintSet, ...] = (self, *(() if below is None else below._layers))
        self._seen: dict[Term, None] = {}  # in the order in which they were learnt
        self._bounds: dict[Atom, Interval] = {}
        self._bounded: set[Symbol] = set()
        self._intervals = Memo[Atom, Interval]()
        self._relations: dict[Monomial, list[tuple[Term, int]]] = {}
        self._by_leaf: dict[Symbol, list[Term]] = {}
        self._by_piece: dict[Atom, list[Term]] = {}
        self._learnt = 0
        self._news: dict[Symbol, int] = {}
        self._assumed: set[Term] = set()
        self._elements: dict[object, Elements] = {}
        self._residues: dict[Symbol, tuple[int, int]] = {}
        self.simplified = Memo[Term, tuple[int, Term, int]]()
        """The results of ``simplify``, after how many facts, and their prices."""
        self.memo = Memo[object, Any]()
        """Results under these facts, until the next fact is learnt."""
        self._recalled = Memo[object, tuple[object, int]]()  # and the price
        self._recalled_at = 0
        self._prepare()
        self.add(known)

    def _prepare(self) -> None:
        """Make what a kind of facts has besides, before the first fact is learnt."""

    def memoised(self, key: object, work: Callable[[], T]) -> T:
        """Return the result for a key under these facts, computed if necessary.

        A model writes many boxes at the same positions. All results are forgotten when a fact is
        learnt, here or below, so that the answer is always the present one. If a question was given
        up, nothing is remembered.
        """
        now = self._learnt_below()
        if now != self._recalled_at:
            self._recalled.clear()
            self._recalled_at = now
        spending = budget()
        if key in self._recalled:
            found, price = self._recalled[key]
            spending.recall(price)
            return cast("T", found)
        before = spending.unanswered, spending.price
        made = work()
        if now == self._learnt_below() and spending.unanswered == before[0]:
            self._recalled[key] = made, spending.price - before[1]
        return made

    def _learnt_below(self) -> int:
        """Return how many facts were learnt here and below."""
        return sum([layer._learnt for layer in self._layers])

    def add(self, known: Iterable[Term]) -> None:
        """Add facts that hold from now on."""
        for fact in known:
            if fact.constant is None and not any(fact in layer._seen for layer in self._layers):
                self._learn(fact)
                self.add(f for f in _weaker(fact) if self.interval(f)[0] < 0)

    def assume(self, known: Iterable[Term]) -> None:
        """Add facts that the user assumes."""
        known = list(known)
        self.add(known)
        self._assumed.update(known)

    def is_assumed(self, fact: Term) -> bool:
        """Return whether a known fact is an assumption of the user."""
        return any(fact in layer._assumed for layer in self._layers)

    def learn_elements(self, origin: object, known: Elements) -> None:
        """Add what holds for every element of a tensor."""
        if self._elements.get(origin) != known:
            self._elements[origin] = known
            self._forget()

    def known_elements(self) -> dict[object, Elements]:
        """Return what is known of elements, by the tensor."""
        return {k: v for layer in reversed(self._layers) for k, v in layer._elements.items()}

    def learn_residue(self, leaf: Symbol, modulus: int, residue: int) -> None:
        """Add that a size has a residue."""
        self._residues[leaf] = modulus, residue
        self._forget()

    def _forget(self) -> None:
        """Forget what could not be proven or simplified before."""
        self._intervals.clear()
        self.simplified.clear()
        self.memo.clear()
        self._recalled.clear()

    def known(self) -> list[Term]:
        """Return the terms that are known to be >= 0."""
        return [fact for layer in reversed(self._layers) for fact in layer._seen]

    def of_elements(self, leaf: Symbol) -> Elements | None:
        """Return what is known of the elements of a leaf's tensor."""
        return next((found for x in self._layers if (found := x._elements.get(leaf.origin))), None)

    def range_of(self, leaf: Symbol) -> Interval:
        """Return the numbers between which a leaf is known to lie."""
        low, high = self._atom_interval(leaf)
        elements = self.of_elements(leaf)
        if elements is not None:
            known = ConstraintSet(known=elements.of(as_term(leaf)))._atom_interval(leaf)
            low, high = max(low, known[0]), min(high, known[1])
        return low, high

    def interval(self, t: Number) -> Interval:
        """Return bounds of a term under these facts."""
        t = term(t)
        if t.constant is not None:
            return t.constant, t.constant
        if t.coords and not t.coords.isdisjoint(self.extents):
            return interval_of(t, self._atom_interval)
        for layer in self._layers:
            if layer._bounded and not layer._bounded.isdisjoint(t.leaves()):
                return interval_of(t, self._atom_interval)
        return t.interval()

    def _atom_interval(self, atom: Atom) -> Interval:
        found = self._intervals.get(atom)
        if found is None:
            found = self._intervals[atom] = self._bounds_of(atom)
        return found

    def _bounds_of(self, atom: Atom) -> Interval:
        low, high = atom.interval(self.interval)
        if isinstance(atom, IndexVar) and atom.dim in self.extents:
            high = min(high, self.interval(self.extents[atom.dim])[1] - 1)
        for layer in self._layers:
            known = layer._bounds.get(atom)
            if known is not None:
                low, high = max(low, known[0]), min(high, known[1])
        return low, high

    @property
    def learnt(self) -> int:
        """How many facts have been learnt so far (see ``has_new_facts``)."""
        return self._learnt

    def has_new_facts(self, t: Term, when: int) -> bool:
        """Return whether a fact that may concern a term was learnt after ``when``."""
        return when < self._learnt and any(self._news.get(x, 0) > when for x in t.leaves())

    def _learn(self, fact: Term) -> None:
        self._seen[fact] = None
        self._learnt += 1
        self.memo.clear()
        if not self._passing:
            self._news.update(dict.fromkeys(self._related(fact), self._learnt))
        parts = [item for item in fact.items if item[0]]
        single = len(parts) == 1 and len(parts[0][0]) == 1
        if single:
            ((atom,), c), offset = parts[0], fact.offset
            low, high = self._atom_interval(atom)
            if c > 0:
                low = max(low, -(offset // c))
            else:
                high = min(high, offset // -c)
            self._bound(atom, low, high)
        if fact.piecewise and len(fact.leaves()) == 1 and not fact.coords:
            self._learn_least(fact)
        for atom in fact.atoms:
            if atom.decidable:
                self._by_piece.setdefault(atom, []).append(fact)
        if single and not parts[0][0][0].parts:
            return  # a bound of one leaf: the intervals have it
        for monomial, c in parts:
            self._relations.setdefault(monomial, []).append((fact, c))
        if self._holds_anyhow(fact):
            return  # it restricts no size
        for leaf in fact.leaves():
            self._by_leaf.setdefault(leaf, []).append(fact)

    def _bound(self, atom: Atom, low: float, high: float) -> None:
        self._bounds[atom] = (low, high)
        self._bounded |= atom.leaves
        self._intervals.clear()

    def _learn_least(self, fact: Term) -> None:
        """Learn the least number from which a fact about one size can hold."""
        (leaf,) = fact.leaves()
        low, high = self._atom_interval(leaf)
        if leaf.parts or math.isinf(low):
            return
        for n in range(int(low), int(low) + LIMITS.least_numbers):
            if n >= high or fact.evaluate(lambda _, __, n=n: n, lambda _: 0) >= 0:
                break
            self._bound(leaf, n + 1, high)

    def _holds_anyhow(self, fact: Term) -> bool:
        """Return whether a fact is about one size, and true for all its values."""
        leaves = fact.leaves()
        if len(leaves) != 1 or fact.coords:
            return False
        (leaf,) = leaves
        low = self._atom_interval(leaf)[0]
        return not (leaf.parts or math.isinf(low)) and never_negative(fact, leaf, int(low)) is True

    def _related(self, fact: Term) -> set[Symbol]:
        """Return the leaves that a fact restricts, directly or through others."""
        found = set(fact.leaves())
        stack = list(found)
        seen: set[Term] = set()
        while stack:
            leaf = stack.pop()
            for layer in self._layers:
                for other in layer._by_leaf.get(leaf, ()):
                    if other not in seen:
                        seen.add(other)
                        stack.extend(other.leaves() - found)
                        found |= other.leaves()
        return found


def _weaker(fact: Term) -> Iterator[Term]:
    """Yield what follows from a fact ``t - c max(u, 0) >= 0``: both ``t - c u`` and t are, too."""
    for monomial, c in fact.items:
        if c < 0 and len(monomial) == 1 and isinstance(monomial[0], PositivePart):
            rest = fact - c * as_term(monomial[0])
            yield rest + c * monomial[0].parts[0]
            yield rest
