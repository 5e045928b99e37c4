"""What became of the scatters of one graph."""

from __future__ import annotations

from dataclasses import dataclass, field

import onnx_ir as ir

from onnx_scatterx.lowering.rule import Rule
from onnx_scatterx.mosaic.provenance import Provenance
from onnx_scatterx.symbolic.terms import Term
from onnx_scatterx.text.reasons import Refusal


@dataclass
class Outcome:
    """What became of the scatters of one graph, and of its gathers if those are rewritten."""

    graph: ir.Graph
    provenance: Provenance
    rules: dict[ir.Node, frozenset[Rule]]  # that wrote what replaces a node
    work: dict[ir.Node, Term]  # of dense forms: the elements of the largest tensor
    refusals: dict[ir.Node, Refusal]  # why a node is kept
    dead: set[ir.Node]  # removed, as nothing reads them
    gathers: list[ir.Node]
    selected: set[ir.Node]  # a Where of floats was written for them
    index_nodes: set[ir.Node] = field(default_factory=set)  # computed indices of removed scatters
