"""Proofs of inequalities between terms.

``Facts`` hold what is known to be >= 0, and prove that other terms are: by intervals, by taking a
coordinate to the end of its range, by cases on ``Pos`` and ``Step``, by what a floor division lies
between, and completely where one size is left (``eventual``). An answer of False is "not proven".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from onnx_scatterx.indexing.eventual import never_negative
from onnx_scatterx.indexing.terms import (
    Atom,
    Coord,
    FloorDiv,
    Interval,
    Number,
    Pos,
    Step,
    Term,
    as_term,
    interval_of,
    term,
)

_DEPTH = 5


class Facts:
    """What is known: terms that are never negative, and the range of every coordinate.

    >>> from onnx_scatterx.indexing.terms import maximum, size
    >>> n = size("n")
    >>> Facts().proves(n - 1)
    False
    >>> Facts(known=[n - 1]).proves(maximum(n, 3) - 1)
    True
    """

    def __init__(
        self, extents: Mapping[int, Term] | None = None, known: Iterable[Term] = ()
    ) -> None:
        self.extents = dict(extents or {})
        self.known: tuple[Term, ...] = ()
        self._bounds: dict[Atom, Interval] = {}
        self._answers: dict[Term, bool] = {}
        self._learn(known)

    def assuming(
        self, *known: Term, extents: Mapping[int, Term] | None = None
    ) -> Facts:
        """Return these facts and more."""
        child = Facts.__new__(Facts)
        child.extents = {**self.extents, **(extents or {})}
        child.known = self.known
        child._bounds = dict(self._bounds)
        child._answers = {}
        child._learn(known)
        return child

    def learn(self, known: Iterable[Term]) -> None:
        """Add facts that hold wherever these are used from now on."""
        self._answers = {t: True for t, answer in self._answers.items() if answer}
        self._learn(known)

    def _learn(self, known: Iterable[Term]) -> None:
        for fact in known:
            if fact.constant is not None or fact in self.known:
                continue
            self.known = (*self.known, fact)
            parts = [i for i in fact.items if i[0]]
            if len(parts) == 1 and len(parts[0][0]) == 1:
                ((atom,), c), offset = parts[0], fact.offset
                low, high = self._atom_interval(atom)
                if c > 0:
                    low = max(low, math.ceil(-offset / c))
                else:
                    high = min(high, math.floor(offset / -c))
                self._bounds[atom] = (low, high)

    def proves(self, t: Number) -> bool:
        """Return whether ``t >= 0`` is proven, for every point within the extents."""
        t = term(t)
        if t not in self._answers:
            self._answers[t] = self._prove(t, _DEPTH)
        return self._answers[t]

    def equal(self, a: Number, b: Number) -> bool:
        """Return whether two terms are proven equal."""
        difference = term(a) - b
        if difference.constant is not None:
            return difference.constant == 0
        return self.proves(difference) and self.proves(-difference)

    def interval(self, t: Number) -> Interval:
        """Return bounds of a term under these facts."""
        t = term(t)
        if not self._bounds and not self.extents:
            return t.interval()
        return interval_of(t, self._atom_interval)

    def _atom_interval(self, atom: Atom) -> Interval:
        low, high = atom.interval(self.interval)
        if isinstance(atom, Coord) and atom.dim in self.extents:
            high = min(high, self.interval(self.extents[atom.dim])[1] - 1)
        known = self._bounds.get(atom)
        return (max(low, known[0]), min(high, known[1])) if known else (low, high)

    def _prove(self, t: Term, depth: int) -> bool:
        low, high = self.interval(t)
        if low >= 0:
            return True
        if high < 0 or t.constant is not None or depth == 0:
            return False
        return (
            self._by_one_size(t)
            or self._by_coordinate(t, depth)
            or self._by_known(t, depth)
            or self._by_cases(t, depth)
            or self._by_division(t, depth)
        )

    def _by_one_size(self, t: Term) -> bool:
        leaves = t.leaves()
        if t.coords or len(leaves) != 1:
            return False
        (leaf,) = leaves
        low, high = self._atom_interval(leaf)
        if math.isinf(low) or not math.isinf(high) or leaf.parts:
            return False
        return never_negative(t, leaf, int(low)) is True

    def _by_coordinate(self, t: Term, depth: int) -> bool:
        """A term that is linear in a coordinate is least at an end of the coordinate's range."""
        for atom in t.atoms:
            if not isinstance(atom, Coord) or atom.dim not in self.extents:
                continue
            slope, rest = t.split(atom)
            if atom.dim in slope.coords | rest.coords:
                continue
            extent = self.extents[atom.dim]
            nonempty = self.assuming(extent - 1)
            if self._prove(slope, depth - 1):
                return nonempty._prove(t.replace({atom: 0}), depth - 1)
            if self._prove(-slope, depth - 1):
                return nonempty._prove(t.replace({atom: extent - 1}), depth - 1)
        return False

    def _by_known(self, t: Term, depth: int) -> bool:
        """``t = (a f + rest) / b`` for a known ``f >= 0``, positive a and b, and ``rest >= 0``."""
        coefficients = dict(t.items)
        for fact in self.known:
            if sum(1 for m, _ in fact.items if m) == 1 and fact.leaves() >= fact.atoms:
                continue  # a bound of one leaf: the intervals have it
            for monomial, c in fact.items:
                a = coefficients.get(monomial, 0)
                if not monomial or a * c <= 0:
                    continue
                rest = abs(c) * t - abs(a) * fact
                if self.interval(rest)[0] >= 0 or (
                    depth > 2 and len(rest.items) < len(t.items) and self._prove(rest, depth - 2)
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
            known = [f.replace({atom: value}) for f in self.known if atom in f.atoms]
            facts = self.assuming(condition, *known)
            if any((f.constant or 0) < 0 for f in known):
                continue
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
