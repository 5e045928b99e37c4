"""One graph to rewrite: its abstract values, the rules and the target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from onnx_scatterx.ir.names import Names
from onnx_scatterx.optimizer.analysis.domain.call import Scope
from onnx_scatterx.optimizer.emit.writer import Writer
from onnx_scatterx.optimizer.lowering.rule import Rule
from onnx_scatterx.optimizer.lowering.runtime_patterns import Known, obstacle
from onnx_scatterx.optimizer.mosaic.constants import Constants
from onnx_scatterx.optimizer.targets.cost_model.costs import Costs
from onnx_scatterx.optimizer.targets.target import Target
from onnx_scatterx.text.reasons import FloatReason, Refusal


@dataclass(frozen=True)
class GraphContext:
    """A graph, and all that is the same in every round of planning."""

    graph: ir.Graph
    scope: Scope
    rules: Sequence[Rule]
    names: Names
    constants: Constants
    constant_nodes: bool  # constants must be nodes, as there can be no initializers
    target: Target
    costs: Costs
    note_planned: Callable[[ir.Node], None] = lambda _: None
    """Is called with each node that is being planned, to report progress."""
    last_bits: bool = False
    """Whether the last bits of functions may depend on the place of an element."""

    kept: Mapping[ir.Node, Refusal] = field(default_factory=dict)
    """Scatters that were kept, and stay so: the target takes them as they are."""

    @property
    def known(self) -> Known:
        """What is known of its values."""
        return Known(self.scope, self.constants)

    def writer(self) -> Writer:
        """Return a writer of nodes into the graph."""
        return Writer(
            self.graph,
            self.scope,
            self.names,
            constant_nodes=self.constant_nodes,
            target=self.target,
        )

    def obstacle(self, node: ir.Node) -> FloatReason | None:
        """Return why a node must be kept if ONNX Runtime runs the model, or None."""
        return obstacle(node, self.known) if self.target.onnxruntime else None
