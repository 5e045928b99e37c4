"""Finds pairs of values that may be the same in two models, and decides whether a pair is the same.

Names of inner values do not matter. From the inputs up, values get numbers: if nodes of one kind
read equal numbers, their outputs get equal numbers, and are pairs. From the outputs down, if a pair
of values is made by nodes of one kind, the inputs of the nodes are pairs. So the ends of a part
that was rewritten are pairs, and each pair is a question of its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from onnx_scatterx.proof.core.arithmetic import integer, number
from onnx_scatterx.proof.core.limits import limit_reached
from onnx_scatterx.proof.core.logic import FALSE, TRUE, both, equal
from onnx_scatterx.proof.core.reading import Graph, Node, constant_of
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor
from onnx_scatterx.proof.core.terms import (
    Term,
    UnsupportedError,
    limit_of,
    walk,
)
from onnx_scatterx.proof.core.world import World

_MOST, _CHUNK = 6000, 64
_SCATTERS = {"ScatterND", "ScatterElements"}


@dataclass(frozen=True)
class Comparison:
    """Whether two tensors are the same, perhaps differ (with a reason), or are not decided.

    ``goal`` is the statement that Z3 did not prove.
    """

    status: Literal["same", "differ", "open"]
    why: str = ""
    goal: Term = TRUE

    def __bool__(self) -> bool:
        return self.status == "same"


SAME = Comparison("same")


def compare(a: Tensor, b: Tensor, world: World) -> Comparison:
    """Return whether two tensors are the same if the facts hold."""
    if a is b:
        return SAME
    try:
        if "unknown" in (a.dtype, b.dtype):
            return Comparison("open", "a value whose operator is not modelled")
        if a.dtype != b.dtype:
            return Comparison("differ", f"type {a.dtype} and {b.dtype}", FALSE)
        if a.rank != b.rank:
            return Comparison("differ", f"rank {a.rank} and {b.rank}", FALSE)
        dims = both(*(equal(d, e) for d, e in zip(a.shape, b.shape, strict=True)))
        comparison = proven(dims, world, "its shape")
        return _elements(a, b, world) if comparison else comparison
    except UnsupportedError as error:
        return Comparison("open", str(error))
    except RecursionError:
        return Comparison("open", "too deep an expression")


def proven(goal: Term, world: World, what: str) -> Comparison:
    """Return whether a statement follows from the facts."""
    answer = world.solver.ask(goal)
    if answer.status == "proven":
        return SAME
    if answer.status == "refuted":
        return Comparison("differ", what, goal)
    return Comparison("open", f"{what}: {limit_reached(answer.limit)}", goal)


def _elements(a: Tensor, b: Tensor, world: World) -> Comparison:
    points = a.points("at ")
    if any(d.op == "integer" and d.data == 0 for d in a.shape):
        return SAME
    x, y = a.at(points), b.at(points)
    if x is y:
        return SAME
    known = _looked_up([x, y], points)
    if known and (comparison := _one_by_one(a, b, points, known, world)) is not None:
        return comparison
    comparison = proven(equal(x, y), world, "its elements")
    if comparison or known:
        return comparison
    small = {p for p in points if limit_of(p) is not None and (number_of(p) or _MOST) <= 32}
    if small and comparison.status == "open":
        better = _one_by_one(a, b, points, small, world)
        return comparison if better is None else better
    return comparison


def number_of(point: Term) -> int | None:
    """Return how many values a coordinate can have."""
    limit = limit_of(point)
    return None if limit is None else number(limit)


def _looked_up(terms: Sequence[Term], points: Coordinates) -> set[Term]:
    """Return the points at which constants are looked up."""
    lookups = (t for t in walk(terms) if t.op == "lookup")
    inside = {p for t in lookups for p in walk([t])}
    return {p for p in points if p in inside}


def _one_by_one(
    a: Tensor, b: Tensor, points: Coordinates, chosen: set[Term], world: World
) -> Comparison | None:
    """Compare at each value of some coordinates; None if the values are too many or not known."""
    counts = [number_of(p) if p in chosen else 1 for p in points]
    if any(n is None for n in counts):
        return None
    sizes = [n for n in counts if n is not None]
    if math.prod(sizes) > _MOST:
        return None
    left: list[Term] = []
    for index in itertools.product(*map(range, sizes)):
        at = tuple(integer(i) if p in chosen else p for i, p in zip(index, points, strict=True))
        x, y = a.at(at), b.at(at)
        if x is not y:
            left.append(equal(x, y))
    for start in range(0, len(left), _CHUNK):
        comparison = proven(both(*left[start : start + _CHUNK]), world, "its elements")
        if not comparison:
            return comparison
    return SAME


Maker = tuple[Node, int]


class _Side:
    """One model: the maker and the number of each value."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.makers = {o: (n, k) for n in graph.nodes for k, o in enumerate(n.outputs) if o}
        self.numbers: dict[str, Hashable] = {"": ""}
        for one in graph.inputs:
            self.numbers[one.name] = ("input", one.name)
        for name, content in graph.constants.items():
            self.numbers[name] = content

    def reads(self, node: Node) -> tuple[str, ...]:
        """Return all values that a node reads."""
        return (*node.inputs, *node.captured)

    def number(self, node: Node, table: dict[Hashable, int]) -> None:
        """Number the outputs of a node."""
        content = constant_of(node)
        if content is not None:
            self.numbers[node.outputs[0]] = content
            return
        key = (node.kind, tuple(self.numbers.get(n, ("unknown", n)) for n in self.reads(node)))
        own = table.setdefault(key, len(table))
        for k, name in enumerate(node.outputs):
            if name:
                self.numbers[name] = (own, k)


def paired(first: Graph, second: Graph) -> dict[str, str]:
    """Return pairs: for each value of the second model that has one, a value of the first."""
    one, other = _Side(first), _Side(second)
    table: dict[Hashable, int] = {}
    for node in first.nodes:
        one.number(node, table)
    names: dict[Hashable, str] = {}
    for name, key in one.numbers.items():
        names.setdefault(key, name)
    pairs: dict[str, str] = {}
    for node in second.nodes:
        other.number(node, table)
        for name in node.outputs:
            if name and other.numbers[name] in names:
                pairs[name] = names[other.numbers[name]]
    waiting = [(name, name) for name in second.outputs if name in one.makers]
    while waiting:
        mine, theirs = waiting.pop()
        if mine in other.makers and pairs.setdefault(mine, theirs) == theirs:
            waiting += _upwards(one.makers.get(theirs), other.makers[mine], pairs)
    return pairs


def _upwards(theirs: Maker | None, mine: Maker, pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of inputs, if the makers of a pair of values are nodes of one kind.

    If a scatter became a Where, what the Where keeps may be the data of the scatter.
    """
    if theirs is None:
        return
    a, b = theirs[0], mine[0]
    if a.op in _SCATTERS and b.op == "Where":
        yield from ((name, a.inputs[0]) for name in b.inputs[2:] if name not in pairs)
    if theirs[1] != mine[1] or a.kind != b.kind:
        return
    for old, new in zip((*a.inputs, *a.captured), (*b.inputs, *b.captured), strict=False):
        if old and new and new not in pairs:
            yield new, old
