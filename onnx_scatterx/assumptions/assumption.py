"""What is assumed of one symbol or input: comparisons with numbers and symbols, and properties.

The words: ``nonnegative``, ``unique`` (no two elements are equal), ``contiguous`` (along the last
axis each element is the one before it plus 1).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.assumptions.expressions import divides, evaluate, names
from onnx_scatterx.errors import ScatterXError

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
PROPERTIES = ("nonnegative", "contiguous", "unique")
_SIGN = "<=|>=|==|!=|<|>"
_COMPARISON = re.compile(rf"(?:%\s*(\d+)\s*)?({_SIGN})\s*(.+)")
_WINDOW = 4096  # numbers in a row that are looked at for one that is allowed


@dataclass(frozen=True)
class Comparison:
    """``value sign bound``, or ``value % modulus sign bound`` where the modulus is not 0.

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
    """What is assumed of one symbol or input: comparisons, and properties by their words."""

    comparisons: tuple[Comparison, ...] = ()
    properties: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, text: str, name: str) -> Assumption:
        """Read an assumption about ``name``; raise ScatterXError if it cannot be read.

        >>> Assumption.parse(">= 2, % 8 == 0", "seq").allows(12)
        False
        """
        comparisons, properties = [], set()
        for part in filter(None, (part.strip() for part in text.split(","))):
            match = _COMPARISON.fullmatch(part)
            bound = None if match is None else _bound(match[3])
            if match is not None and bound is not None and match[1] != "0":
                comparisons.append(Comparison(int(match[1] or 0), match[2], bound))
            elif part in PROPERTIES:
                properties.add(part)
            else:
                raise ScatterXError(
                    f"cannot read the assumption {part!r} about {name}; write for example "
                    f"'<= 4096', '% 8 == 0', {', '.join(PROPERTIES)}"
                )
        return cls(tuple(comparisons), frozenset(properties))

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
        if "contiguous" in self.properties and array.ndim:
            return bool((np.diff(array.astype(np.int64), axis=-1) == 1).all())
        return True

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

    def witness(self, low: float = -math.inf) -> int | None:
        """Return the allowed value nearest to 0 that is at least ``low``, or None if none is.

        Bounds that are no numbers are left out of account.

        >>> said = "> 2, % 4 == 0", "> 2, < 3"
        >>> [Assumption.parse(text, "n").witness() for text in said]
        [4, None]
        """
        least, most = self.interval()
        least = max(least, low)
        window = math.lcm(1, *(c.modulus for c in self.comparisons)) + _WINDOW
        if least > 0:
            tries = range(int(least), int(min(most, least + window)) + 1)
        elif most < 0:
            tries = range(int(most), int(max(least, most - window)) - 1, -1)
        else:
            near = sorted(range(-window, window), key=lambda n: (abs(n), -n))
            return next((n for n in near if least <= n <= most and self.allows(n)), None)
        return next((n for n in tries if self.allows(n)), None)

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols in the bounds."""
        bounds = (c.bound for c in self.comparisons if isinstance(c.bound, str))
        return frozenset[str]().union(*map(names, bounds))


NOTHING = Assumption()


def _bound(text: str) -> int | str | None:
    """Return a bound as a number or an expression; None where it cannot be read."""
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    unreadable = not text.strip() or re.search(r"[<>=!%]", text) or divides(text)
    return None if unreadable else text.strip()
