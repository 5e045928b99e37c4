"""What a model holds at one time: its graphs, and its nodes by their operators.

Many passes look for a few operators, and most models have none of them. So a model is walked once,
and again only after it has changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import chain

import onnx_ir as ir

from onnx_scatterx.graphs.traversal import nodes_by_graph


class Inventory:
    """The nodes of a model, as they were when this was made.

    ``graphs`` has the nodes of every graph, outer graphs first. ``operators`` has the nodes of
    every operator, of whichever domain, in the same order.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) { z = Neg (x)  w = Neg (z)  y = Abs (w) }''')
    >>> held = Inventory(model)
    >>> [node.outputs[0].name for node in held.of("Neg", "Relu")], held.has("Relu")
    (['z', 'w'], False)
    """

    def __init__(self, model: ir.Model) -> None:
        self.model = model
        self.graphs: Mapping[ir.Graph, list[ir.Node]] = nodes_by_graph(model)
        self.operators: dict[str, list[ir.Node]] = {}
        for node in self.nodes:
            self.operators.setdefault(node.op_type, []).append(node)

    @cached_property
    def nodes(self) -> list[ir.Node]:
        """All nodes, in the order of the graphs."""
        return [*chain.from_iterable(self.graphs.values())]

    def has(self, *operators: str) -> bool:
        """Return whether there are nodes of one of these operators."""
        return not self.operators.keys().isdisjoint(operators)

    def of(self, *operators: str) -> list[ir.Node]:
        """Return the nodes of these operators, those of the first one first."""
        return [node for operator in operators for node in self.operators.get(operator, ())]
