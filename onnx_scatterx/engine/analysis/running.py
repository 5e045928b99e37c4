"""Which nodes run whenever their graph runs, so that their checks hold.

    s = Shape(Gather(x, [3]))            x: float[N, 4]

ONNX Runtime knows that ``s`` is [1, 4]. It computes ``s`` when the model is loaded, and removes the
Gather with its check. So a node of which only the shape is read proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.graphs import all_nodes, callers_first, graphs_of, is_operator, makers, reached

ReadInputs: TypeAlias = Mapping[ir.OperatorIdentifier, Collection[int]]
"""The inputs of each function of which it reads elements, by position."""

_OF_SHAPES = ("Shape", "Size")


def running_nodes(graph: ir.Graph, functions: ReadInputs) -> set[ir.Node]:
    """Return the nodes of a graph whose elements its outputs need.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x) => (float[N] y, int64[1] z) {
    ...         y = Neg (x)  e = Exp (x)  z = Shape (e) }''')
    >>> sorted(node.op_type for node in running_nodes(model.graph, {}))
    ['Neg', 'Shape']
    """

    def near(node: ir.Node) -> list[ir.Node]:
        return [made for made in makers(_read(node, functions)) if made.graph is graph]

    return set(reached([n for n in makers(graph.outputs) if n.graph is graph], near))


def read_inputs(model: ir.Model) -> ReadInputs:
    """Return of which inputs each function of a model reads elements."""
    known: dict[ir.OperatorIdentifier, Collection[int]] = {}
    for function in reversed(callers_first(model)):
        read = {v for node in running_nodes(function.graph, known) for v in _read(node, known)}
        read.update(function.outputs)
        known[function.identifier()] = {i for i, v in enumerate(function.inputs) if v in read}
    return known


def _read(node: ir.Node, functions: ReadInputs) -> list[ir.Value]:
    """Return the values of which a node and its subgraphs read elements."""
    read = _read_itself(node, functions)
    for body in graphs_of(node):
        read += [v for inner in all_nodes(body) for v in _read_itself(inner, functions)]
        read += [v for v in body.outputs if v is not None]
    return read


def _read_itself(node: ir.Node, functions: ReadInputs) -> list[ir.Value]:
    if is_operator(node, _OF_SHAPES):
        return []
    known = functions.get(node.op_identifier()) if node.domain != "" else None
    return [v for i, v in enumerate(node.inputs) if v is not None and (known is None or i in known)]
