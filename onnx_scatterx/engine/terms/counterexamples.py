"""Terms at a few hundred points: one that is negative at an allowed point cannot be proven.

A search that finds no proof takes longest. Most terms that are not always >= 0 are negative at some
point of the sample. So before a long proof is tried, or one by cases, the term is evaluated at all
points that satisfy the facts. Numbers are drawn within the bounds that are known, since otherwise
few points satisfy the facts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from onnx_scatterx.engine.budget import LIMITS, NARROW, PRICES, budget
from onnx_scatterx.engine.terms.algebra import Term, term
from onnx_scatterx.engine.terms.atom import Atom, Interval
from onnx_scatterx.engine.terms.cases import FloorDiv
from onnx_scatterx.engine.terms.constraints import Layer
from onnx_scatterx.engine.terms.memo import Memo
from onnx_scatterx.engine.terms.symbols import IndexVar, Symbol
from onnx_scatterx.engine.terms.tabulate import no_leaf

_GREATEST = 5000.0  # of a size at a point
_SPREAD = 0x9E3779B97F4A7C15  # spreads numbers over 64 bits


class Values(NamedTuple):
    """The values of a term, and the points at which they are right."""

    numbers: np.ndarray
    right: np.ndarray


AtomValues = dict[Atom, Values]

# Elements are less than these. They are small at three of four points, so that many of them can be
# positions on one axis.
_MOST = np.where(np.arange(LIMITS.points) % 4, 1 + np.arange(LIMITS.points) // 4 % 16, 8192)
EVERYWHERE = np.ones(LIMITS.points, bool)
_NOWHERE = np.zeros(LIMITS.points, bool)
_UNKNOWN = Values(np.zeros(LIMITS.points, np.int64), _NOWHERE)


def _own_bounds(leaf: Symbol) -> Interval:
    """Return the bounds of a leaf that hold without facts."""
    return leaf.low, leaf.high


class Sample:
    """Points: a number for each size, element and coordinate, the same in every process.

    ``bounds`` returns what is known of a leaf when its numbers are drawn.

    >>> from onnx_scatterx.engine.terms import size
    >>> n, m = size("n"), size("m")
    >>> values = Sample().of(n - m, {}, {})
    >>> bool(values.right.all()), bool((values.numbers < 0).any())
    (True, True)
    """

    def __init__(self, bounds: Callable[[Symbol], Interval] = _own_bounds) -> None:
        self._known: AtomValues = Memo()
        self._bounds = bounds

    def of(self, t: Term, extents: Mapping[int, Term], inner: AtomValues) -> Values:
        """Return the values of a term; ``inner`` keeps those that depend on coordinates.

        They are right if no coordinate is beyond its extent, and no divisor is 0.
        """
        budget().charge_command(PRICES.sampled * (1 + len(t.items)))
        total = np.zeros(LIMITS.points, np.int64)
        right = EVERYWHERE
        reach = 0.0
        for monomial, c in t.items:
            if abs(c) >= NARROW:
                return _UNKNOWN
            size = float(abs(c))
            factors: list[np.ndarray] = []
            for atom in monomial:
                values = self._of_atom(atom, extents, inner)
                if values.right is not EVERYWHERE:
                    right = right & values.right
                size *= float(max(abs(int(values.numbers.max())), abs(int(values.numbers.min()))))
                factors.append(values.numbers)
            reach += size
            if not reach < NARROW:
                return _UNKNOWN
            whole: np.ndarray | int = c
            for numbers in factors:
                whole = whole * numbers
            total = total + whole
        return Values(total, right)

    def _of_atom(self, atom: Atom, extents: Mapping[int, Term], inner: AtomValues) -> Values:
        known = inner if atom.coords else self._known
        values = known.get(atom)
        if values is None:
            values = known[atom] = self._compute(atom, extents, inner)
        return values

    def _compute(self, atom: Atom, extents: Mapping[int, Term], inner: AtomValues) -> Values:
        if isinstance(atom, IndexVar):
            drawn = _sizes(atom.dim, "coord")
            extent = extents.get(atom.dim)
            if extent is None:
                return Values(drawn, EVERYWHERE)
            most, right = self.of(extent, extents, inner)
            return Values(drawn % np.maximum(most, 1), right & (most > 0))
        parts = [self.of(p, extents, inner) for p in atom.parts]
        right = EVERYWHERE
        for part in parts:
            if part.right is not EVERYWHERE:
                right = right & part.right
        numbers = [part.numbers for part in parts]
        if isinstance(atom, Symbol):
            low, high = self._bounds(atom)
            if low > high or any(NARROW <= abs(b) < math.inf for b in (low, high)):
                low, high = _own_bounds(atom)  # the facts allow no number, or none that is computed
            return Values(_drawn(atom, numbers, low, high), right)
        if isinstance(atom, FloorDiv):
            right = right & (numbers[1] > 0)
        made = atom.value(numbers, no_leaf, no_leaf)
        return Values(np.broadcast_to(np.asarray(made, np.int64), (LIMITS.points,)), right)


def _sizes(number: int, kind: str) -> np.ndarray:
    """Draw numbers that are never negative, small ones more often."""
    seed = [number & 0xFFFFFFFFFFFF, len(kind)]
    uniform = np.random.default_rng(seed).random(LIMITS.points)
    return np.floor(np.exp(uniform * math.log(_GREATEST))).astype(np.int64) - 1


def _drawn(leaf: Symbol, index: list[np.ndarray], low: float, high: float) -> np.ndarray:
    """Draw numbers within the bounds of a leaf: one for each index at each point."""
    numbers = _sizes(leaf.serial.number, "leaf")
    if index:
        mixed = np.zeros(LIMITS.points, np.uint64)
        with np.errstate(over="ignore"):
            for part in index:
                mixed = (mixed ^ part.astype(np.uint64)) * np.uint64(_SPREAD)
            mixed = mixed >> np.uint64(40)
        numbers = (numbers + mixed.astype(np.int64)) % 8192 % (numbers + 2) % _MOST
    if math.isinf(low):
        # A number of either sign; if only the greatest is known, the ones next to it.
        numbers = (
            numbers * np.where(numbers % 2 == 0, 1, -1) if math.isinf(high) else int(high) - numbers
        )
    elif math.isinf(high):
        numbers = numbers + int(low)
    else:
        numbers = int(low) + numbers % min(int(high) - int(low) + 1, NARROW)
    return numbers


class Counterexamples:
    """The points of a sample that facts allow: their own ``layer``, and those ``below``."""

    def __init__(
        self,
        layer: Layer,
        extents: Mapping[int, Term],
        bounds: Callable[[Symbol], Interval],
        below: Counterexamples | None,
    ) -> None:
        self._layer = layer
        self._extents = extents
        self._below = below
        self._sample: Sample = Sample(bounds) if below is None else below._sample
        self._allowed = 0, EVERYWHERE  # how many facts were looked at, and which points they allow
        same = below is not None and extents is below._extents
        self._at_points: AtomValues = below._at_points if below and same else {}

    def forget(self) -> None:
        """Look at all facts of the layer again: a residue was learnt."""
        self._allowed = 0, EVERYWHERE

    def refute(self, t: Term) -> bool:
        """Return whether a term is negative at a point that the facts allow."""
        values = self._values(t)
        return bool((values.right & (values.numbers < 0) & self._points()).any())

    def _values(self, t: Term) -> Values:
        return self._sample.of(t, self._extents, self._at_points)

    def _points(self) -> np.ndarray:
        """Return which points of the sample the facts allow."""
        count, allowed = self._allowed
        if not count:
            for leaf, (modulus, residue) in self._layer.residues.items():
                numbers = self._values(term(leaf)).numbers
                allowed = allowed & (numbers % modulus == residue)
        for fact in itertools.islice(self._layer.facts, count, None):
            values = self._values(fact)
            allowed = allowed & values.right & (values.numbers >= 0)
        self._allowed = len(self._layer.facts), allowed
        return allowed if self._below is None else allowed & self._below._points()
