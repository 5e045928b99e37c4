"""One model in the pipeline: the data that the passes share, and what is known of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import Clause
from onnx_scatterx.engine.analysis import (
    Knowledge,
    ModelAnalysis,
    Scope,
    TensorValue,
    interpret,
    misread_node,
)
from onnx_scatterx.engine.budget import of_scatter
from onnx_scatterx.engine.device import Costs, Violation, costs_of
from onnx_scatterx.engine.lift import (
    Gather,
    NodeNames,
    is_gather,
    is_scatter,
    learn_bounds,
    lift_gather,
)
from onnx_scatterx.engine.mosaic import Constants, Provenance
from onnx_scatterx.engine.passes.marks import NUMBER
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.passes.wiring import Wiring
from onnx_scatterx.engine.plan import GraphContext, Outcome
from onnx_scatterx.engine.write import OuterValues
from onnx_scatterx.graphs import Inventory, Names
from onnx_scatterx.observer import NOBODY, Observer, Tally
from onnx_scatterx.operators import SCATTERS
from onnx_scatterx.targets import Target
from onnx_scatterx.text import Reason, Refusal


def is_unread(node: ir.Node) -> bool:
    """Return whether nothing reads the outputs of a node, and no graph returns them."""
    return not any(value.is_graph_output() or value.uses() for value in node.outputs)


class Lowered(NamedTuple):
    """What was done for a user or a target, and where last bits may differ for it."""

    opset_kept: int | None = None  # of the model, if it could not be lowered
    opset_lowered: int | None = None  # to which the model was lowered for the target
    defined: tuple[str, ...] = ()  # nodes that were replaced by their definitions
    other_kernels: tuple[str, ...] = ()  # nodes that ONNX Runtime computes by another kernel there
    zeros: tuple[str, ...] = ()  # Wheres that are written otherwise: the sign of a zero may differ
    packed: tuple[str, ...] = ()  # nodes that read a computed constant, which ONNX Runtime packs


class Analyses:
    """The analyses of a model. One that would say the same as ``full`` is ``full`` itself."""

    def __init__(
        self, model: ir.Model, assumed: Sequence[Clause] = (), *, distrust_dims: bool = False
    ) -> None:
        self.full = ModelAnalysis(
            model, distrust_dims=distrust_dims, assumed=assumed, learn=learn_bounds
        )
        """What is known if the user keeps all promises."""
        dims = [d for v in model.graph.inputs for d in v.shape or () if not isinstance(d, int)]
        named = [d.value for d in dims if d.value is not None]
        self._trusts_nothing = distrust_dims or len(set(named)) == len(named)
        self._is_read_again = False
        self._without_trust: ModelAnalysis | None = None

    @property
    def without_trust(self) -> ModelAnalysis:
        """What is known without promises, and without trust that dims of one name are equal."""
        if self._without_trust is None:
            same = not self.full.assumed and self._trusts_nothing
            self._without_trust = self.full if same else self._untrusting(None)
        return self._without_trust

    @property
    def at_most(self) -> ModelAnalysis | None:
        """An analysis that knows at least what ``without_trust`` would say; None if that is known.

        So without a reason there, the model need not be read again.
        """
        is_known = self._without_trust is not None or (
            not self.full.assumed and self._trusts_nothing
        )
        return None if is_known else self.full

    def _untrusting(self, known: ModelAnalysis | None) -> ModelAnalysis:
        """Return an analysis without trust; what a ``known`` one has ruled out still holds."""
        earlier = known if known is not None and known.distrust_dims and not known.assumed else None
        noted = None if known is None else known.noted
        return ModelAnalysis(self.full.model, distrust_dims=True, earlier=earlier, noted=noted)

    @property
    def without_promises(self) -> ModelAnalysis:
        """What is known without promises."""
        if self._trusts_nothing:
            return self.without_trust
        self.full.catch_up()
        outdated = self.full.assumed or self.full.is_outdated or self._is_read_again
        if not outdated:
            return self.full
        earlier = None if self.full.assumed else self.full
        noted = None if earlier is None else earlier.noted
        return ModelAnalysis(self.full.model, earlier=earlier, noted=noted)

    @property
    def promised(self) -> ModelAnalysis:
        """What is known if the user keeps all promises, without trust that dims are equal."""
        if not self.full.assumed:
            return self.without_trust
        model, assumed = self.full.model, self.full.assumed
        noted = self.full.noted if self._trusts_nothing else None
        return ModelAnalysis(model, distrust_dims=True, assumed=assumed, noted=noted)

    def read_again(self) -> None:
        """Let the model be interpreted again: what was computed may prove more."""
        self._without_trust = self._untrusting(self.without_trust)
        self._is_read_again = True

    def forget(self) -> None:
        """Forget what is known: nothing was planned yet, and graphs were inlined."""
        self.full.forget()
        self._without_trust = None

    def note(self, nodes: Iterable[ir.Node]) -> None:
        """Note new nodes, in an order in which each follows those that it reads."""
        nodes = list(nodes)
        self.full.add(nodes)
        if self._without_trust is not None and self._without_trust is not self.full:
            self._without_trust.add(nodes)

    def note_constant(self, value: ir.Value, tensor: ir.TensorProtocol) -> None:
        """Note a new constant."""
        for analysis in (self.full, self.without_trust):
            analysis.note_constant(value, tensor)


_LAST_LIMIT = 1 << 26  # elements of a dense form, if else a scatter were misread


@dataclass
class Job:
    """A model, its settings, what is known of it, and what was done so far."""

    model: ir.Model
    settings: Settings = field(default_factory=Settings.of)
    assumed: Sequence[Clause] = ()
    outcomes: list[Outcome] = field(default_factory=list)  # one for each graph
    called: dict[ir.Node, NodeNames] = field(default_factory=dict)  # before anything was removed
    gathers: dict[ir.Graph, dict[ir.Node, Gather | Refusal]] = field(default_factory=dict)
    """The gathers of data, in canonical form, if they are to be simplified."""
    unread: set[ir.Node] = field(default_factory=set)  # those that nothing reads
    wiring: Wiring = field(default_factory=Wiring)  # before anything was removed
    observer: Observer = NOBODY
    planned: Tally = field(default_factory=Tally)  # of the scatters
    fusions: frozenset[object] | None = None  # what ONNX Runtime rewrites of the original
    forbidden: Refusal | None = None  # why no scatter of the model is written
    keeps_rest: bool = False  # what is unrelated to scatters is not fitted to the target
    target: Target = field(init=False)
    """The target for whose nodes scatters are written: the one of the settings, or a wider one."""
    original: Callable[[], ir.Model] | None = None
    """Returns the model as it was given, each time another one that may be changed."""
    lowered: Lowered = field(default_factory=Lowered)
    modified: bool = False  # whether a pass has changed the model
    violations: tuple[Violation, ...] = ()  # what the target does not take of the result
    at_load: Counter[str] = field(default_factory=Counter)  # what ONNX Runtime computes instead
    refused: set[ir.Node] = field(default_factory=set)  # its nodes that the target refuses
    violations_if_kept: int | None = None  # their number without wider targets, if these have fewer

    def __post_init__(self) -> None:
        self.target = self.settings.target

    @cached_property
    def analyses(self) -> Analyses:
        """What is known of the model."""
        self.observer.stage("analysing")
        distrust = self.settings.options["distrust_dims"]
        return Analyses(self.model, self.assumed, distrust_dims=distrust)

    def proven(self) -> Mapping[ir.Value, TensorValue]:
        """Return what is known of all values without promises, and without trust in dims' names."""
        return self.analyses.without_trust.current().values

    def proven_of(self, values: Collection[ir.Value]) -> Mapping[ir.Value, TensorValue]:
        """Return the same of some values; if the model was not read so before, of them alone."""
        if self.analyses.at_most is None:
            return self.proven()
        return interpret(self.model, distrust_dims=True, of=values).values

    @cached_property
    def held(self) -> Inventory:
        """What the model holds, since a pass last changed it."""
        return Inventory(self.model)

    def note_change(self) -> None:
        """Let the nodes of the model be looked for again."""
        vars(self).pop("held", None)

    def forget_names(self) -> None:
        """Let names be collected again: nodes were copied under other names."""
        vars(self).pop("names", None)

    def number_nodes(self) -> None:
        """Number the nodes of the model, so that those of its copies are found by numbers."""
        for number, node in enumerate(self.held.nodes):
            node.meta[NUMBER] = number

    def again(self) -> Job:
        """Return a job for the model as it was given, before any pass has run."""
        assert self.original is not None
        job = Job(
            self.original(),
            self.settings,
            self.assumed,
            observer=self.observer,
            keeps_rest=self.keeps_rest,
            original=self.original,
        )
        job.target = self.target
        if "wider" in vars(self):
            job.wider = self.wider
        return job

    @cached_property
    def wider(self) -> Sequence[Target]:
        """Targets whose nodes may replace kept scatters that ``target`` refuses.

        First its host. If a compiler that reads the file itself misreads scatters, a kept one makes
        the results wrong, so that dense forms are allowed for it.
        """
        target = self.settings.target
        host = target.with_host()
        found = [] if host is target else [host]
        misreads = not target.onnxruntime and not SCATTERS.isdisjoint(target.misread)
        if misreads and target.dense_limit is None:
            found.append(replace(target, dense_limit=_LAST_LIMIT))
        return found

    @cached_property
    def names(self) -> Names:
        """Names for new values and nodes."""
        return Names(self.model)

    @cached_property
    def costs(self) -> Costs:
        """How plans are compared."""
        return costs_of(self.settings.target, self.model, self.settings.size_hint)

    @property
    def has_scatters(self) -> bool:
        """Whether the model has scatters, or gathers that are rewritten."""
        reads = self.settings.reads
        found = self.held.of(*SCATTERS, *reads)
        return any(is_scatter(n) or is_gather(n, reads) for n in found)

    @property
    def looked_for_scatters(self) -> bool:
        """Whether a pass has looked for scatters or gathers, found or not."""
        return bool(self.called)

    def note_nodes(self) -> None:
        """Note the names and inputs of scatters and gathers, before the first is removed."""
        if self.called:
            return
        self.called = NodeNames.of(self.held, reads=self.settings.reads)
        self.wiring = Wiring.of(self.held)
        scatters = {node: called.name for node, called in self.called.items() if is_scatter(node)}
        self.planned = Tally(self.observer, "planning", scatters)
        reads = self.settings.reads
        for context in self.contexts() if reads else ():
            graph, scope = context.graph, context.scope
            gathers = [n for n in graph if is_gather(n, reads) and not _is_arithmetic(n, scope)]
            self.gathers[graph] = {n: of_scatter(partial(lift_gather, n, scope)) for n in gathers}
            self.unread |= {n for n in gathers if is_unread(n)}

    def outcome_of(self, context: GraphContext) -> Outcome:
        """Return the outcome of a graph; for a graph without scatters, it is made here."""
        for outcome in self.outcomes:
            if outcome.graph is context.graph:
                return outcome
        # Without scatters nothing is analysed, so nothing is charged to the budget.
        nothing = Provenance(context.graph, context.scope, given_up=Refusal(Reason.NO_RULE))
        made = Outcome(context.graph, nothing)
        self.outcomes.append(made)
        return made

    @cached_property
    def obstacle(self) -> Refusal | None:
        """Why the model must not be changed, or None if it may be."""
        if self.forbidden is not None:
            return self.forbidden
        return self._misread()

    def _misread(self, *, folded: bool = False) -> Refusal | None:
        found = of_scatter(lambda: misread_node(self.analyses.full.knowledge, folded=folded))
        if found is None or isinstance(found, Refusal):
            return found
        node, why = found
        return Refusal(Reason.INVALID, f"{node.op_type} {node.name or node.outputs[0].name}: {why}")

    def obstacle_to(self, step: str, *, folds: bool = False) -> Refusal | None:
        """Return why a pass must not write anything: it was not chosen, or there is an obstacle.

        A pass that ``folds`` lets values and sizes be known sooner.
        """
        if not self.is_chosen(step):
            return Refusal(Reason.NOT_CHOSEN)
        if self.obstacle is not None or not folds or not self.held.has("Reshape"):
            return self.obstacle
        return self._misread(folded=True)

    def is_chosen(self, step: str) -> bool:
        """Return whether the user chose a pass, or chose none."""
        chosen = self.settings.options["passes"]
        return chosen is None or step in chosen

    def contexts(self, known: Knowledge | None = None) -> Iterator[GraphContext]:
        """Yield the graphs of the model and of its functions, without fallbacks of ScatterX.

        Without other knowledge, promises are relied on, and that dims of one name are equal.
        """
        graphs = (known or self.analyses.full.knowledge).own_graphs()
        outer = OuterValues(graphs)
        for graph, scope in graphs:
            yield GraphContext(
                graph,
                scope,
                self.settings.rules,
                self.names,
                Constants(scope),
                self.has_constant_nodes(scope),
                self.target if graph is self.model.graph else self.target.inside(),
                self.costs,
                self.planned,
                self.settings.options["last_bits"],
                outer=outer,
            )

    def has_constant_nodes(self, scope: Scope) -> bool:
        """Return whether new constants of a graph are nodes, as it can have no initializers."""
        return scope.function is not None or (self.model.ir_version or 0) < 4


def _is_arithmetic(node: ir.Node, scope: Scope) -> bool:
    """Return whether a node reads known places of a vector of known numbers, such as a shape.

    Such numbers are indices and sizes, not data.
    """
    data, indices = map(scope.of, node.inputs[:2])
    listed = isinstance(data.content, np.ndarray) and indices.constant is not None
    return listed and data.is_integer and data.rank == 1
