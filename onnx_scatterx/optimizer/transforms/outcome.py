"""The outcome of the scatters and gathers of one graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx_ir as ir

from onnx_scatterx.optimizer.lowering.commit import Commit
from onnx_scatterx.optimizer.lowering.rule import Rule
from onnx_scatterx.optimizer.lowering.written import Written
from onnx_scatterx.optimizer.mosaic.provenance import Provenance
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.text.reasons import Refusal


@dataclass
class Outcome:
    """The outcome of the scatters of a graph, and of its gathers if those are simplified."""

    graph: ir.Graph
    provenance: Provenance  # as it was when the scatters were lowered
    refusals: dict[ir.Node, Refusal]  # why a node is kept
    dead: set[ir.Node]  # removed, since nothing reads them
    index_nodes: set[ir.Node]  # they computed the indices of removed scatters
    rules: dict[ir.Node, frozenset[Rule]] = field(default_factory=dict)  # of the replacement
    work: dict[ir.Node, Term] = field(default_factory=dict)
    """Of dense forms: how many elements the largest tensor has."""
    selected: set[ir.Node] = field(default_factory=set)  # a Where of floats was written for them
    unique: dict[ir.Node, bool] = field(default_factory=dict)
    """Of scatters that became ScatterX: whether updates are proven not to collide."""
    written: dict[ir.Node, Written] = field(default_factory=dict)  # for removed scatters

    def add(self, written: Commit | Outcome) -> None:
        """Add what was done with removed nodes."""
        self.rules.update(written.rules)
        self.work.update(written.work)
        self.selected |= written.selected
        self.unique.update(written.unique)
        self.written.update(written.written)

    def add_later(self, later: Outcome) -> None:
        """Add what was done with the scatters that were kept."""
        self.refusals = later.refusals
        self.dead |= later.dead
        self.index_nodes |= later.index_nodes
        self.add(later)


def is_read(value: ir.Value) -> bool:
    """Return whether anything reads a value."""
    return value.is_graph_output() or bool(value.uses())
