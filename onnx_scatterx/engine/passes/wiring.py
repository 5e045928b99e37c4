"""How the nodes of a model are wired, kept before a pass removes the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.graphs import Inventory, all_graphs, is_scatterx_domain


class Wired(NamedTuple):
    """A node: its operator, its name (or its output's name), its inputs and outputs."""

    op: str
    name: str
    inputs: tuple[ir.Value | None, ...]
    makes: tuple[ir.Value, ...]

    @classmethod
    def of(cls, node: ir.Node) -> Wired:
        """Return a node as it is now."""
        outputs = tuple(node.outputs)
        name = node.name or (outputs[0].name if outputs else None) or ""
        return cls(node.op_type, name, tuple(node.inputs), outputs)


@dataclass
class Wiring:
    """A copy of a model's edges: nodes, names of values, readers of values, outputs of graphs.

    ``constants`` are initializers that are not inputs of the graph, and outputs of Constant nodes.
    """

    nodes: dict[ir.Node, Wired] = field(default_factory=dict)
    names: dict[ir.Value, str] = field(default_factory=dict)
    makers: dict[ir.Value, ir.Node] = field(default_factory=dict)
    readers: dict[ir.Value, list[ir.Node]] = field(default_factory=dict)
    outputs: dict[ir.Graph, tuple[ir.Value, ...]] = field(default_factory=dict)
    constants: set[ir.Value] = field(default_factory=set)

    @classmethod
    def of(cls, held: Inventory) -> Wiring:
        """Return the wiring of what a model holds, without the fallbacks of ScatterX.

        >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[2] x) => (float[2] y) { z = Neg (x)  y = Abs (z) }''')
        >>> wiring = Wiring.of(Inventory(model))
        >>> [(wired.op, wired.name) for wired in wiring.nodes.values()]
        [('Neg', 'z'), ('Abs', 'y')]
        """
        wiring = cls()
        fallbacks = {
            graph
            for function in held.model.functions.values()
            if is_scatterx_domain(function.domain)
            for graph in all_graphs(function)
        }
        for graph, nodes in held.graphs.items():
            if graph not in fallbacks:
                wiring._add(graph, nodes)
        return wiring

    def _add(self, graph: ir.Graph, nodes: Sequence[ir.Node]) -> None:
        self.outputs[graph] = tuple(graph.outputs)
        for value in (*graph.inputs, *graph.initializers.values()):
            self.names[value] = value.name or ""
        self.constants |= set(graph.initializers.values()) - set(graph.inputs)
        for node in nodes:
            wired = self.nodes[node] = Wired.of(node)
            if wired.op == "Constant" and node.domain == "":
                self.constants |= set(wired.makes)
            for value in wired.makes:
                self.names[value] = value.name or ""
                self.makers[value] = node
            for read in dict.fromkeys(wired.inputs):
                if read is not None:
                    self.readers.setdefault(read, []).append(node)
