"""One model on its way through the pipeline: what the passes share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import onnx_ir as ir

from onnx_scatterx.analysis.model_analysis import ModelAnalysis
from onnx_scatterx.assumptions.clauses import Clause
from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.ir.names import Names
from onnx_scatterx.ir.scatterx_domain import is_scatterx_domain
from onnx_scatterx.lift.gathers import is_gather
from onnx_scatterx.lift.node_names import NodeNames
from onnx_scatterx.lift.scatters import is_scatter
from onnx_scatterx.lowering.graph_context import GraphContext
from onnx_scatterx.mosaic.constants import Constants
from onnx_scatterx.settings import Settings
from onnx_scatterx.targets.catalogue import costs_of
from onnx_scatterx.targets.cost_model.costs import Costs
from onnx_scatterx.transforms.outcome import Outcome


@dataclass
class Job:
    """A model, how it is to be optimized, what is known of it, and what was done so far."""

    model: ir.Model
    settings: Settings
    assumed: Sequence[Clause] = ()
    outcomes: list[Outcome] = field(default_factory=list)  # one for each graph
    called: dict[ir.Node, NodeNames] = field(default_factory=dict)  # before anything was removed

    @cached_property
    def analysis(self) -> ModelAnalysis:
        """What is known of the model."""
        distrust = self.settings.distrust_dims
        return ModelAnalysis(self.model, distrust_dims=distrust, assumed=self.assumed)

    @cached_property
    def names(self) -> Names:
        """Names for new values and nodes."""
        return Names(self.model)

    @cached_property
    def costs(self) -> Costs:
        """How plans are weighed."""
        return costs_of(self.settings.target, self.settings.sizes)

    @property
    def has_scatters(self) -> bool:
        """Whether there is anything to remove: scatters, or gathers too if they are asked for."""
        reads = self.settings.reads
        graphs = all_graphs(self.model)
        return any(is_scatter(n) or (reads and is_gather(n)) for g in graphs for n in g)

    def contexts(self) -> Iterator[GraphContext]:
        """Yield the graphs of the model and of its functions, without fallbacks of ScatterX."""
        for graph, scope in self.analysis.knowledge.scopes.items():
            if scope.function is None or not is_scatterx_domain(scope.function.domain):
                version = self.model.ir_version or 0
                yield GraphContext(
                    graph,
                    scope,
                    self.settings.rules,
                    self.names,
                    Constants(scope, self._overridable),
                    scope.function is not None or version < 4,
                    self.settings.target,
                    self.costs,
                    self.settings.reads,
                )

    @cached_property
    def _overridable(self) -> set[ir.Value]:
        graph = self.model.graph
        if (self.model.ir_version or 0) < 4:
            return set()
        return {v for v in graph.inputs if v.name in graph.initializers}
