"""One graph to rewrite: what is known of it, and what may be written for whom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.analysis.domain.scope import Scope
from onnx_scatterx.ir.names import Names
from onnx_scatterx.lowering.rule import Rule
from onnx_scatterx.mosaic.constants import Constants
from onnx_scatterx.targets.cost_model.costs import Costs
from onnx_scatterx.targets.target import Target


@dataclass(frozen=True)
class GraphContext:
    """A graph, and what holds for every round of planning."""

    graph: ir.Graph
    scope: Scope
    rules: Sequence[Rule]
    names: Names
    constants: Constants
    constant_nodes: bool  # constants must be nodes, as there can be no initializers
    target: Target
    costs: Costs
    note_planned: Callable[[ir.Node], None] = lambda _: None
    """Is told which nodes are being planned, for those who wait."""
