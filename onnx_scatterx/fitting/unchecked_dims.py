"""Declared dims that ONNX Runtime uses and does not check: none may stand before a new Shape.

A model declares dims of inner values, and of the inputs of Loop and Scan bodies. A run may have
other sizes: the state of a Loop may grow. ONNX Runtime runs such a model; but under its default
options it makes a constant of a Shape whose input has declared dims.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from onnx_scatterx.fitting.known_values import KnownValues
from onnx_scatterx.graphs.traversal import all_graphs, all_nodes, graphs_of, is_operator

_READERS = frozenset({"Shape", "Size"})
"""Operators of which ONNX Runtime makes a constant, if the dims of the input are declared."""


def forget_unchecked_dims(model: ir.Model, new: Iterable[ir.Node]) -> None:
    """Remove the dims that are declared, and not inferred, of what new Shapes are computed from.

    Inferred are dims that follow from the inputs of the model. Its inputs and outputs stay as
    they are. So does the whole model, if it has a Scan, or a Loop with scan outputs: of these, ONNX
    Runtime needs the dims if they do not iterate.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[4] x, int64[1] s) => (int64[1] z) <float[7] y> {
    ...     y = Reshape (x, s)
    ...     z = Shape (y) }''')
    >>> forget_unchecked_dims(model, [model.graph[1]])
    >>> print(model.graph[0].outputs[0].shape)
    [None]
    """
    if any(_collects(node) for node in all_nodes(model)):
        return
    readers = [node for node in new if is_operator(node, _READERS)]
    kept = {*model.graph.inputs, *model.graph.outputs}
    found = [v for v in _sources(model, readers) if v not in kept and v.const_value is None]
    found = [v for v in found if v.shape is not None and any(isinstance(d, int) for d in v.shape)]
    if not found:
        return
    known = KnownValues(model)
    shapes = [known.shape(value) for value in found]
    for value, inferred in zip(found, shapes, strict=True):
        declared = list(value.shape or ())
        if inferred is None or len(inferred) != len(declared):
            value.shape = None
        elif any(isinstance(d, int) and d != i for d, i in zip(declared, inferred, strict=True)):
            pairs = zip(declared, inferred, strict=True)
            value.shape = ir.Shape(i if isinstance(d, int) else d for d, i in pairs)


def _collects(node: ir.Node) -> bool:
    """Return whether a node is a Scan, or a Loop with scan outputs."""
    states = len(node.inputs) - 2
    return is_operator(node, {"Scan"}) or (
        is_operator(node, {"Loop"}) and len(node.outputs) > states
    )


def _sources(model: ir.Model, readers: Iterable[ir.Node]) -> list[ir.Value]:
    """Return the values that nodes are computed from, through the borders of subgraphs."""
    owners = {
        value: node
        for graph in all_graphs(model)
        for node in graph
        for body in graphs_of(node)
        for value in body.inputs
    }
    todo: list[ir.Node] = list(readers)
    nodes = set(todo)
    values: dict[ir.Value, None] = {}
    while todo:
        node = todo.pop()
        results = [value for body in graphs_of(node) for value in body.outputs]
        for value in (*node.inputs, *results):
            if value is None or value in values:
                continue
            values[value] = None
            maker = value.producer() or owners.get(value)
            if maker is not None and maker not in nodes:
                nodes.add(maker)
                todo.append(maker)
    return list(values)
