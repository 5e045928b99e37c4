"""Nodes that every compiler removes from a model before it checks operators.

nodes that no output of the model needs
nodes that depend on constants and known sizes alone: each is computed once, and becomes a constant
Identity, and Dropout in inference
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import onnx_ir as ir

from onnx_scatterx.ir.constants import constant, overridable
from onnx_scatterx.ir.graphs import (
    RANDOM,
    called_function,
    graphs_of,
    is_scatterx_domain,
    live_nodes,
)

_NOT_FOLDED = RANDOM | {"DequantizeLinear", "QuantizeLinear"}
"""Operators that draw random numbers, and those that define quantized weights."""


class TakenOut:
    """Finds the nodes of one model that compilers remove.

    ``is_sized`` says whether all sizes of a value are known numbers.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
    ...         e = Erf (w)  s = Sin (x)  i = Identity (x)  y = Mul (e, i) }''')
    >>> found = TakenOut(model)
    >>> [node.op_type for node in model.graph if found.has(node, model.graph)]
    ['Erf', 'Sin', 'Identity']
    """

    def __init__(
        self, model: ir.Model, is_sized: Callable[[ir.Value], bool] = lambda _: False
    ) -> None:
        self.model = model
        self._is_sized = is_sized
        self._live: dict[ir.Graph, set[ir.Node]] = {}
        self._constant: dict[ir.Value, bool] = {}
        self._overridable = overridable(model)

    def graphs(self) -> Iterator[tuple[str, ir.Graph]]:
        """Yield the graphs that the outputs of the model need, with their names."""
        main = self.model.graph
        waiting, seen = [(main.name or "main", main)], {main}
        while waiting:
            name, graph = waiting.pop(0)
            yield name, graph
            for node in graph:
                if node not in self._live_of(graph):
                    continue
                inner = [(body.name or "main", body) for body in graphs_of(node)]
                function = called_function(self.model, node)
                if function is not None and not is_scatterx_domain(function.domain):
                    inner.append((f"{function.domain}.{function.name}", function.graph))
                waiting += [pair for pair in inner if pair[1] not in seen]
                seen.update(graph for _, graph in inner)

    def has(self, node: ir.Node, graph: ir.Graph) -> bool:
        """Return whether a node of a graph is removed."""
        if node not in self._live_of(graph):
            return True
        if node.op_type == "Constant" or node.domain != "":
            return False
        if _does_nothing(node, self._overridable):
            return True
        return all(self._is_constant(value) for value in node.outputs)

    def _live_of(self, graph: ir.Graph) -> set[ir.Node]:
        if graph not in self._live:
            self._live[graph] = live_nodes(graph)
        return self._live[graph]

    def _is_constant(self, value: ir.Value) -> bool:
        """Return whether a value is computed from constants and sizes; without recursion."""
        stack = [value]
        while stack:
            top = stack[-1]
            if top in self._constant:
                stack.pop()
                continue
            node = top.producer()
            if node is None:
                self._constant[top] = constant(top, self._overridable) is not None
                continue
            if node.domain != "" or node.op_type in _NOT_FOLDED or graphs_of(node):
                self._constant[top] = False
                continue
            read = [v for v in node.inputs if v is not None]
            if node.op_type in ("Shape", "Size") and all(map(self._is_sized, read)):
                self._constant[top] = True
                continue
            unknown = [v for v in read if v not in self._constant]
            if unknown:
                stack += unknown
                continue
            is_known = all(self._constant[v] for v in read)
            is_known &= bool(read) or node.op_type == "Constant"
            self._constant.update(dict.fromkeys(node.outputs, is_known))
        return self._constant[value]


def _does_nothing(node: ir.Node, overridable: Collection[ir.Value]) -> bool:
    """Return whether a node returns its input: Dropout does, unless it trains."""
    if node.op_type == "Identity":
        return True
    if node.op_type != "Dropout" or any(v.uses() or v.is_graph_output() for v in node.outputs[1:]):
        return False
    training = node.inputs[2] if len(node.inputs) > 2 else None
    if training is None:
        return True
    tensor = constant(training, overridable)
    return tensor is not None and not tensor.numpy().any()
