"""A promise that no two elements are equal, held against the indices that nodes take.

    edge: unique       Gather(x[32, 4], edge[0]), edge: int64[2, 96]      96 of 64 numbers: not so

Indices of an axis of n elements are n numbers, or 2 n if they may count from the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.assumptions import Assumption, Clause, by_name
from onnx_scatterx.engine.analysis import (
    ElementOf,
    Knowledge,
    NotKnownError,
    Scope,
    index_ranges,
)
from onnx_scatterx.engine.lift import affine_along
from onnx_scatterx.engine.terms import Facts, Symbol, Term, term
from onnx_scatterx.errors import ScatterXError

_Place: TypeAlias = "tuple[int | None, ...]"
"""Which elements of an input are read: one position along an axis, or None for several."""


class _Taken(NamedTuple):
    """So many elements of an input are indices of an axis of ``size`` elements, by a node."""

    value: ir.Value
    place: _Place
    number: int
    size: int
    node: str


def check_distinct(graph: ir.Graph, knowledge: Knowledge, assumed: Sequence[Clause]) -> None:
    """Raise ScatterXError if elements that are promised to be unique have too few numbers."""
    unique = {n: each for n, each in by_name(assumed).items() if "unique" in each.properties}
    inputs = {v.name: v for v in graph.inputs if v.name in unique}
    if not inputs:
        return
    scope = knowledge.scopes[graph]
    for name, value in inputs.items():
        assumption, known = unique[name or ""], scope.of(value)
        least = _least(math.prod(known.shape or (term(0),), start=term(1)), scope.facts)
        low, high = assumption.interval()
        if high - low + 1 < least:
            said = "; ".join(str(c) for c in assumed if c.name == name)
            raise ScatterXError(f"{said} is assumed, and {name!r} has {least} elements")
    taken: dict[tuple[ir.Value, _Place], dict[_Place, _Taken]] = {}
    for found in _all_taken(graph, scope):
        if found.value not in inputs.values():
            continue
        pattern = tuple(None if at is None else 0 for at in found.place)
        alike = taken.setdefault((found.value, pattern), {})
        if found.number > (alike[found.place].number if found.place in alike else 0):
            alike[found.place] = found
    for (value, _), alike in taken.items():
        _check(value.name or "?", unique[value.name or ""], alike)


def _check(name: str, assumption: Assumption, alike: Mapping[_Place, _Taken]) -> None:
    """Raise ScatterXError if places of an input have more elements than there are indices."""
    largest = max(alike.values(), key=lambda each: each.size)
    count, size = sum(each.number for each in alike.values()), largest.size
    numbers = size if assumption.interval()[0] >= 0 else 2 * size
    if count > numbers:
        nonnegative = "" if numbers == size else f", which are {numbers} numbers from {-size} on"
        raise ScatterXError(
            f"{name}: unique is assumed, and {count} elements of {name!r} are indices of an axis "
            f"of {size} elements ({largest.node}){nonnegative}: two are equal"
        )


def _all_taken(graph: ir.Graph, scope: Scope) -> Iterator[_Taken]:
    """Yield which elements of inputs are indices, for the nodes that always run."""
    for node in graph:
        if node in scope.running and node.domain == "" and len(node.inputs) > 1:
            with suppress(NotKnownError):
                yield from _taken_by(node, scope)


def _taken_by(node: ir.Node, scope: Scope) -> Iterator[_Taken]:
    data, indices = scope.of(node.inputs[0]).shape, scope.of(node.inputs[1])
    if not data or not indices.shape or indices.index_map is None:
        return
    width = indices.shape[-1].constant or 0
    for wanted in index_ranges(node, len(data), width, scope.call(node)):
        size = scope.facts.interval(data[wanted.axis % len(data)])[1]
        if math.isinf(size) or wanted.input != 1 or not wanted.signed:
            continue
        last = len(indices.shape) - 1
        shape, read = list(indices.shape), indices.index_map
        if wanted.column is not None:
            shape[last], read = term(1), read.at({last: wanted.column})
        counts = [_least(n, scope.facts) for n in shape]
        found = _elements(read, counts) if all(counts) else None
        if found is not None:
            yield _Taken(*found, int(size), node.name or node.outputs[0].name or "?")


def _elements(read: Term, counts: Sequence[int]) -> tuple[ir.Value, _Place, int] | None:
    """Return which elements of a tensor are read, and how many; None if this is not known."""
    leaves = read.leaves()
    leaf = next(iter(leaves)) if len(leaves) == 1 else None
    value = ElementOf.read_by(leaf) if isinstance(leaf, Symbol) else None
    if leaf is None or value is None:
        return None
    slope, rest = read.split(leaf)
    if slope.constant != 1 or rest.constant is None:
        return None
    axes = [affine_along(part) for part in leaf.parts]
    if any(axis is None or axis.start.constant is None for axis in axes):
        return None
    used = [axis.dim for axis in axes if axis is not None and axis.dim is not None]
    if len(set(used)) < len(used):
        return None
    place = tuple(part.constant for part in leaf.parts)
    return value, place, math.prod(counts[d] for d in used)


def _least(size: Term, facts: Facts) -> int:
    low = facts.interval(size)[0]
    return 0 if math.isinf(low) else int(low)
