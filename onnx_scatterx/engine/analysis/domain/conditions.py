"""What may be demanded of the inputs of a node, as relations between sizes and numbers.

A condition answers three questions: which terms are >= 0 if it holds, whether it is certainly
false, and what a user is told then. Only inequalities have terms. None follow from shapes that can
be broadcast, nor from a count that is a product. Sizes that must be equal are not learned: it was
tried, and no model gained by it.

>>> from onnx_scatterx.engine.terms import size
>>> n, known = size("n"), Facts()
>>> [Broadcast("", ((n, term(k)), (term(0),))).is_false(known) for k in (3, 1)]
[True, False]
>>> rows = np.array([2, -5])
>>> [str(t) for t in Within("", rows, n).terms(known)], Within("", rows, term(4)).is_false(known)
(['n - 5'], True)
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from onnx_scatterx.engine.analysis.domain.tensor import Shape
from onnx_scatterx.engine.budget import PRICES, budget
from onnx_scatterx.engine.terms import Facts, Term, term


@dataclass(frozen=True)
class Condition(ABC):
    """What holds if a node runs; ``fault`` says what is wrong if it does not hold.

    If it is not ``learned``, the optimized model must not rely on it.
    """

    fault: str
    learned: bool = field(default=True, kw_only=True)

    def terms(self, known: Facts) -> list[Term]:
        """Return terms that are >= 0 if the condition holds."""
        return []

    @abstractmethod
    def is_false(self, known: Facts) -> bool:
        """Return whether the condition is certainly false, given some facts."""

    def told(self, inputs: str) -> str:
        """Return why the node fails, for a user. ``inputs`` describes the inputs of the node."""
        return f"{inputs}: {self.fault}"


@dataclass(frozen=True)
class Decided(Condition):
    """A condition on ranks and numbers, which is true or false."""

    holds: bool

    def is_false(self, known: Facts) -> bool:
        return not self.holds


@dataclass(frozen=True)
class NotNegative(Condition):
    """Terms are >= 0. With ``only_news``, those that are proven already are not learned again."""

    all_terms: Sequence[Term]
    only_news: bool = field(default=False, kw_only=True)

    def terms(self, known: Facts) -> list[Term]:
        wanted = [t for t in self.all_terms if t.constant is None]
        return [t for t in wanted if not known.is_nonnegative(t)] if self.only_news else wanted

    def is_false(self, known: Facts) -> bool:
        return any(t.constant is not None and t.constant < 0 for t in self.all_terms)


@dataclass(frozen=True)
class Equal(Condition):
    """The sizes of each pair are equal."""

    pairs: Sequence[tuple[Term, Term]]

    def is_false(self, known: Facts) -> bool:
        return any(_are_apart(a, b, known) for a, b in self.pairs)


@dataclass(frozen=True)
class Broadcast(Condition):
    """Shapes can be broadcast against each other."""

    shapes: Sequence[Shape]

    def is_false(self, known: Facts) -> bool:
        shapes = [shape[::-1] for shape in self.shapes]
        return any(
            _are_apart(m, n, known) and _are_apart(m, one, known) and _are_apart(n, one, known)
            for one in (term(1),)
            for i, a in enumerate(shapes)
            for b in shapes[:i]
            for m, n in zip(a, b, strict=False)
        )


@dataclass(frozen=True)
class Within(Condition):
    """Known numbers, one or more, lie in [-size, size), or in [0, size) if not ``signed``."""

    numbers: np.ndarray
    size: Term
    signed: bool = True

    def terms(self, known: Facts) -> list[Term]:
        return [] if self.size.constant is not None else [self.size - self._least_size()]

    def is_false(self, known: Facts) -> bool:
        size = _number(self.size, known)
        if size is not None and self._least_size() > size:
            return True
        return not self.signed and bool((self.numbers < 0).any())

    def _least_size(self) -> int:
        """Return the least size at which all numbers are taken."""
        budget().charge_part(PRICES.of_array(self.numbers.size))
        low, high = int(self.numbers.min()), int(self.numbers.max())
        return max(high + 1, -low)

    def told(self, inputs: str) -> str:
        low, high = int(self.numbers.min()), int(self.numbers.max())
        return f"{self.fault}: {high if high + 1 >= -low else low}"


@dataclass(frozen=True)
class AnyElement(Condition):
    """If there is an index, each axis that it names has an element.

    Every index is checked, even if no element is copied. So an axis without elements has no index.
    ``rows`` are the dims that the indices run over.
    """

    axes: Shape
    rows: Shape

    def terms(self, known: Facts) -> list[Term]:
        maybe = [n for n in self.rows if not known.is_nonnegative(n - 1)]
        if len(maybe) > 1:
            return []
        if maybe:
            empty = any(known.interval(e)[1] <= 0 for e in self.axes)
            return [-maybe[0]] if empty and maybe[0].constant is None else []
        return [e - 1 for e in self.axes if e.constant is None]

    def is_false(self, known: Facts) -> bool:
        return any(_number(n, known) == 0 for n in self.axes) and all(
            known.is_nonnegative(n - 1) for n in self.rows
        )


@dataclass(frozen=True)
class SameCount(Condition):
    """A Reshape keeps the number of elements.

    ``copies`` says whether a 0 of the target copies a dim; each then has one to copy. -1 stands for
    one size, and is impossible if the others multiply to 0: for all values of unknown sizes, or if
    zeros do not copy, unless there is no element.
    """

    shape: Shape
    target: Sequence[Term]
    copies: bool

    def is_false(self, known: Facts) -> bool:
        shape = [term(0) if _number(d, known) == 0 else d for d in self.shape]
        sizes = [t.constant for t in self.target]
        asked = [
            shape[i] if s == 0 and self.copies else t
            for i, (s, t) in enumerate(zip(sizes, self.target, strict=True))
        ]
        total = math.prod(shape, start=term(1)).constant
        others = math.prod((t for t in asked if t.constant != -1), start=term(1)).constant
        if -1 in sizes and others == 0:
            return True if self.copies else total not in (None, 0)
        if total is None or others is None or None in sizes:
            return False
        return total % others != 0 if -1 in sizes else total != others


def _are_apart(a: Term, b: Term, known: Facts) -> bool:
    """Return whether two sizes differ for certain: all numbers of one are below all of the other.

    >>> from onnx_scatterx.engine.terms import size
    >>> n = size("n")
    >>> [_are_apart(n, term(k), Facts(known=[4 - n])) for k in (4, 5)]
    [False, True]
    """
    (low, high), (least, most) = known.interval(a), known.interval(b)
    return high < least or most < low


def _number(t: Term, known: Facts) -> int | None:
    """Return the number that a size is: 0 also if the facts prove that it is 0."""
    return 0 if t.constant is None and known.interval(t)[1] <= 0 else t.constant
