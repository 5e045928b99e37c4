"""The judge: two models, cut at the values that both name, and what is owed for the second."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import onnx

from onnx_scatterx.equivalence.building import Builder, Scope, names_of
from onnx_scatterx.equivalence.comparing import SAME, Comparison, compare, proven
from onnx_scatterx.equivalence.reading import Graph, read
from onnx_scatterx.equivalence.solver import ALL, Answer
from onnx_scatterx.equivalence.tensor import Tensor, UnsupportedError
from onnx_scatterx.equivalence.world import World

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Region:
    """A value that both models name and compute in different ways."""

    value: str
    found: Comparison


@dataclass
class Judgement:
    """What was found of two models: for each output, each region and each debt.

    ``owed`` are the needs of the second model that were not proven; ``facts`` tells whether the
    facts can hold at once ("refuted": they can).
    """

    outputs: dict[str, Comparison]
    regions: list[Region]
    owed: list[tuple[str, Comparison]]
    facts: Answer
    assumed: tuple[str, ...]
    world: World
    inputs: Scope
    graph: Graph
    seconds: float = 0.0
    unmodelled: dict[str, str] = field(default_factory=dict)


def judge(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    *,
    sizes: Mapping[str, int] | None = None,
    budget: int = ALL,
    progress: Progress | None = None,
) -> Judgement:
    """Decide where the second model is the same as the first.

    ``sizes`` fixes dims of the inputs by name; ``budget`` is how much Z3 may work for the pair.
    Raises UnsupportedError if a model cannot be read.
    """
    with deep():
        return _judge(before, after, dict(sizes or {}), budget, progress)


def _judge(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    sizes: dict[str, int],
    budget: int,
    progress: Progress | None,
) -> Judgement:
    start = time.monotonic()
    one, other = read(before), read(after)
    if sorted(map(repr, one.inputs)) != sorted(map(repr, other.inputs)):
        raise UnsupportedError("the models declare different inputs")
    world = World()
    world.solver.budget = budget
    builder = Builder(world)
    inputs = {i.name: builder.input(i, sizes) for i in one.inputs}
    first = builder.scope(one, inputs)
    total = len(one.nodes) + len(other.nodes)
    for done, node in enumerate(one.nodes):
        builder.run(node, first)
        if progress is not None and done % 16 == 0:
            progress(done, total)
    world.owing = True
    owed: list[tuple[str, Comparison]] = []
    regions: list[Region] = []
    found: dict[tuple[int, int], Comparison] = {}
    old = names_of(one.nodes)

    def same(a: Tensor, b: Tensor) -> Comparison:
        key = (id(a), id(b))
        if key not in found:
            found[key] = compare(a, b, world)
            kept.append((a, b))
        return found[key]

    kept: list[tuple[Tensor, Tensor]] = []
    second = builder.scope(other, inputs)
    for done, node in enumerate(other.nodes):
        builder.run(node, second, lambda a, b: bool(same(a, b)))
        for debt in world.debts:
            if debt.condition.op == "false":
                owed.append((debt.what, Comparison("open", debt.what)))
                continue
            answer = proven(debt.condition, world, debt.what)
            if answer:
                if not any(p.op == "variable" and p.args for p in _parts(debt.condition)):
                    world.solver.assume(debt.condition)
            else:
                owed.append((f"{debt.what} (for {node.outputs[0]!r})", answer))
        world.debts.clear()
        for name in node.outputs:
            mine, theirs = second.get(name), first.get(name)
            if mine is None or theirs is None or mine is theirs:
                continue
            answer = same(theirs, mine)
            if (node.kind, node.inputs, node.outputs) not in old:
                regions.append(Region(name, answer))
            if answer:
                second[name] = theirs
        if progress is not None and done % 4 == 0:
            progress(len(one.nodes) + done, total)
    outputs = {}
    for name in one.outputs:
        if name not in second:
            outputs[name] = Comparison("differ", "it is gone")
        else:
            outputs[name] = same(first[name], second[name]) if first[name] is not second[name] else SAME
    facts = world.solver.satisfiable()
    return Judgement(
        outputs,
        regions,
        owed,
        facts,
        tuple(world.assumed),
        world,
        inputs,
        one,
        time.monotonic() - start,
        builder.unmodelled,
    )


def _parts(term: object) -> list[object]:
    from onnx_scatterx.equivalence.terms import walk

    return list(walk([term]))  # type: ignore[list-item]


@contextlib.contextmanager
def deep() -> Iterator[None]:
    """Let functions call each other as deeply as long models need."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 60_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
