"""Clauses: what a user says of inputs, read, checked against a model, and noted in its metadata.

    seq <= 4096        n % 8 == 0
    pos < seq          0 <= idx < n      cache_position: contiguous, nonnegative

A clause is about a symbol (a declared dim) or about the elements of an integer input.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from onnx_scatterx.assumptions.assumption import PROPERTIES, Assumption
from onnx_scatterx.errors import ScatterXError

Assume: TypeAlias = "Mapping[str, str] | Iterable[str] | None"
"""Assumptions as a user gives them: by name, or as statements that begin with the name."""

METADATA = "onnx_scatterx.assumes"
"""The metadata key of an optimized model: what it assumes of its inputs, by name, as JSON."""

_FROM_BELOW = re.compile(r"([^<>=!%]+?)\s*(<=|<)\s*([^<>=!%]+?)\s*((?:<=|<)[^<>=!%]+)?")
_TURNED = {"<": ">", "<=": ">="}


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
