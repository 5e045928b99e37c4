"""A copy of a model's edges at one moment, since a rewriting changes nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.ir.graphs import all_graphs, with_subgraphs
from onnx_scatterx.ir.scatterx_domain import is_scatterx_domain


class Wired(NamedTuple):
    """A node: its operator, its name or that of its output, its inputs and outputs."""

    op: str
    name: str
    inputs: tuple[ir.Value | None, ...]
    makes: tuple[ir.Value, ...]


@dataclass
class Wiring:
    """The nodes of a model, the names of values, the readers of each, the outputs of graphs.

    ``constants`` are initializers that are not inputs of the graph, and outputs of Constant nodes.
    """

    nodes: dict[ir.Node, Wired] = field(default_factory=dict)
    names: dict[ir.Value, str] = field(default_factory=dict)
    makers: dict[ir.Value, ir.Node] = field(default_factory=dict)
    readers: dict[ir.Value, list[ir.Node]] = field(default_factory=dict)
    outputs: dict[ir.Graph, tuple[ir.Value, ...]] = field(default_factory=dict)
    constants: set[ir.Value] = field(default_factory=set)

    @classmethod
    def of(cls, model: ir.Model) -> Wiring:
        """Return the present wiring of a model, without the fallbacks of ScatterX.

        >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[2] x) => (float[2] y) { z = Neg (x)  y = Abs (z) }''')
        >>> wiring = Wiring.of(model)
        >>> [(wired.op, wired.name) for wired in wiring.nodes.values()]
        [('Neg', 'z'), ('Abs', 'y')]
        """
        found = cls()
        fallbacks = {
            graph
            for function in model.functions.values()
            if is_scatterx_domain(function.domain)
            for graph in with_subgraphs(function.graph)
        }
        for graph in all_graphs(model):
            if graph not in fallbacks:
                found._add(graph)
        return found

    def _add(self, graph: ir.Graph) -> None:
        self.outputs[graph] = tuple(graph.outputs)
        for value in (*graph.inputs, *graph.initializers.values()):
            self.names[value] = value.name or ""
        self.constants |= set(graph.initializers.values()) - set(graph.inputs)
        for node in graph:
            name = node.name or (node.outputs[0].name if node.outputs else None) or ""
            inputs = tuple(node.inputs)
            if node.op_type == "Constant" and node.domain == "":
                self.constants |= set(node.outputs)
            self.nodes[node] = Wired(node.op_type, name, inputs, tuple(node.outputs))
            for value in node.outputs:
                self.names[value] = value.name or ""
                self.makers[value] = node
            for value in dict.fromkeys(v for v in inputs if v is not None):
                self.readers.setdefault(value, []).append(node)
