"""Scopes: the abstract values and facts of one visit of a graph, and those of all visits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import onnx_ir as ir

from onnx_scatterx.ir.graphs import is_scatterx_domain
from onnx_scatterx.optimizer.analysis.domain.call import Call
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.assumptions.clauses import Clause
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term


@dataclasses.dataclass
class Scope:
    """One visit of a graph: the operator sets that hold in it, its attributes and its facts.

    ``visit_id`` distinguishes this visit from others. ``values`` has the abstract value of every
    visible value, including those of outer graphs. ``overridable`` are the initializers that are
    inputs of the model, too (``ir.constants``).
    """

    opsets: Mapping[str, int]
    facts: Facts
    values: dict[ir.Value, TensorValue]
    attributes: Mapping[str, ir.Attr | None] = dataclasses.field(default_factory=dict)
    function: ir.Function | None = None
    visit_id: object = dataclasses.field(default_factory=object)
    overridable: frozenset[ir.Value] = frozenset()

    def call(self, node: ir.Node, inputs: Sequence[TensorValue | None] | None = None) -> Call:
        """Return a node as a transfer function sees it, by default with the inputs known here."""
        if inputs is None:
            inputs = [None if v is None else self.values.get(v) for v in node.inputs]
        version = self.opsets.get(node.domain, 0)
        return Call(node, inputs, version, self.facts, self.attributes, self.visit_id)

    def inner(self) -> Scope:
        """Return the scope of a subgraph: facts from outside hold in it, but not the reverse."""
        return dataclasses.replace(self, facts=self.facts.assuming(), visit_id=object())


@dataclasses.dataclass(frozen=True)
class Knowledge:
    """What the interpreter found: for every value, and the facts that hold in every graph."""

    values: Mapping[ir.Value, TensorValue]
    scopes: Mapping[ir.Graph, Scope]
    shared: Mapping[Term, str]
    """Sizes that several graph inputs declare under one name (the assumption declared-dims)."""
    suspected: tuple[Clause, ...] = ()
    """Facts about declared sizes that would make more shapes known: ``N >= 1``."""

    def own_graphs(self) -> list[tuple[ir.Graph, Scope]]:
        """Return the graphs of the model with their scopes, without the fallbacks of ScatterX."""
        functions = ((g, s, s.function) for g, s in self.scopes.items())
        return [(g, s) for g, s, f in functions if f is None or not is_scatterx_domain(f.domain)]


def operator_sets(imports: Mapping[str, int]) -> dict[str, int]:
    """Return the operator sets with the default domain under both of its names."""
    standard = imports.get("", imports.get("ai.onnx", 0))
    return {**imports, "": standard, "ai.onnx": standard}
