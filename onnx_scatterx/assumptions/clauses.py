"""Clauses: assumptions about inputs are read, checked against a model, noted in its metadata.

    seq <= 4096        n % 8 == 0
    pos < seq          0 <= idx < n      cache_position: contiguous, nonnegative
    mask: exactly 5    ids == 7: one run of 5

A clause is about a symbol (a declared dim), about the elements of an integer input, or about how
many elements of any value are chosen (``counts``).

--assume '0 <= idx < n' --fix n=4        promises 0 <= idx < 4
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.assumptions.assumption import Assumption
from onnx_scatterx.assumptions.counts import Subject, check_counts
from onnx_scatterx.assumptions.expressions import (
    COUNTS,
    PROPERTIES,
    parts_of,
    statement,
    with_numbers,
)
from onnx_scatterx.assumptions.fixed_sizes import FixedSizes
from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.grouping import grouped

Assume: TypeAlias = "Mapping[str, str] | Iterable[str] | None"
"""Assumptions as a user gives them: by name, or as statements that begin with the name."""

METADATA = "onnx_scatterx.assumes"
"""The metadata key of an optimized model: what it assumes of its inputs, by name, as JSON."""

MOST = 100
"""How many things can be assumed at once."""

_SHOWN = 100  # characters of metadata that cannot be read


@dataclass(frozen=True)
class Clause:
    """One thing that is assumed of one name.

    >>> str(Clause("seq", "<= 4096")), str(Clause("idx", "unique"))
    ('seq <= 4096', 'idx: unique')
    """

    name: str
    condition: str

    def __str__(self) -> str:
        named = self.condition in PROPERTIES or self.is_count
        return f"{self.name}{':' if named else ''} {self.condition}"

    @property
    def is_count(self) -> bool:
        """Whether it says how many elements of a value are chosen, or how they lie."""
        return COUNTS.fullmatch(self.condition) is not None


def read_clauses(assume: Assume) -> tuple[Clause, ...]:
    """Read assumptions into clauses, each once; raise ScatterXError if one cannot be read.

    >>> [str(c) for c in read_clauses(["0 <= idx < n", "p: contiguous, nonnegative"])]
    ['idx >= 0', 'idx < n', 'p: contiguous', 'p: nonnegative']
    """
    if isinstance(assume, str):
        assume = [assume]
    pairs = assume.items() if isinstance(assume, Mapping) else map(statement, assume or ())
    read: dict[Clause, None] = {}
    for name, text in pairs:
        for part in parts_of(text):
            counted = Assumption.parse(part, name).counts
            clause = Clause(str(Subject.of(name)), " ".join(part.split())) if counted else None
            read[clause or Clause(name, part)] = None
            if len(read) > MOST:
                raise ScatterXError(f"more than {MOST} assumptions were made; leave some out")
    return tuple(read)


def as_metadata(assumed: Iterable[Clause]) -> str:
    """Return clauses as the text under ``METADATA`` of a model that was rewritten under them.

    >>> as_metadata(read_clauses(["idx: unique", "idx < n"]))
    '{"idx": "unique, < n"}'
    """
    conditions = {name: ", ".join(parts) for name, parts in conditions_of(assumed).items()}
    return json.dumps(conditions, ensure_ascii=False)


def note_assumptions(assumed: Iterable[Clause], metadata: MutableMapping[str, str]) -> None:
    """Write clauses into a model's metadata, behind those that it has.

    >>> metadata = {METADATA: '{"idx": "unique"}'}
    >>> note_assumptions(read_clauses(["idx < n", "idx: unique"]), metadata)
    >>> metadata[METADATA]
    '{"idx": "unique, < n"}'
    """
    if new := tuple(assumed):
        metadata[METADATA] = as_metadata(dict.fromkeys((*noted_assumptions(metadata), *new)))


def noted_assumptions(metadata: Mapping[str, str]) -> tuple[Clause, ...]:
    """Return the assumptions in a model's metadata; ScatterXError if they cannot be read.

    >>> [str(c) for c in noted_assumptions({METADATA: '{"idx": "unique, < n"}'})]
    ['idx: unique', 'idx < n']
    """
    text = metadata.get(METADATA)
    if text is None:
        return ()
    try:
        conditions = json.loads(text)
    except (ValueError, RecursionError):
        conditions = None
    if not isinstance(conditions, dict) or not all(
        isinstance(part, str) for part in conditions.values()
    ):
        shown = one_line(text, _SHOWN)
        raise ScatterXError(f"the metadata {METADATA} of the model are not assumptions: {shown}")
    return read_clauses(conditions)


def by_name(assumed: Iterable[Clause]) -> dict[str, Assumption]:
    """Return what clauses say of each name.

    >>> by_name(read_clauses(["n >= 2", "n % 2 == 0"]))["n"].witness()
    2
    """
    conditions = conditions_of(assumed).items()
    return {name: Assumption.parse(", ".join(parts), name) for name, parts in conditions}


def conditions_of(assumed: Iterable[Clause]) -> dict[str, list[str]]:
    """Return the conditions of each name, in the order of the clauses."""
    return grouped((clause.name, clause.condition) for clause in assumed)


def check_clauses(
    assumed: Iterable[Clause],
    *,
    symbols: Collection[str],
    inputs: Mapping[str, bool],
    values: Mapping[str, ir.DataType | None],
) -> dict[str, Assumption]:
    """Return what clauses say of each name; ScatterXError if a name or a word does not fit.

    ``inputs`` says for each graph input whether it holds integers; ``values`` are the element types
    of all values whose elements may be counted, also of the inputs.
    """
    assumptions = by_name(assumed)
    for name, assumption in assumptions.items():
        if assumption.counts:
            subject = Subject.of(name)
            subject.check(values, symbols)
            of_name = [c.condition for c in assumed if c.name == name and c.is_count]
            check_counts(name, assumption.counts, of_name)
        only_counted = not (assumption.comparisons or assumption.properties)
        if only_counted and assumption.counts:
            _check_symbols(name, assumption, symbols)
            continue
        if name not in symbols and name not in inputs:
            known = ", ".join(sorted({*symbols, *inputs}))
            raise ScatterXError(
                f"cannot assume anything of {name!r}: the model has no such input or symbol; "
                f"it has {known}"
            )
        if name not in symbols and not inputs[name]:
            raise ScatterXError(f"cannot assume anything of {name!r}: it does not hold integers")
        if name in symbols and assumption.properties - {"nonnegative"} and name not in inputs:
            word = min(assumption.properties - {"nonnegative"})
            raise ScatterXError(f"cannot assume {word!r} of {name!r}: it is a size, one number")
        _check_symbols(name, assumption, symbols)
        ends = (0, math.inf) if name in symbols else _ends(values.get(name))
        if assumption.witness(*ends) is None:
            listed = ", ".join(str(c) for c in assumed if c.name == name)
            raise ScatterXError(f"no number was found that satisfies all of this: {listed}")
    return assumptions


def _ends(dtype: ir.DataType | None) -> tuple[float, float]:
    """Return the least and the greatest number of an element type."""
    if dtype is None or not dtype.is_integer():
        return -math.inf, math.inf
    return int(dtype.min), int(dtype.max)


def _check_symbols(name: str, assumption: Assumption, symbols: Collection[str]) -> None:
    unknown = assumption.symbols - set(symbols)
    if unknown:
        raise ScatterXError(
            f"cannot compare {name!r} with {min(unknown)!r}: the model has no such symbol; "
            f"it has {', '.join(sorted(symbols)) or 'none'}"
        )


def at_sizes(assumed: Sequence[Clause], fixed: FixedSizes) -> tuple[Clause, ...]:
    """Return assumptions with the numbers of fixed sizes in the place of their names.

    One of a size that is fixed is true or not: raises ScatterXError if it is not.

    >>> print(*at_sizes(read_clauses(["idx < 2*n", "n <= 8"]), FixedSizes({"n": 4}, {})))
    idx < 2*4
    """
    replaced: dict[Clause, None] = {}
    for clause in assumed:
        text = with_numbers(clause.condition, fixed.symbols)
        number = None if clause.is_count else fixed.symbols.get(clause.name)
        if number is None:
            replaced[Clause(clause.name, text)] = None
        elif not Assumption.parse(text, clause.name).allows(number, fixed.symbols):
            raise ScatterXError(f"{clause} is assumed, and {clause.name!r} is fixed at {number}")
    return tuple(replaced)


def equalities(assumed: Iterable[Clause]) -> dict[str, int]:
    """Return the numbers that are assumed of names.

    >>> equalities(read_clauses(["b == 4", "n <= 8"]))
    {'b': 4}
    """
    numbers = {}
    for name, assumption in by_name(assumed).items():
        for comparison in assumption.comparisons:
            is_number = isinstance(comparison.bound, int) and not comparison.modulus
            if comparison.sign == "==" and is_number:
                numbers[name] = int(comparison.bound)
    return numbers
