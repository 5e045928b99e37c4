"""The prover: what is known, and whether a term is never negative under it.

``Facts`` hold what is known to be >= 0, and prove that other terms are. A term of one size is
decided (``one_size``), a negative point of a sample refutes a term (``counterexamples``), and a
proof is sought (``search``). An answer of False means "not proven".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast

from onnx_scatterx.engine.budget import LIMITS, budget
from onnx_scatterx.engine.terms.algebra import Number, Term, term
from onnx_scatterx.engine.terms.atom import Atom, Interval
from onnx_scatterx.engine.terms.constraints import (
    Asked,
    Elements,
    Layer,
    Layers,
    News,
    number_of_facts,
    related,
    weaker,
)
from onnx_scatterx.engine.terms.counterexamples import Counterexamples
from onnx_scatterx.engine.terms.magnitudes import fits, magnitude, stays_in_int64
from onnx_scatterx.engine.terms.memo import Memo
from onnx_scatterx.engine.terms.monomial import interval_of
from onnx_scatterx.engine.terms.one_size import OneSize, never_negative
from onnx_scatterx.engine.terms.search import prove
from onnx_scatterx.engine.terms.simplify import simplify
from onnx_scatterx.engine.terms.symbols import IndexVar, Symbol

T = TypeVar("T")


class Facts:
    """What is known: terms that are never negative, and the range of every coordinate.

    Facts can be layered on others (``assuming``), which they read but do not change. If they are
    ``passing``, they hold during one question, and the time of learning is not recorded.

    >>> from onnx_scatterx.engine.terms import maximum, size
    >>> n = size("n")
    >>> Facts().is_nonnegative(n - 1)
    False
    >>> Facts(known=[n - 1]).is_nonnegative(maximum(n, 3) - 1)
    True
    """

    def __init__(
        self,
        extents: Mapping[int, Term] | None = None,
        known: Iterable[Term] = (),
        *,
        below: Facts | None = None,
        passing: bool = False,
    ) -> None:
        inherited = {} if below is None else below.extents
        self.extents: Mapping[int, Term] = {**inherited, **extents} if extents else inherited
        self._own = Layer()
        self.layers: Layers = (self._own, *(() if below is None else below.layers))
        self._passing = passing
        self._intervals: Memo[Atom, Interval] = Memo()
        self.news = News()
        self.one_size = OneSize(self.layers, self.atom_interval, passing=passing)
        under = None if below is None else below.counterexamples
        self.counterexamples: Counterexamples = Counterexamples(
            self._own, self.extents, self.atom_interval, under
        )
        self._proven: Memo[Term, int] = Memo()  # and the price of the proof
        self._open: Memo[Term, tuple[Asked, bool]] = Memo()
        """What is not proven, and whether it was answered."""
        self._more: Memo[tuple[Term, ...], Facts] = Memo()
        self.simplifications: Memo[Term, tuple[Term, Asked]] = Memo()
        """The results of ``simplify``."""
        self._recalled: Memo[object, tuple[object, int]] = Memo()  # and the price
        self._recalled_at = 0
        self.add(known)

    def assuming(
        self, *known: Term, extents: Mapping[int, Term] | None = None, passing: bool = False
    ) -> Facts:
        """Return these facts and more."""
        return Facts(extents, known, below=self, passing=passing)

    def including(self, *known: Term) -> Facts:
        """Return these facts and more, which are made once."""
        if known not in self._more:
            with budget().aside():
                self._more[known] = self.assuming(*known)
        return self._more[known]

    def is_nonnegative(self, t: Number) -> bool:
        """Return whether ``t >= 0`` is proven, for every point within the extents."""
        t = term(t)
        asking = budget()
        asking.charge_part(1)
        if t.constant is not None:
            return t.constant >= 0
        if t in self._proven:
            asking.recall(self._proven[t])
            return True
        vain = -1
        if t in self._open:
            asked, answered = self._open[t]
            if not self.news.may_answer(t, asked):
                asking.unanswered += not answered
                asking.recall(asked.price)
                return False
            vain = asked.vain
        before = asking.price
        answer = asking.ask(lambda: prove(t, self))
        price = asking.price - before
        if answer:
            self._proven[t] = price
        else:
            self._open[t] = Asked(self.news.count, price, vain + 1), answer is False
        return bool(answer)

    def equal(self, a: Number, b: Number) -> bool:
        """Return whether two terms are proven equal."""
        if a is b:
            return True
        difference = term(a) - b
        if difference.constant is not None:
            return difference.constant == 0
        return self.is_nonnegative(difference) and self.is_nonnegative(-difference)

    def simplify(self, t: Term) -> Term:
        """Return a term with its cases and quotients replaced that these facts decide.

        >>> from onnx_scatterx.engine.terms import coord, size, where, step
        >>> n, x = size("n"), coord(0)
        >>> Facts({0: n}).simplify(where(step(x - n), x + n, x))
        x0
        """
        return simplify(t, self)

    def memoised(self, key: object, compute: Callable[[], T]) -> T:
        """Return the result for a key under these facts, computed if necessary.

        A model writes many boxes at the same positions. All results are forgotten when a fact is
        learnt, here or below, so that the answer is always the present one. If a question was given
        up, nothing is remembered.
        """
        now = number_of_facts(self.layers)
        if now != self._recalled_at:
            self._recalled.clear()
            self._recalled_at = now
        spending = budget()
        if key in self._recalled:
            recalled, price = self._recalled[key]
            spending.recall(price)
            return cast("T", recalled)
        before = spending.unanswered, spending.price
        made = compute()
        if now == number_of_facts(self.layers) and spending.unanswered == before[0]:
            self._recalled[key] = made, spending.price - before[1]
        return made

    def known(self) -> list[Term]:
        """Return the terms that are known to be >= 0."""
        return [fact for layer in reversed(self.layers) for fact in layer.facts]

    def is_assumed(self, fact: Term) -> bool:
        """Return whether a known fact is an assumption of the user."""
        return any(fact in layer.assumed for layer in self.layers)

    def of_elements(self, leaf: Symbol) -> Elements | None:
        """Return what is known of the elements of a leaf's tensor."""
        return next((known for x in self.layers if (known := x.elements.get(leaf.origin))), None)

    def range_of(self, leaf: Symbol) -> Interval:
        """Return the numbers between which a leaf is known to lie."""
        low, high = self.atom_interval(leaf)
        elements = self.of_elements(leaf)
        if elements is not None:
            known = Facts(known=elements.of(term(leaf))).atom_interval(leaf)
            low, high = max(low, known[0]), min(high, known[1])
        return low, high

    def interval(self, t: Number) -> Interval:
        """Return bounds of a term under these facts."""
        t = term(t)
        if t.constant is not None:
            return t.constant, t.constant
        if t.coords and not t.coords.isdisjoint(self.extents):
            return interval_of(t, self.atom_interval)
        for layer in self.layers:
            if layer.bounded and not layer.bounded.isdisjoint(t.leaves()):
                return interval_of(t, self.atom_interval)
        return t.interval()

    def atom_interval(self, atom: Atom) -> Interval:
        """Return bounds of an atom under these facts."""
        interval = self._intervals.get(atom)
        if interval is None:
            interval = self._intervals[atom] = self._bounds_of(atom)
        return interval

    def _bounds_of(self, atom: Atom) -> Interval:
        low, high = atom.interval(self.interval)
        if isinstance(atom, IndexVar) and atom.dim in self.extents:
            high = min(high, self.interval(self.extents[atom.dim])[1] - 1)
        for layer in self.layers:
            known = layer.bounds.get(atom)
            if known is not None:
                low, high = max(low, known[0]), min(high, known[1])
        return low, high

    def magnitude(self, t: Term) -> float:
        """Return a bound of a term's magnitude, without its part of sizes and positions alone."""
        return magnitude(t, self)

    def fits(self, t: Term, least: int, most: int) -> bool:
        """Return whether a term cannot leave the range of a type, by the bounds of its atoms."""
        return fits(t, least, most, self)

    def stays_in_int64(self, t: Term) -> bool:
        """Return whether a term fits int64, given that each element in it does.

        >>> from onnx_scatterx.engine.terms import element, maximum
        >>> p = element("p", (), name="p")
        >>> Facts().stays_in_int64(maximum(p, 0) - maximum(p - 1, 0)), Facts().stays_in_int64(p - 1)
        (True, False)
        """
        return stays_in_int64(t, self)

    def add(self, known: Iterable[Term]) -> None:
        """Add facts that hold from now on."""
        for fact in known:
            if fact.constant is None and not any(fact in layer.facts for layer in self.layers):
                self._learn(fact)
                self.add(f for f in weaker(fact) if self.interval(f)[0] < 0)

    def assume(self, known: Iterable[Term]) -> None:
        """Add facts that the user assumes."""
        known = list(known)
        self.add(known)
        self._own.assumed.update(known)

    def learn_elements(self, origin: object, known: Elements) -> None:
        """Add what holds for every element of a tensor."""
        if self._own.elements.get(origin) != known:
            self._own.elements[origin] = known
            self._forget()

    def learn_residue(self, leaf: Symbol, modulus: int, residue: int) -> None:
        """Add that a size has a residue."""
        self._own.residues[leaf] = modulus, residue
        self._forget()

    def ask_again(self) -> None:
        """Let no question wait any longer: a graph has taught all its facts."""
        self._open.clear()
        self.simplifications.clear()

    def _forget(self) -> None:
        """Forget what could not be proven or simplified before."""
        for results in (self._intervals, self._open, self.simplifications, self._recalled):
            results.clear()
        self.counterexamples.forget()

    def _learn(self, fact: Term) -> None:
        self._own.facts[fact] = None
        if not self._passing:
            self.news.note(fact.leaves(), related(fact, self.layers))
        parts = [item for item in fact.items if item[0]]
        atom = parts[0][0][0] if len(parts) == 1 and len(parts[0][0]) == 1 else None
        if atom is not None:
            low, high = self.atom_interval(atom)
            c = parts[0][1]
            if c > 0:
                low = max(low, -(fact.offset // c))
            else:
                high = min(high, fact.offset // -c)
            self._bound(atom, low, high)
        if fact.piecewise and len(fact.leaves()) == 1 and not fact.coords:
            self._learn_least(fact)
        for piece in fact.atoms:
            if piece.decidable:
                self._own.by_piece.setdefault(piece, []).append(fact)
        if atom is not None and not atom.parts:
            return  # a bound of one leaf: the intervals have it
        self._own.relate(fact)
        if self._holds_anyhow(fact):
            return  # it restricts no size
        for leaf in fact.leaves():
            self._own.by_leaf.setdefault(leaf, []).append(fact)

    def _bound(self, atom: Atom, low: float, high: float) -> None:
        self._own.bounds[atom] = (low, high)
        self._own.bounded |= atom.leaves
        self._intervals.clear()

    def _learn_least(self, fact: Term) -> None:
        """Learn the least number from which a fact about one size can hold."""
        (leaf,) = fact.leaves()
        low, high = self.atom_interval(leaf)
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
        low = self.atom_interval(leaf)[0]
        return not (leaf.parts or math.isinf(low)) and never_negative(fact, leaf, int(low)) is True
