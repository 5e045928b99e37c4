"""The prover: whether a term is never negative, by bounds of its coordinates, atoms and facts.

``Facts`` hold what is known to be >= 0, and prove that other terms are: by intervals, by moving a
coordinate to an end of its range, by cases on ``PositivePart`` and ``Indicator``, by the bounds of
a floor division, and completely if one size is left (``one_size``). An answer of False
means "not proven".

    c u + v                  if v never falls, and u never falls (c > 0) or never rises (c < 0)
    max(u, 0), [u >= 0]      as u does
    floor(u / d)             as u does, if the divisor stays, and is at least 1
    e[a, u]                  as u does, if the row ``a`` stays, and never decreases in ``e``

What is left is compared with its next value by the prover.

>>> from onnx_scatterx.optimizer.symbolic.constraints import Elements
>>> from onnx_scatterx.optimizer.symbolic.terms import coord, element, floor_div
>>> e, facts = element("e", [coord(0)], name="e"), Facts()
>>> never_falls(e, 0, facts), never_falls(floor_div(3 * coord(0), 2), 0, facts)
(False, True)
>>> facts.learn_elements("e", Elements(ordered=True))
>>> never_falls(2 * e, 0, facts), never_falls(e.at({0: 4 - coord(0)}), 0, facts)
(True, False)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import cast

from onnx_scatterx.optimizer.symbolic.budget import Memo, budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS, PRICES
from onnx_scatterx.optimizer.symbolic.sampled_facts import SampledFacts
from onnx_scatterx.optimizer.symbolic.terms import (
    Atom,
    FloorDiv,
    IndexVar,
    Indicator,
    Number,
    PositivePart,
    Symbol,
    Term,
    as_term,
    both_cases,
    coord,
    lower_bound,
    remainders,
    term,
)


def never_falls(t: Term, dim: int, facts: Facts) -> bool:
    """Return whether a term is proven not to be less at ``x_dim + 1`` than at ``x_dim``.

    Args:
        t: The term.
        dim: The coordinate.
        facts: What is known, the ranges of coordinates included.

    Returns:
        True if it is proven, at every point of the ranges.

    """
    return _moves(t, dim, facts, up=True)


def _moves(t: Term, dim: int, facts: Facts, *, up: bool) -> bool:
    """Return whether a term never falls, or (not ``up``) never rises."""
    rest = term(0)
    for monomial, c in t.items:
        alone = monomial[0] if len(monomial) == 1 else None
        if alone is None or not _atom_moves(alone, dim, facts, up=up == (c > 0)):
            part = term(c)
            for atom in monomial:
                part = part * as_term(atom)
            rest = rest + part
    if dim not in rest.coords:
        return True
    step = rest.at({dim: coord(dim) + 1}) - rest
    return facts.is_nonnegative(step if up else -step)


def _atom_moves(atom: Atom, dim: int, facts: Facts, *, up: bool) -> bool:
    """Return the same of an atom; False if only the prover may know."""
    if dim not in atom.coords:
        return True
    if isinstance(atom, PositivePart | Indicator):
        return _moves(atom.parts[0], dim, facts, up=up)
    if isinstance(atom, FloorDiv):
        inside, divisor = atom.parts
        stays = dim not in divisor.coords and facts.is_nonnegative(divisor - 1)
        return stays and _moves(inside, dim, facts, up=up)
    if isinstance(atom, Symbol) and atom.parts:
        *row, last = atom.parts
        known = facts.of_elements(atom)
        ordered = known is not None and known.is_ordered(row)
        return ordered and not any(dim in p.coords for p in row) and _moves(last, dim, facts, up=up)
    return False


class Facts(SampledFacts):
    """What is known: terms that are never negative, and the range of every coordinate.

    Facts can be layered on others (``assuming``), which they read but do not change.

    >>> from onnx_scatterx.optimizer.symbolic.terms import maximum, size
    >>> n = size("n")
    >>> Facts().is_nonnegative(n - 1)
    False
    >>> Facts(known=[n - 1]).is_nonnegative(maximum(n, 3) - 1)
    True
    """

    def _prepare(self) -> None:
        super()._prepare()
        self._proven = Memo[Term, int]()  # and the price of the proof
        self._open = Memo[Term, tuple[int, int, bool]]()
        """What is not proven: the facts learnt by then, the price, and whether it was answered."""
        self._nonempty: dict[int, Facts] = {}
        self._about = Memo[tuple[Term, ...], Facts]()

    def _forget(self) -> None:
        super()._forget()
        self._open.clear()

    def assuming(self, *known: Term, extents: Mapping[int, Term] | None = None) -> Facts:
        """Return these facts and more."""
        return Facts(extents, known, below=self)

    def is_nonnegative(self, t: Number) -> bool:
        """Return whether ``t >= 0`` is proven, for every point within the extents."""
        t = term(t)
        asking = budget()
        asking.work(1)
        if t.constant is not None:
            return t.constant >= 0
        if t in self._proven:
            asking.recall(self._proven[t])
            return True
        if t in self._open:
            when, price, answered = self._open[t]
            if not self.has_new_facts(t, when):
                asking.unanswered += not answered
                asking.recall(price)
                return False
        before, depth = asking.price, LIMITS.proof_depth
        answer = asking.ask(lambda: self._prove(t, depth) or self._by_elements(t))
        price = asking.price - before
        if answer:
            self._proven[t] = price
        else:
            self._open[t] = self._learnt, price, answer is False
        return bool(answer)

    def _by_elements(self, t: Term) -> bool:
        """Add what is known of the elements that a term names; other facts do not change."""
        if not any(layer._elements for layer in self._layers):
            return False
        found = [
            (known, leaf) for leaf in t.leaves() if (known := self.of_elements(leaf)) is not None
        ]
        facts = tuple(f for known, leaf in found for f in known.of(as_term(leaf)))
        if not facts:
            return False
        if facts not in self._about:
            with budget().aside():
                self._about[facts] = self.assuming(*facts)
        return self._about[facts]._prove(t, LIMITS.proof_depth)

    def equal(self, a: Number, b: Number) -> bool:
        """Return whether two terms are proven equal."""
        if a is b:
            return True
        difference = term(a) - b
        if difference.constant is not None:
            return difference.constant == 0
        return self.is_nonnegative(difference) and self.is_nonnegative(-difference)

    def _prove(self, t: Term, depth: int) -> bool:
        spending = budget()
        spending.charge(PRICES.monomial * (1 + len(t.items)))
        low, high = self.interval(t)
        if low >= 0:
            return True
        if high < 0 or t.constant is not None or depth == 0:
            return False
        # The depth to which a proof was sought before, within the open question.
        key = self, t
        tried = spending.memo.get(key, 0)
        if tried >= depth:
            return bool(tried == math.inf)
        is_easy = spending.question >= LIMITS.question_steps - LIMITS.easy_steps
        hard = not is_easy or (t.piecewise and depth == LIMITS.proof_depth)
        found = not (hard and self._is_refuted(t)) and self._prove_anew(t, depth)
        spending.memo[key] = math.inf if found else depth
        return found

    def _prove_anew(self, t: Term, depth: int) -> bool:
        decided = self.by_one_size(t)
        if decided is not None:
            return decided
        return (
            self._by_coordinate(t, depth)
            or self._by_known(t, depth)
            or self._by_cases(t, depth)
            or self._by_division(t, depth)
        )

    def _by_coordinate(self, t: Term, depth: int) -> bool:
        """Replace a coordinate by the end of its range at which the term is least."""
        for atom in t.atoms:
            if not isinstance(atom, IndexVar) or atom.dim not in self.extents:
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
        """Return these facts, and that the coordinate of a dim exists."""
        if dim not in self._nonempty:
            with budget().aside():
                self._nonempty[dim] = self.assuming(self.extents[dim] - 1)
        return self._nonempty[dim]

    def _by_known(self, t: Term, depth: int) -> bool:
        """``t = (a f + rest) / b`` for a known ``f >= 0``, positive a and b, and ``rest >= 0``."""
        most = len(t.items) if depth > 2 else 0  # monomials of a rest for which a proof is sought
        for monomial, a in t.items:
            for layer in self._layers:
                for fact, c in layer._relations.get(monomial, ()) if monomial else ():
                    if a * c <= 0 or not self._may_lead(t, abs(c), fact, abs(a), most):
                        continue
                    rest = abs(c) * t - abs(a) * fact
                    if self.interval(rest)[0] >= 0 or (
                        len(rest.items) <= most and self._prove(rest, depth - 2)
                    ):
                        return True
        return False

    def _may_lead(self, t: Term, b: int, fact: Term, a: int, most: int) -> bool:
        """Return whether ``b t - a fact`` is short, or may have a lower bound that is not negative.

        Most facts lead nowhere: so this is found out before the term is made.
        """
        sums = dict(t.items) if b == 1 else {m: b * k for m, k in t.items}
        for m, k in fact.items:
            sums[m] = sums.get(m, 0) - a * k
        items = [item for item in sums.items() if item[1]]
        if len(items) <= most or lower_bound(reversed(items), self._atom_interval) >= 0:
            return True
        return (t.piecewise or fact.piecewise) and bool(remainders(items))

    def _by_cases(self, t: Term, depth: int) -> bool:
        piecewise = [a for a in t.atoms if isinstance(a, PositivePart | Indicator)]
        if not piecewise:
            return False
        inside = [b for a in piecewise for p in a.parts for b in p.all_atoms()]
        # The innermost first: what it decides, the outer ones may use. It decides most where it
        # stands in most of them.
        piecewise.sort(key=lambda a: (a.depth, -inside.count(a), a.place))
        tried = piecewise[: LIMITS.first_cases if depth == LIMITS.proof_depth else 1]
        return any(self._in_both_cases(atom, t, depth) for atom in tried)

    def _in_both_cases(self, atom: PositivePart | Indicator, t: Term, depth: int) -> bool:
        for condition, value in both_cases(atom):
            facts = self._in_case(atom, condition, value)
            if facts is None:
                continue  # this case never happens
            seen = budget().memo.setdefault((atom, condition), {})
            if not facts._prove(facts._decided(t.replace({atom: value}, seen)), depth - 1):
                return False
        return True

    def _in_case(self, atom: Atom, condition: Term, value: Term) -> Facts | None:
        """Return these facts and those of a case, during one question."""
        memo = budget().memo
        key = self, atom, condition
        if key not in memo:
            memo[key] = self._with_case(atom, condition, value)
        return cast("Facts | None", memo[key])

    def _with_case(self, atom: Atom, condition: Term, value: Term) -> Facts | None:
        if self.interval(condition)[1] < 0:
            return None
        facts_of_atom = (f for layer in self._layers for f in layer._by_piece.get(atom, ()))
        seen = budget().memo.setdefault((atom, condition), {})
        known = [f.replace({atom: value}, seen) for f in facts_of_atom]
        if any((f.constant or 0) < 0 for f in known):
            return None
        return Facts(known=(condition, *known), below=self, passing=True)

    def _decided(self, t: Term) -> Term:
        """Return a term without the cases that bounds decide, so that their operands cancel."""
        values: dict[Atom, Term] = {}
        for atom in t.atoms:
            if isinstance(atom, Indicator):
                low, high = self.interval(atom.parts[0])
                if low >= 0:
                    values[atom] = term(1)
                elif high < 0:
                    values[atom] = term(0)
        return self._decided(t.replace(values)) if values else t

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
