"""Proofs of inequalities between terms.

``Facts`` hold what is known to be >= 0, and prove that other terms are: by intervals, by taking a
coordinate to the end of its range, by cases on ``Pos`` and ``Step``, by what a floor division lies
between, and completely where one size is left (``eventual``). An answer of False is "not proven".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from onnx_scatterx.indexing.eventual import never_negative
from onnx_scatterx.indexing.terms import (
    Atom,
    Coord,
    FloorDiv,
    Interval,
    Leaf,
    Monomial,
    Number,
    Pos,
    Step,
    Term,
    as_term,
    element,
    interval_of,
    size,
    term,
)

_DEPTH = 5
_TRIED = 32  # numbers tried for the least one that a fact allows
_LISTED = 4096  # numbers that are all looked at


@dataclass(frozen=True)
class Elements:
    """What is known of every element ``e`` of a tensor.

    ``bounds`` are >= 0, with ``Elements.ANY`` in place of the element. ``distinct`` says that no
    two elements are equal.
    """

    ANY: ClassVar[Term] = element("any", (), name="e")

    bounds: tuple[Term, ...] = ()
    distinct: bool = False

    def of(self, e: Number) -> list[Term]:
        """Return terms that are >= 0 for an element."""
        (any_,) = self.ANY.atoms
        return [bound.replace({any_: e}) for bound in self.bounds]


class Facts:
    """What is known: terms that are never negative, and the range of every coordinate.

    Facts can stand on others (``assuming``), which they see but do not change.

    >>> from onnx_scatterx.indexing.terms import maximum, size
    >>> n = size("n")
    >>> Facts().proves(n - 1)
    False
    >>> Facts(known=[n - 1]).proves(maximum(n, 3) - 1)
    True
    """

    def __init__(
        self,
        extents: Mapping[int, Term] | None = None,
        known: Iterable[Term] = (),
        *,
        below: Facts | None = None,
    ) -> None:
        inherited = {} if below is None else below.extents
        self.extents: Mapping[int, Term] = {**inherited, **extents} if extents else inherited
        self._layers: tuple[Facts, ...] = (self, *(() if below is None else below._layers))
        self._seen: dict[Term, None] = {}  # in the order in which they were learnt
        self._bounds: dict[Atom, Interval] = {}
        self._bounded: set[Leaf] = set()
        self._relations: dict[Monomial, list[tuple[Term, int]]] = {}
        self._by_leaf: dict[Leaf, list[Term]] = {}
        self._by_piece: dict[Atom, list[Term]] = {}
        self._proven: set[Term] = set()
        self._refuted: dict[Term, int] = {}
        self._learnt = 0
        self.simplified: dict[Term, tuple[int, Term]] = {}
        """What ``simplify`` made of terms, and how much had been learnt by then."""
        self.memo: dict[object, Any] = {}
        """What was worked out under these facts, until the next one is learnt."""
        self._news: dict[Leaf, int] = {}
        self._nonempty: dict[int, Facts] = {}
        self._assumed: set[Term] = set()
        self._elements: dict[object, Elements] = {}
        self._residues: dict[Leaf, tuple[int, int]] = {}
        self._about: dict[tuple[Term, ...], Facts] = {}
        self.learn(known)

    def assuming(self, *known: Term, extents: Mapping[int, Term] | None = None) -> Facts:
        """Return these facts and more."""
        return Facts(extents, known, below=self)

    def learn(self, known: Iterable[Term]) -> None:
        """Add facts that hold wherever these are used from now on."""
        for fact in known:
            if fact.constant is None and not any(fact in layer._seen for layer in self._layers):
                self._learn(fact)

    def assume(self, known: Iterable[Term]) -> None:
        """Add facts that hold because the user says so."""
        known = list(known)
        self.learn(known)
        self._assumed.update(known)

    def is_assumed(self, fact: Term) -> bool:
        """Return whether a known fact is what the user says."""
        return any(fact in layer._assumed for layer in self._layers)

    def learn_elements(self, source: object, known: Elements) -> None:
        """Add what holds of every element of a tensor."""
        self._elements[source] = known
        self._forget()

    def learn_residue(self, leaf: Leaf, modulus: int, residue: int) -> None:
        """Add that a size leaves a residue."""
        self._residues[leaf] = modulus, residue
        self._forget()

    def _forget(self) -> None:
        """Forget what could not be proven or simplified before."""
        self._refuted.clear()
        self.simplified.clear()
        self.memo.clear()

    def of_elements(self, leaf: Leaf) -> Elements | None:
        """Return what is known of the elements of the tensor that a leaf is one of."""
        return next((found for x in self._layers if (found := x._elements.get(leaf.source))), None)

    def range_of(self, leaf: Leaf) -> Interval:
        """Return the numbers between which a leaf is known to lie."""
        low, high = self._atom_interval(leaf)
        elements = self.of_elements(leaf)
        if elements is not None:
            known = Facts(known=elements.of(as_term(leaf)))._atom_interval(leaf)
            low, high = max(low, known[0]), min(high, known[1])
        return low, high

    def _learn(self, fact: Term) -> None:
        self._seen[fact] = None
        self._learnt += 1
        self.memo.clear()
        for leaf in self._related(fact):
            self._news[leaf] = self._learnt
        parts = [item for item in fact.items if item[0]]
        single = len(parts) == 1 and len(parts[0][0]) == 1
        if single:
            ((atom,), c), offset = parts[0], fact.offset
            low, high = self._atom_interval(atom)
            if c > 0:
                low = max(low, -(offset // c))
            else:
                high = min(high, offset // -c)
            self._bounds[atom] = (low, high)
            self._bounded |= atom.leaves
        if fact.piecewise and len(fact.leaves()) == 1 and not fact.coords:
            self._learn_least(fact)
        for atom in fact.atoms:
            if atom.decidable:
                self._by_piece.setdefault(atom, []).append(fact)
        if single and not parts[0][0][0].parts:
            return  # a bound of one leaf: the intervals have it
        for monomial, c in parts:
            self._relations.setdefault(monomial, []).append((fact, c))
        for leaf in fact.leaves():
            self._by_leaf.setdefault(leaf, []).append(fact)

    def _learn_least(self, fact: Term) -> None:
        """Learn from which number on a fact about one size can hold."""
        (leaf,) = fact.leaves()
        low, high = self._atom_interval(leaf)
        if leaf.parts or math.isinf(low):
            return
        for n in range(int(low), int(low) + _TRIED):
            if n >= high or fact.evaluate(lambda _, __, n=n: n, lambda _: 0) >= 0:
                break
            self._bounds[leaf] = (n + 1, high)
            self._bounded.add(leaf)

    def _related(self, fact: Term) -> set[Leaf]:
        """Return the leaves that a fact can say something of, by itself or through others."""
        found = set(fact.leaves())
        stack = list(found)
        while stack:
            leaf = stack.pop()
            for layer in self._layers:
                for other in layer._by_leaf.get(leaf, ()):
                    stack.extend(other.leaves() - found)
                    found |= other.leaves()
        return found

    def known(self) -> list[Term]:
        """Return the terms that are known to be >= 0."""
        return [fact for layer in reversed(self._layers) for fact in layer._seen]

    def proves(self, t: Number) -> bool:
        """Return whether ``t >= 0`` is proven, for every point within the extents."""
        t = term(t)
        if t in self._proven:
            return True
        when = self._refuted.get(t)
        if when is not None and not self.news_of(t, when):
            return False
        if self._prove(t, _DEPTH) or self._by_elements(t):
            self._proven.add(t)
            return True
        self._refuted[t] = self._learnt
        return False

    def _by_elements(self, t: Term) -> bool:
        """Take what is known of the elements that a term names; it is no fact about others."""
        if not any(layer._elements for layer in self._layers):
            return False
        found = [
            (known, leaf) for leaf in t.leaves() if (known := self.of_elements(leaf)) is not None
        ]
        facts = tuple(f for known, leaf in found for f in known.of(as_term(leaf)))
        if not facts:
            return False
        if facts not in self._about:
            self._about[facts] = self.assuming(*facts)
        return self._about[facts]._prove(t, _DEPTH)

    @property
    def learnt(self) -> int:
        """How many facts have been learnt so far (see ``news_of``)."""
        return self._learnt

    def news_of(self, t: Term, when: int) -> bool:
        """Return whether a fact that may bear on a term was learnt after ``when``."""
        return when < self._learnt and any(self._news.get(x, 0) > when for x in t.leaves())

    def equal(self, a: Number, b: Number) -> bool:
        """Return whether two terms are proven equal."""
        if a is b:
            return True
        difference = term(a) - b
        if difference.constant is not None:
            return difference.constant == 0
        return self.proves(difference) and self.proves(-difference)

    def interval(self, t: Number) -> Interval:
        """Return bounds of a term under these facts."""
        t = term(t)
        if t.coords and not t.coords.isdisjoint(self.extents):
            return interval_of(t, self._atom_interval)
        for layer in self._layers:
            if layer._bounded and not layer._bounded.isdisjoint(t.leaves()):
                return interval_of(t, self._atom_interval)
        return t.interval()

    def _atom_interval(self, atom: Atom) -> Interval:
        low, high = atom.interval(self.interval)
        if isinstance(atom, Coord) and atom.dim in self.extents:
            high = min(high, self.interval(self.extents[atom.dim])[1] - 1)
        for layer in self._layers:
            known = layer._bounds.get(atom)
            if known is not None:
                low, high = max(low, known[0]), min(high, known[1])
        return low, high

    def _prove(self, t: Term, depth: int) -> bool:
        low, high = self.interval(t)
        if low >= 0:
            return True
        if high < 0 or t.constant is not None or depth == 0:
            return False
        decided = self._by_one_size(t)
        if decided is not None:
            return decided
        return (
            self._by_coordinate(t, depth)
            or self._by_known(t, depth)
            or self._by_cases(t, depth)
            or self._by_division(t, depth)
        )

    def _by_one_size(self, t: Term) -> bool | None:
        leaves = t.leaves()
        if t.coords or len(leaves) != 1:
            return None
        (leaf,) = leaves
        low, high = self._atom_interval(leaf)
        if math.isinf(low) or leaf.parts:
            return None
        if not math.isinf(high):
            return self._by_all_numbers(t, leaf, int(low), int(high))
        for layer in self._layers:
            if leaf in layer._residues:
                modulus, residue = layer._residues[leaf]
                count = size(f"{leaf.name} // {modulus}", ("count", leaf, modulus))
                (atom,) = count.leaves()
                least = max(0, -((residue - int(low)) // modulus))
                counted = t.replace({leaf: modulus * count + residue})
                return never_negative(counted, atom, least) or None
        answer = never_negative(t, leaf, int(low))
        if answer is False and any(leaf in layer._by_leaf for layer in self._layers):
            return None  # false for some number, but not for every number that the facts allow
        return answer

    def _by_all_numbers(self, t: Term, leaf: Leaf, low: int, high: int) -> bool | None:
        """Look at every number that a size may be, where they are few."""
        if high - low >= _LISTED:
            return None
        known = [
            fact
            for layer in self._layers
            for fact in layer._by_leaf.get(leaf, ())
            if len(fact.leaves()) == 1 and not fact.coords and self._is_narrow(fact)
        ]
        if not self._is_narrow(t):
            return None
        numbers = np.arange(low, high + 1)
        for fact in known:
            numbers = numbers[_at(fact, numbers) >= 0]
        return True if bool((_at(t, numbers) >= 0).all()) else None

    def _is_narrow(self, t: Term) -> bool:
        """Return whether 64 bits hold all that is added and multiplied to evaluate a term."""
        for each in (t, *(part for atom in t.all_atoms() for part in atom.parts)):
            total = 0.0
            for monomial, c in each.items:
                sizes = (max(map(abs, self._atom_interval(atom))) for atom in monomial)
                total += abs(c) * math.prod(sizes)
            if not total < 1 << 62:
                return False
        return True

    def _by_coordinate(self, t: Term, depth: int) -> bool:
        """Take a coordinate in which the term is linear to the end where the term is least."""
        for atom in t.atoms:
            if not isinstance(atom, Coord) or atom.dim not in self.extents:
                continue
            slope, rest = t.split(atom)
            if atom.dim in slope.coords | rest.coords:
                continue
            extent = self.extents[atom.dim]
            nonempty = self._at_nonempty(atom.dim)
            if self._prove(slope, depth - 1):
                return nonempty._prove(t.replace({atom: 0}), depth - 1)
            if self._prove(-slope, depth - 1):
                return nonempty._prove(t.replace({atom: extent - 1}), depth - 1)
        return False

    def _at_nonempty(self, dim: int) -> Facts:
        """Return these facts where the coordinate of a dim exists."""
        if dim not in self._nonempty:
            self._nonempty[dim] = self.assuming(self.extents[dim] - 1)
        return self._nonempty[dim]

    def _by_known(self, t: Term, depth: int) -> bool:
        """``t = (a f + rest) / b`` for a known ``f >= 0``, positive a and b, and ``rest >= 0``."""
        for monomial, a in t.items:
            for layer in self._layers:
                for fact, c in layer._relations.get(monomial, ()) if monomial else ():
                    if a * c <= 0:
                        continue
                    rest = abs(c) * t - abs(a) * fact
                    if self.interval(rest)[0] >= 0 or (
                        depth > 2
                        and len(rest.items) <= len(t.items)
                        and self._prove(rest, depth - 2)
                    ):
                        return True
        return False

    def _by_cases(self, t: Term, depth: int) -> bool:
        piecewise = [a for a in t.atoms if isinstance(a, Pos | Step)]
        if not piecewise:
            return False
        # The innermost first: what it decides, the outer ones may use.
        atom = min(piecewise, key=lambda a: a.uid)
        inner = atom.parts[0]
        is_pos = isinstance(atom, Pos)
        cases = ((inner, inner if is_pos else 1), (-inner - (not is_pos), 0))
        for condition, value in cases:
            if self.interval(condition)[1] < 0:
                continue  # this case never happens
            facts_of_atom = (f for layer in self._layers for f in layer._by_piece.get(atom, ()))
            known = [f.replace({atom: value}) for f in facts_of_atom]
            if any((f.constant or 0) < 0 for f in known):
                continue
            facts = self.assuming(condition, *known)
            if not facts._prove(t.replace({atom: value}), depth - 1):
                return False
        return True

    def _by_division(self, t: Term, depth: int) -> bool:
        """``d q <= u <= d q + d - 1`` for ``q = floor(u / d)``."""
        for monomial, c in t.items:
            if len(monomial) != 1 or not isinstance(monomial[0], FloorDiv):
                continue
            numerator, d = monomial[0].parts
            if d.interval()[0] <= 0:
                continue
            rest = t - c * as_term(monomial[0])
            least = numerator - d + 1 if c > 0 else numerator
            if self._prove(d * rest + c * least, depth - 1):
                return True
        return False


def _at(t: Term, numbers: np.ndarray) -> np.ndarray:
    """Return a term of one size at these numbers."""
    return np.broadcast_to(t.evaluate(lambda _, __: numbers, lambda _: 0), numbers.shape)
