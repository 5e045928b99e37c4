"""What is assumed of one symbol or input: comparisons with numbers and symbols, and properties.

The words: ``nonnegative``, ``unique`` (no two elements are equal), and along the last axis
``contiguous`` (each element is the one before it plus 1), ``nondecreasing`` (no element is less
than the one before it) and ``increasing`` (each is greater). How many elements are chosen is
a count (``counts``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.assumptions.counts import Count, common_range
from onnx_scatterx.assumptions.expressions import (
    COMPARISONS,
    PROPERTIES,
    evaluate,
    names_in,
    parts_of,
    read_comparison,
)

_LEAST, _MOST = -(1 << 63), (1 << 64) - 1  # what a size or an element of an input can be
_TRIED = 100_000  # numbers in search of one that is allowed


@dataclass(frozen=True)
class Relation:
    """``value sign bound``, or ``value % modulus sign bound`` if the modulus is not 0.

    The bound is a number, or an expression of symbols.
    """

    modulus: int
    sign: str
    bound: int | str

    def allows(self, value: int, bound: int) -> bool:
        """Return whether a value satisfies it, given the bound as a number."""
        return COMPARISONS[self.sign](value % self.modulus if self.modulus else value, bound)


@dataclass(frozen=True)
class Assumption:
    """What is assumed of one symbol or value: comparisons, properties, and counts of elements."""

    comparisons: tuple[Relation, ...] = ()
    properties: frozenset[str] = frozenset()
    counts: tuple[Count, ...] = ()

    @classmethod
    def parse(cls, text: str, name: str) -> Assumption:
        """Read an assumption about ``name``; raise ScatterXError if it cannot be read.

        >>> Assumption.parse(">= 2, % 8 == 0", "seq").allows(12)
        False
        """
        parts = parts_of(text)
        properties = frozenset(parts) & frozenset(PROPERTIES)
        counts = {part: Count.parse(part, name) for part in parts if part not in properties}
        read = (read_comparison(part, name) for part, count in counts.items() if count is None)
        comparisons = tuple(Relation(*comparison) for comparison in read)
        return cls(comparisons, properties, tuple(c for c in counts.values() if c is not None))

    def allows(self, value: int, sizes: Mapping[str, int] | None = None) -> bool:
        """Return whether an element may be this value, at these sizes.

        A bound that the sizes do not tell allows everything.
        """
        if value < 0 and "nonnegative" in self.properties:
            return False
        for comparison in self.comparisons:
            bound = evaluate(comparison.bound, sizes or {})
            if bound is not None and not comparison.allows(value, bound):
                return False
        return True

    def holds(self, array: np.ndarray, sizes: Mapping[str, int]) -> bool:
        """Return whether it is true of the elements of an array.

        >>> Assumption.parse("unique, < n", "i").holds(np.array([2, 0]), {"n": 2})
        False
        """
        bounded = self.comparisons or "nonnegative" in self.properties
        if bounded and not all(self.allows(int(n), sizes) for n in np.unique(array)):
            return False
        if "unique" in self.properties and np.unique(array).size < array.size:
            return False
        if not all(count.holds(array, sizes) for count in self.counts):
            return False
        if "contiguous" in self.properties and array.ndim:
            rises = array[..., 1:] > array[..., :-1]  # since the differences wrap around
            return bool((rises & (np.diff(array.astype(np.int64), axis=-1) == 1)).all())
        if array.ndim and self.is_sorted:
            compare = np.greater if "increasing" in self.properties else np.greater_equal
            return bool(compare(array[..., 1:], array[..., :-1]).all())
        return True

    def chosen_range(self, sizes: Mapping[str, int]) -> tuple[float, float]:
        """Return how many elements may be chosen, at these sizes: the first is more if none may.

        >>> Assumption.parse("at most n, exactly 2", "mask").chosen_range({"n": 4})
        (2, 2)
        """
        return common_range(self.counts, sizes)

    @property
    def is_sorted(self) -> bool:
        """Whether elements are in their order along the last axis."""
        return bool(self.properties & {"nondecreasing", "increasing"})

    def interval(self, sizes: Mapping[str, int] | None = None) -> tuple[float, float]:
        """Return the least and the greatest value that the comparisons without a modulus allow."""
        low, high = (0.0 if "nonnegative" in self.properties else -math.inf), math.inf
        for comparison in self.comparisons:
            bound = evaluate(comparison.bound, sizes or {})
            if bound is None or comparison.modulus:
                continue
            if comparison.sign in (">=", ">", "=="):
                low = max(low, bound + (comparison.sign == ">"))
            if comparison.sign in ("<=", "<", "=="):
                high = min(high, bound - (comparison.sign == "<"))
        return low, high

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers at and around which the comparisons change: candidates to draw."""
        known = [(c.modulus, c.bound) for c in self.comparisons if isinstance(c.bound, int)]
        around = {n + d for m, n in known for d in (-1, 0, 1) if not m}
        multiples = {m * k + n for m, n in known for k in (0, 1, 2, 4) if m}
        return tuple(sorted(n for n in around | multiples if self.allows(n)))

    def witness(self, low: float = -math.inf, high: float = math.inf) -> int | None:
        """Return the allowed value nearest to 0 from ``low`` to ``high``; None if none is found.

        Bounds that are not numbers are ignored. At most 100 000 numbers are tried on each side of
        0, in steps of the largest modulus m of a promise ``% m == r``.

        >>> texts = "> 2, % 4 == 0", "> 2, < 3", "% 1000000000 == 5, < 0"
        >>> [Assumption.parse(text, "n").witness() for text in texts]
        [4, None, -999999995]
        """
        interval = self.interval()
        least, most = int(max(interval[0], low, _LEAST)), int(min(interval[1], high, _MOST))
        known = [c for c in self.comparisons if isinstance(c.bound, int)]
        allows = Assumption(tuple(known), self.properties).allows
        steps = [(c.modulus, int(c.bound)) for c in known if c.modulus and c.sign == "=="]
        step, residue = max(steps, default=(1, 0))
        up, down = max(least, 0), min(most, -1)
        above = range(up + (residue - up) % step, most + 1, step)
        below = range(down - (down - residue) % step, least - 1, -step)
        nearest = [next(filter(allows, numbers[:_TRIED]), None) for numbers in (above, below)]
        return min((n for n in nearest if n is not None), key=abs, default=None)

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols in the bounds."""
        bounds = (c.bound for c in self.comparisons if isinstance(c.bound, str))
        counted = (count.symbols for count in self.counts)
        return frozenset[str]().union(*map(names_in, bounds), *counted)


NOTHING = Assumption()
