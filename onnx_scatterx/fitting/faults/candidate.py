"""A node that may be at the pattern of a fault, and how another form takes its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import remove_dead, replace_uses
from onnx_scatterx.text import Refusal


class Candidate(NamedTuple):
    """A node, with what is known, and which values are constants for a compiler.

    The functions return whether they wrote anything.
    """

    writer: Writer
    node: ir.Node
    scope: Scope
    constants: TakenOut
    nodes: Mapping[str, Sequence[ir.Node]]
    """The nodes of the graph before the first form was written, by operator."""

    def others(self, *op_types: str) -> list[ir.Node]:
        """Return the other nodes of some operators that are in the graph now."""
        before = (node for op_type in op_types for node in self.nodes.get(op_type, ()))
        new = (node for node in self.writer.graph.made if node.op_type in op_types)
        graph = self.node.graph
        return [n for n in (*before, *new) if n.graph is graph and n is not self.node]

    def on_host(self, write: Callable[[], bool]) -> bool:
        """Write a form that may run on the host, as what it takes the place of does."""
        w = self.writer
        own, w.target = w.target, w.target.with_host()
        try:
            return write()
        finally:
            w.target = own

    def replace(self, value: ir.Value, write: Callable[[], ir.Value]) -> bool:
        """Write a value in another form in front of its node, if the target takes that."""
        w, node = self.writer, required(value.producer())
        with w.graph.at(node, value.name):
            nodes = w.fragment_of(write, as_output=value.is_graph_output())
            if isinstance(nodes, Refusal):
                return False
            made = w.graph.take_name(value, w.graph.commit(nodes), w.dtype_of(value))
        replace_uses(value, made)
        remove_dead([node])
        return True

    def replace_input(self, node: ir.Node, at: int, write: Callable[[], ir.Value]) -> bool:
        """Let a node read what is written in front of it, if the target takes that."""
        w, value = self.writer, required(node.inputs[at])
        with w.graph.at(node, value.name):
            nodes = w.fragment_of(write)
            if isinstance(nodes, Refusal):
                return False
            node.replace_input_with(at, w.graph.commit(nodes).result)
        return True
