"""The judge: two models, cut at the values that both name, and the second one's requirements."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx

from onnx_scatterx.equivalence.building import Builder, Scope, names_of
from onnx_scatterx.equivalence.comparing import SAME, Comparison, compare, proven
from onnx_scatterx.equivalence.core.arithmetic import integer
from onnx_scatterx.equivalence.core.logic import FALSE, equal
from onnx_scatterx.equivalence.core.lookups import Lookup
from onnx_scatterx.equivalence.core.reading import Node, read
from onnx_scatterx.equivalence.core.solver import ALL, Answer
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError
from onnx_scatterx.equivalence.core.witnesses import coordinates
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.givens import Given, take

Progress = Callable[[int, int], None]
_TRIED = (2, 1, 8, 3, 16)  # sizes of all axes that are not known


@dataclass(frozen=True)
class Region:
    """A value that both models name and compute in different ways."""

    value: str
    found: Comparison


@dataclass
class Judgement:
    """The result for two models: for each output, each region and each debt.

    ``owed`` are the requirements of the second model that were not proven. ``facts`` says whether
    all facts can hold at once ("refuted": they can).
    """

    outputs: dict[str, Comparison]
    regions: list[Region]
    owed: list[tuple[str, Comparison]]
    facts: Answer
    assumed: tuple[str, ...]
    world: World
    inputs: Scope
    sizes: dict[str, Term]
    seconds: float = 0.0
    unmodelled: dict[str, str] = field(default_factory=dict)


def judge(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    *,
    sizes: Mapping[str, int] | None = None,
    given: Sequence[Given] = (),
    distrust_dims: bool = False,
    budget: int = ALL,
    progress: Progress | None = None,
) -> Judgement:
    """Decide which outputs of the second model are the same as those of the first.

    ``sizes`` fixes dims of the inputs by name, ``given`` has the assumptions about the inputs.
    ``distrust_dims`` lets dims of one name differ. ``budget`` limits Z3's work for the pair.
    Raises UnsupportedError if a model cannot be read.
    """
    with deep():
        world = World()
        world.solver.budget = budget
        builder = Builder(world, trusted=not distrust_dims, fixed=dict(sizes or {}))
        return _judge(before, after, builder, given, progress)


def _judge(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    builder: Builder,
    given: Sequence[Given],
    progress: Progress | None,
) -> Judgement:
    start = time.monotonic()
    one, other = read(before), read(after)
    if sorted(map(repr, one.inputs)) != sorted(map(repr, other.inputs)):
        raise UnsupportedError("the models declare different inputs")
    if _contents(one.defaults) != _contents(other.defaults):
        raise UnsupportedError("the models have different defaults for inputs")
    if one.outputs != other.outputs:
        raise UnsupportedError("the models give different outputs")
    world = builder.world
    old = names_of(one.nodes)
    builder.whole = {k[2][0] for k in old & names_of(other.nodes) if k[2]}
    inputs = {i.name: builder.input(i) for i in one.inputs}
    take(given, builder.sizes, inputs, world)
    trial = Trial(world, builder, builder.scope(one, inputs), builder.scope(other, inputs), old)
    total = len(one.nodes) + len(other.nodes)
    for done, node in enumerate(one.nodes):
        builder.run(node, trial.first)
        if progress is not None and done % 16 == 0:
            progress(done, total)
    world.owing = True
    for done, node in enumerate(other.nodes):
        trial.take(node)
        if progress is not None and done % 4 == 0:
            progress(len(one.nodes) + done, total)
    outputs = {name: trial.output(name) for name in one.outputs}
    return Judgement(
        outputs,
        trial.regions,
        trial.owed,
        _possible(world, list(builder.sizes.values())),
        tuple(world.assumed),
        world,
        inputs,
        builder.sizes,
        time.monotonic() - start,
        builder.unmodelled,
    )


def _contents(arrays: Mapping[str, tuple[np.ndarray, str]]) -> dict[str, Hashable]:
    return {name: (a.shape, Lookup.of(a, dtype)) for name, (a, dtype) in arrays.items()}


def _possible(world: World, sizes: list[Term]) -> Answer:
    """Return whether all facts can hold at once: "refuted" if so; if hard, some sizes are tried."""
    solver = world.solver  # with some extra work, since nothing counts without it
    solver.budget = max(solver.budget, solver.spent + ALL // 8)
    answer = solver.satisfiable()
    for size in _TRIED:
        if answer.status != "limit" or not sizes:
            break
        tried = solver.satisfiable([equal(d, integer(size)) for d in sizes])
        if tried.status == "refuted":
            answer = tried
    return answer


@dataclass
class Trial:
    """The second model, node by node, compared with the first.

    If a value is not proven to equal that of the first model, the judge continues as if it were, so
    that each region is judged alone. ``doubts`` names the values that depend on that, and why.
    """

    world: World
    builder: Builder
    first: Scope
    second: Scope
    old: set[tuple[object, ...]]
    regions: list[Region] = field(default_factory=list)
    owed: list[tuple[str, Comparison]] = field(default_factory=list)
    doubts: dict[str, Comparison] = field(default_factory=dict)
    _compared: dict[tuple[int, int], Comparison] = field(default_factory=dict)
    _alive: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    def same(self, a: Tensor, b: Tensor) -> Comparison:
        """Return whether two tensors are the same, asked once."""
        if a is b:
            return SAME
        key = (id(a), id(b))
        if key not in self._compared:
            self._compared[key] = compare(a, b, self.world)
            self._alive.append((a, b))
        return self._compared[key]

    def take(self, node: Node) -> None:
        """Add a node of the second model."""
        self.builder.run(node, self.second, lambda a, b: bool(self.same(a, b)))
        self._prove_requirements(node)
        doubted = [n for n in (*node.inputs, *node.captured) if n in self.doubts]
        if doubted:  # it was run on the first model's value: whether it runs on its own is open
            doubt = self.doubts[doubted[0]]
            self.owed.append((doubt.why, doubt))
            for output in node.outputs:
                self.doubts.setdefault(output, doubt)
        for name in node.outputs:
            mine, theirs = self.second.get(name), self.first.get(name)
            if mine is None or theirs is None or mine is theirs:
                continue
            answer = self.same(theirs, mine)
            if (node.kind, node.inputs, node.outputs) not in self.old:
                self.regions.append(Region(name, answer))
            if not answer:
                self.doubts.setdefault(name, answer)
            self.second[name] = theirs

    def _prove_requirements(self, node: Node) -> None:
        """Prove a node's requirements; each proven one is a fact from then on."""
        for debt in self.world.debts:
            if debt.condition is FALSE:
                self.owed.append((debt.what, Comparison("open", debt.what)))
                continue
            answer = proven(debt.condition, self.world, debt.what)
            if not answer:
                self.owed.append((f"{debt.what} (for {node.outputs[0]!r})", answer))
            elif not coordinates(debt.condition):
                self.world.solver.assume(debt.condition)
        self.world.debts.clear()

    def output(self, name: str) -> Comparison:
        """Return whether an output is the same."""
        if name in self.doubts:
            return self.doubts[name]
        return self.same(self.first[name], self.second[name])


@contextlib.contextmanager
def deep() -> Iterator[None]:
    """Let functions call each other as deeply as long models need."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 60_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
