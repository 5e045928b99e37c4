"""What the user knows of a model's inputs, and the model does not say.

    seq <= 4096        n % 8 == 0
    pos < seq          0 <= idx < n      cache_position: contiguous, nonnegative

A clause is about a symbol (a declared dim) or about the elements of an integer input. The words:
``nonnegative``, ``unique`` (no two elements are equal) and ``contiguous`` (along the last axis each
element is the one before it plus 1).
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.expressions import divides, evaluate, names

Assume: TypeAlias = "Mapping[str, str] | Iterable[str] | None"
"""Assumptions as a user gives them: by name, or as statements that begin with the name."""

METADATA = "onnx_scatterx.assumes"
"""The metadata key of an optimized model: what it assumes of its inputs, by name, as JSON."""

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
_FROM_BELOW = re.compile(r"([^<>=!%]+?)\s*(<=|<)\s*([^<>=!%]+?)\s*((?:<=|<)[^<>=!%]+)?")
_TURNED = {"<": ">", "<=": ">="}
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


@dataclass(frozen=True)
class Clause:
    """One thing that is assumed of one name.

    >>> str(Clause("seq", "<= 4096")), str(Clause("idx", "unique"))
    ('seq <= 4096', 'idx: unique')
    """

    name: str
    said: str

    def __str__(self) -> str:
        return f"{self.name}{':' if self.said in PROPERTIES else ''} {self.said}"


def clauses(assume: Assume) -> tuple[Clause, ...]:
    """Read assumptions into clauses, each once; raise ScatterXError where one cannot be read.

    >>> [str(c) for c in clauses(["0 <= idx < n", "p: contiguous, nonnegative"])]
    ['idx >= 0', 'idx < n', 'p: contiguous', 'p: nonnegative']
    """
    if isinstance(assume, str):
        assume = [assume]
    pairs = assume.items() if isinstance(assume, Mapping) else map(statement, assume or ())
    found: dict[Clause, None] = {}
    for name, text in pairs:
        Assumption.parse(text, name)
        for part in filter(None, (part.strip() for part in text.split(","))):
            found[Clause(name, part)] = None
    return tuple(found)


def statement(text: str) -> tuple[str, str]:
    """Split a statement into a name and what is said of it.

    >>> statement("seq <= 512"), statement("positions = nonnegative"), statement("n==4")
    (('seq', '<= 512'), ('positions', 'nonnegative'), ('n', '==4'))
    >>> statement("cache_position: contiguous"), statement("0 <= idx < n")
    (('cache_position', 'contiguous'), ('idx', '>= 0, < n'))
    """
    between = _FROM_BELOW.fullmatch(text.strip())
    if between is not None and (between[4] or re.fullmatch(r"-?\d+", between[1])):
        lower = f"{_TURNED[between[2]]} {between[1]}"
        return between[3], f"{lower}, {between[4]}" if between[4] else lower
    end = next((i for i, c in enumerate(text) if c in "<>=!%" or c.isspace()), len(text))
    name, said = text[:end].removesuffix(":"), text[end:].strip()
    if said.startswith("=") and not said.startswith("=="):
        said = said[1:].strip()
    if not name or not said:
        raise ScatterXError(f"{text!r} is not like 'seq <= 512' or 'positions: contiguous'")
    return name, said


def as_metadata(found: Iterable[Clause]) -> str:
    """Return clauses as the text under ``METADATA`` of a model that rests on them.

    >>> as_metadata(clauses(["idx: unique", "idx < n"]))
    '{"idx": "unique, < n"}'
    """
    said: dict[str, str] = {}
    for clause in found:
        said[clause.name] = (
            f"{said[clause.name]}, {clause.said}" if clause.name in said else clause.said
        )
    return json.dumps(said, ensure_ascii=False)


def from_metadata(metadata: Mapping[str, str]) -> tuple[Clause, ...]:
    """Return what a model says that it rests on; raise ScatterXError if it cannot be read.

    >>> [str(c) for c in from_metadata({METADATA: '{"idx": "unique, < n"}'})]
    ['idx: unique', 'idx < n']
    """
    text = metadata.get(METADATA)
    if text is None:
        return ()
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if not isinstance(said, dict) or not all(isinstance(part, str) for part in said.values()):
        raise ScatterXError(f"the metadata {METADATA} of the model are no assumptions: {text!r}")
    return clauses(said)


def by_name(found: Iterable[Clause]) -> dict[str, Assumption]:
    """Return what clauses say of each name.

    >>> by_name(clauses(["n >= 2", "n % 2 == 0"]))["n"].witness()
    2
    """
    said: dict[str, list[str]] = {}
    for clause in found:
        said.setdefault(clause.name, []).append(clause.said)
    return {name: Assumption.parse(", ".join(parts), name) for name, parts in said.items()}


def check(
    found: Iterable[Clause], *, symbols: Collection[str], inputs: Mapping[str, bool]
) -> dict[str, Assumption]:
    """Return what clauses say of each name, or raise ScatterXError where that cannot be.

    ``inputs`` says of each graph input whether it holds integers.
    """
    assumed = by_name(found)
    for name, assumption in assumed.items():
        if name not in symbols and name not in inputs:
            known = ", ".join(sorted({*symbols, *inputs}))
            raise ScatterXError(
                f"cannot assume anything of {name!r}: the model has no such input or symbol; "
                f"it has {known}"
            )
        if name not in symbols and not inputs[name]:
            raise ScatterXError(f"cannot assume anything of {name!r}: it holds no integers")
        if name in symbols and assumption.properties - {"nonnegative"} and name not in inputs:
            word = min(assumption.properties - {"nonnegative"})
            raise ScatterXError(f"cannot assume {word!r} of {name!r}: it is a size, one number")
        unknown = assumption.symbols - set(symbols)
        if unknown:
            raise ScatterXError(
                f"cannot compare {name!r} with {min(unknown)!r}: the model has no such symbol; "
                f"it has {', '.join(sorted(symbols)) or 'none'}"
            )
        if assumption.witness(0 if name in symbols else -math.inf) is None:
            said = ", ".join(str(c) for c in found if c.name == name)
            raise ScatterXError(f"no number is all of this: {said}")
    return assumed
