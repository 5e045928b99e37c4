"""The judge: decides which outputs of two models are the same, and why others are not proven.

Values that are proven to be the same are cuts: a proof spans only the nodes between cuts.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from onnx_scatterx.proof.assumed import ALWAYS_ASSUMED
from onnx_scatterx.proof.building import MARKED, Builder, SizeKey, shown
from onnx_scatterx.proof.comparing import Comparison, paired
from onnx_scatterx.proof.core.functions import custom_domains
from onnx_scatterx.proof.core.limits import ProofSpentError, growth, limit_reached
from onnx_scatterx.proof.core.reading import Graph, Source, read
from onnx_scatterx.proof.core.solver import ALL, Decision
from onnx_scatterx.proof.core.tensor import Tensor
from onnx_scatterx.proof.core.terms import (
    STEPS,
    Term,
    UnsupportedError,
    WorkSpentError,
    present_table,
    walk,
)
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.declarations import (
    InputClause,
    Planner,
    fixed_by,
    take,
    wrong_dim,
    wrong_plan,
)
from onnx_scatterx.proof.facts import possible, short_axes
from onnx_scatterx.proof.model_pair import ModelPair, PairedValue, SoFar

Progress = Callable[[int, int], None]


@dataclass
class Judgement:
    """The result for two models: the comparisons of the outputs and of other pairs of values.

    ``owed`` are the unproven requirements of the second model. ``facts`` says whether all facts can
    hold at once. ``stated`` describes an unproven dim that a model states or a runtime infers.
    ``replaced`` says whether a fallback may run instead of a ScatterX that was read as the kernel.
    ``fixed`` are the sizes that are numbers only in the second model. ``stopped`` says where Z3's
    work for all questions was spent, if it was.
    """

    outputs: dict[str, Comparison]
    regions: list[PairedValue]
    owed: list[tuple[str, Comparison]]
    facts: Decision
    assumed: tuple[str, ...]
    world: World
    inputs: Mapping[str, Tensor]
    sizes: dict[SizeKey, Term]
    stated: str | None
    replaced: bool
    fixed: dict[SizeKey, int]
    builder: Builder
    seconds: float = 0.0
    stopped: str = ""

    @property
    def never_runs(self) -> bool:
        """Whether no inputs satisfy all facts."""
        return self.facts.status == "impossible"

    def doubt(self, comparison: Comparison) -> str:
        """Return why an output is not proven, unmodelled operators first; empty if it is proven."""
        if self.never_runs:
            return "the first model runs on no input"
        if self.facts.status == "limit":
            return f"the first model may run on no input: {limit_reached(self.facts.limit)}"
        if not comparison:
            known = {o.reason for o in self.builder.opaque}
            unmodelled = (what for what, open_ in self.owed if what in known and not open_)
            return next(unmodelled, self._reason(comparison, comparison.why))
        if self.owed:
            what, open_ = self.owed[0]
            return self._reason(open_, what)
        return self.stated or ""

    def _reason(self, comparison: Comparison, what: str) -> str:
        """Return why a comparison is open, and on which unmodelled operators it depends."""
        named = {t.data[0] for t in walk([comparison.goal]) if t.op == "apply"}
        marks = {name[1] for name in named if isinstance(name, tuple) and name[0] in MARKED}
        missing = dict.fromkeys(self.builder.opaque[mark].reason for mark in sorted(marks))
        needs = (
            f"; it depends on nodes that are not modelled: {', '.join(missing)}" if missing else ""
        )
        if comparison.status != "differ":
            return what + needs
        if not needs and any(name[0] != "input" for name in named):
            needs = "; it may be none, because some functions in it are unknown to the solver"
        return f"the solver has a counterexample about {what}, and no run shows it{needs}"


def judge(
    before: Source,
    after: Source,
    *,
    sizes: Mapping[SizeKey, int] | None = None,
    clauses: Sequence[InputClause] = (),
    distrust_dims: bool = False,
    effort: float = 1,
    progress: Progress | None = None,
    fallback: bool = False,
    planner: Planner | None = None,
    long_axes: bool = False,
) -> Judgement:
    """Decide which outputs of the second model are the same as those of the first.

    ``sizes`` fixes dims of the inputs by name. ``clauses`` has the assumptions about the inputs. If
    ``distrust_dims``, dims of one name may differ. ``effort`` multiplies the limits of Z3's work
    and of steps, which also grow with the models. If ``fallback``, the fallbacks of ScatterX are
    judged instead of the kernel. ``planner`` says which dims a runtime infers. If ``long_axes``,
    axes may have 2^31 elements or more. Raises UnsupportedError if a model cannot be read. If steps
    are spent, WorkSpentError or ProofSpentError says where, and what was proven before.
    """
    with deep():
        one, other = (read(source, fallback) for source in (before, after))
        world, more = World(), effort * growth(len(one.nodes) + len(other.nodes))
        world.solver.effort, world.solver.budget = effort, int(more * ALL)
        table = present_table()
        table.allow(int(more * STEPS))
        table.account.open(more)
        builder = Builder(world, trusted=not distrust_dims, fixed=dict(sizes or {}))
        so_far = SoFar(one, other)
        try:
            return _judge(one, other, builder, clauses, progress, planner, long_axes, so_far)
        except (WorkSpentError, ProofSpentError) as error:
            error.args = (f"{error}; {so_far}",)
            raise


def _judge(
    one: Graph,
    other: Graph,
    builder: Builder,
    clauses: Sequence[InputClause],
    progress: Progress | None,
    planner: Planner | None,
    long_axes: bool,
    so_far: SoFar,
) -> Judgement:
    start = time.monotonic()
    if one.defaults != other.defaults:
        raise UnsupportedError("the models have different defaults for inputs")
    if one.outputs != other.outputs:
        raise UnsupportedError("the models give different outputs")
    for graph in (one, other):
        made = {o for node in graph.nodes for o in node.outputs} | set(graph.constants)
        if missing := set(graph.outputs) - made - {i.name for i in graph.inputs}:
            raise UnsupportedError(f"the output {min(missing)!r} is not computed")
    fixed = fixed_by(one.inputs, other.inputs, builder)
    builder.fixed |= fixed
    world = builder.world
    for text in ALWAYS_ASSUMED:
        world.assume(text)
    pairs = paired(one, other)
    inputs = {i.name: builder.input(i) for i in one.inputs}
    texts = Counter(map(shown, builder.sizes))
    if twice := [text for text, count in texts.items() if count > 1]:
        raise UnsupportedError(f"two sizes are called {twice[0]!r}")
    take(clauses, builder.sizes, one.inputs, inputs, world)
    pair = ModelPair(
        world, builder, builder.scope(one, inputs), builder.scope(other, inputs), pairs
    )
    total = len(one.nodes) + len(other.nodes)
    if not long_axes:
        short_axes(pair.first.values(), world)
    for done, node in enumerate(one.nodes):
        so_far.reads(done)
        builder.run(node, pair.first)
        if not long_axes:
            short_axes((pair.first[name] for name in node.outputs if name), world)
        if progress is not None and done % 16 == 0:
            progress(done, total)
    world.owing, so_far.pair = True, pair
    for done, node in enumerate(other.nodes):
        so_far.reads(done, second=True)
        pair.take(node)
        for domain in custom_domains(node.proto):
            world.assume(f"operators of {domain} are functions of their inputs, and draw nothing")
        if progress is not None and done % 4 == 0:
            progress(len(one.nodes) + done, total)
    if builder.refused:
        raise UnsupportedError(builder.refused)
    outputs: dict[str, Comparison] = {}
    for name in one.outputs:
        so_far.at = f"the comparison of the output {name!r}"
        outputs[name] = pair.same(pair.first[name], pair.second[name])
    so_far.at = "the dims that the models state"
    stated = wrong_dim(one, pair.first, world)
    stated = stated or wrong_dim(other, pair.second, world, one)
    so_far.at = "the question whether all facts can hold together"
    facts = possible(world, list(builder.sizes.values()))
    if stated is None and all(outputs.values()) and not pair.owed:
        so_far.at = "the dims that a runtime infers"
        before = len(world.solver.facts)
        stated = wrong_plan(other, pair.second, builder, one, planner)
        if stated is None and len(world.solver.facts) > before:
            can_hold = possible(world, list(builder.sizes.values())).status == "possible"
            stated = None if can_hold else "dims that a runtime infers may be impossible together"
    builder.assume_noted()
    return Judgement(
        outputs,
        pair.regions,
        pair.owed,
        facts,
        tuple(world.assumed),
        world,
        inputs,
        builder.sizes,
        stated,
        one.replaced or other.replaced,
        fixed,
        builder,
        time.monotonic() - start,
        so_far.stopped,
    )


@contextlib.contextmanager
def deep() -> Iterator[None]:
    """Let functions call each other as deeply as long models need."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 60_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
