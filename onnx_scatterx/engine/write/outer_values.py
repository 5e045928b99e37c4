"""The values of outer graphs that a body of an If, a Loop or a Scan can read.

    y = If(c, then_branch = {z = Slice(v, 0, Shape(x)[0])})          x is computed before the If

A body reads the inputs and initializers of the graphs around it, and what is computed there before
the node that has the body. A runtime looks a name up from the inside out, so a value is hidden if a
graph in between has a value of the same name. A function reads nothing from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.write.available import AvailableValues
from onnx_scatterx.graphs import graphs_of


class VisibleValues(NamedTuple):
    """The values of an outer graph that a body can read.

    They come before the position ``end``, no value between has their name (``hidden``), and no pass
    has removed them.
    """

    values: AvailableValues
    end: int
    hidden: frozenset[str | None]

    def has(self, value: ir.Value) -> bool:
        """Return whether the body can read a value."""
        if self.values.order.get(value, self.end) >= self.end or value.name in self.hidden:
            return False
        node = value.producer()
        if node is not None:
            return node.graph is not None
        return value.is_graph_input() or value.is_initializer()


class OuterValues:
    """Lists the values of each outer graph once, when a body asks for the first of them.

    What is removed from an outer graph later is not read. What is added later is not found.
    """

    def __init__(self, graphs: Iterable[tuple[ir.Graph, Scope]]) -> None:
        self._scopes = dict(graphs)
        self._listed: dict[ir.Graph, AvailableValues] = {}

    @cached_property
    def _holders(self) -> dict[ir.Graph, ir.Node]:
        """The node that has each body."""
        nodes = (n for graph in self._scopes for n in graph if n.attributes.data)
        return {body: node for node in nodes for body in graphs_of(node)}

    def around(self, graph: ir.Graph) -> Iterator[VisibleValues]:
        """Yield what a body can read of each graph around it, the innermost graph first."""
        hidden = _names(graph)
        while (node := self._holders.get(graph)) is not None and isinstance(node.graph, ir.Graph):
            graph = node.graph
            if graph not in self._listed:
                self._listed[graph] = AvailableValues(graph, self._scopes[graph], ())
            values = self._listed[graph]
            end = values.order.get(node.outputs[0], -1)
            yield VisibleValues(values, end, frozenset(hidden))
            hidden |= _names(graph)


def _names(graph: ir.Graph) -> set[str | None]:
    """Return the names of a graph's own values."""
    named = [*graph.inputs, *graph.initializers.values()]
    return {v.name for v in named} | {v.name for node in graph for v in node.outputs}
