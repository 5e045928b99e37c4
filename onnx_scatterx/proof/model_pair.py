"""The two models while the second one is read: which of its values are those of the first one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from onnx_scatterx.proof.building import Builder, Scope
from onnx_scatterx.proof.comparing import SAME, Comparison, compare, proven
from onnx_scatterx.proof.core.limits import limit_reached
from onnx_scatterx.proof.core.logic import FALSE
from onnx_scatterx.proof.core.reading import Graph, Node
from onnx_scatterx.proof.core.solver import ALL_WORK, PAIR
from onnx_scatterx.proof.core.tensor import Tensor
from onnx_scatterx.proof.core.terms import UnsupportedError, share
from onnx_scatterx.proof.core.witnesses import coordinates
from onnx_scatterx.proof.core.world import Debt, World


@dataclass(frozen=True)
class PairedValue:
    """A value of the second model that was compared with one of the first."""

    value: str
    comparison: Comparison


@dataclass
class ModelPair:
    """The two models, while the judge goes through the second one node by node.

    If a pair of values is proven to be the same, it is a cut: later nodes of the second model read
    the value of the first model. Otherwise they read their own value.
    """

    world: World
    builder: Builder
    first: Scope
    second: Scope
    pairs: Mapping[str, str]
    regions: list[PairedValue] = field(default_factory=list)
    owed: list[tuple[str, Comparison]] = field(default_factory=list)
    _compared: dict[tuple[int, int], Comparison] = field(default_factory=dict)
    _alive: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    def same(self, a: Tensor, b: Tensor, guessed: bool = False) -> Comparison:
        """Return whether two tensors are the same. A guessed pair is asked only once."""
        if a is b:
            return SAME
        key = (id(a), id(b))
        comparison = self._compared.get(key)
        if comparison is None or (comparison.status == "open" and not guessed):
            comparison = self._compared[key] = compare(a, b, self.world)
            self._alive.append((a, b))
        return comparison

    def agree(self, name: str) -> bool:
        """Return whether both models have a value of this name, and it was proven the same."""
        if name not in self.first or name not in self.second:
            return False
        a, b = self.first[name], self.second[name]
        return a is b or bool(self._compared.get((id(a), id(b))))

    def take(self, node: Node) -> None:
        """Add a node of the second model."""
        self.builder.run(node, self.second, lambda a, b: bool(self._guess(a, b)))
        self._prove_requirements(node)
        for name in node.outputs:
            mine, theirs = self.second.get(name), self.first.get(self.pairs.get(name, ""))
            if mine is None or theirs is None or mine is theirs:
                continue
            answer = self._guess(theirs, mine)
            self.regions.append(PairedValue(name, answer))
            if answer:
                self.second[name] = theirs

    def _guess(self, a: Tensor, b: Tensor) -> Comparison:
        """Compare a pair that is a guess, with a limited share of the work."""
        solver = self.world.solver
        kept = solver.budget
        solver.budget = min(kept, solver.spent + int(solver.effort * PAIR))
        try:
            with share(20):
                return self.same(a, b, guessed=True)
        finally:
            solver.budget = kept

    def _prove_requirements(self, node: Node) -> None:
        """Prove the requirements of a node; a proven requirement becomes a fact."""
        debts, self.world.debts = self.world.debts, []
        for debt in debts:
            answer = settled(debt, self.world)
            if not answer:
                of = "" if debt.condition is FALSE else f" (for {node.outputs[0]!r})"
                self.owed.append((debt.what + of, answer))
            elif not coordinates(debt.condition):
                self.world.solver.assume(debt.condition)


def settled(debt: Debt, world: World) -> Comparison:
    """Return whether a requirement is proven."""
    if debt.condition is FALSE:
        return Comparison("open", debt.what)
    try:
        return proven(debt.condition, world, debt.what)
    except UnsupportedError as error:
        return Comparison("open", str(error))


@dataclass
class SoFar:
    """What a judgement has done, which is said if its steps are spent.

    ``at`` says what is being computed. ``pair`` are the models while they are compared.
    ``stopped`` says where Z3's work for all questions was spent; empty if it was not.
    """

    first: Graph
    second: Graph
    at: str = "the inputs"
    pair: ModelPair | None = None
    stopped: str = ""

    def reads(self, number: int, *, second: bool = False) -> None:
        """Note that a node is read."""
        if self.pair is not None and not self.stopped and self.pair.world.solver.is_spent:
            self.stopped = f"{limit_reached(ALL_WORK)}; {self}"
        graph, model = (self.second, "second") if second else (self.first, "first")
        node = graph.nodes[number]
        value = next(filter(None, node.outputs), "")
        of = f"node {number + 1} of {len(graph.nodes)} of the {model} model"
        self.at = f"{value!r} ({node.op}), {of}"

    def __str__(self) -> str:
        said = f"it was reached at {self.at}"
        if self.pair is None:
            return f"{said}; nothing was compared before"
        regions, same = self.pair.regions, sum(map(self.pair.agree, self.first.outputs))
        return (
            f"{said}; before, {same} of {len(self.first.outputs)} outputs and "
            f"{sum(bool(r.comparison) for r in regions)} of {len(regions)} pairs of inner values "
            "were proven to be the same"
        )
