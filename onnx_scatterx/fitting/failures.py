"""Nodes that cannot run at the sizes of a model: shapes that do not fit, indices out of bounds.

Only nodes of the main graph that an output needs are reported, which always run, and only if the
failure is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Knowledge, Scope
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.infeasible import must_fail
from onnx_scatterx.engine.analysis.validity import is_disproved
from onnx_scatterx.engine.budget.spending import LimitError
from onnx_scatterx.engine.lift.lifting import is_gather, is_scatter
from onnx_scatterx.graphs.traversal import live_nodes, written

_LISTED = 8  # numbers that are reported


class NodeFailure(NamedTuple):
    """A node that cannot run, by its name or that of its first output, and why."""

    node: str
    op: str
    why: str

    def __str__(self) -> str:
        return f"the node {self.node} ({self.op}) cannot run: {self.why}"


def first_failure(graph: ir.Graph, knowledge: Knowledge) -> NodeFailure | None:
    """Return the first node of a graph that cannot run, if one is known.

    >>> from onnx_scatterx.engine.analysis.model_analysis import interpret
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[3] x, float[4] y) => (float[4] z) { z = Add (x, y) }''')
    >>> print(first_failure(model.graph, interpret(model)))
    the node z (Add) cannot run: its inputs are of shape [3] and of shape [4]
    """
    scope = knowledge.scopes.get(graph)
    if scope is None:
        return None
    live = live_nodes(graph)
    for node in graph:
        if node in live and node.domain == "":
            try:
                why = _failure(node, scope)
            except LimitError:
                return None
            if why is not None:
                return NodeFailure(node.name or node.outputs[0].name or "?", node.op_type, why)
    return None


def _failure(node: ir.Node, scope: Scope) -> str | None:
    call = scope.call(node)
    inputs = call.inputs
    described = f"its inputs are {' and '.join(filter(None, map(_described, inputs)))}"
    if must_fail(call) or (node.op_type == "MatMul" and _misfit(inputs)):
        return described
    if is_scatter(node) or is_gather(node):
        axis = _out_of_bounds(node, inputs)
        if axis is not None:
            return f"an index is out of bounds on axis {axis}"
    outputs = [scope.values.get(v) for v in node.outputs]
    return described if is_disproved(call, outputs) else None


def _described(tensor: TensorValue | None) -> str:
    """Return a description of an input: a few numbers, or a shape."""
    if tensor is None or tensor.shape is None:
        return ""
    if tensor.is_integer and len(tensor.shape) < 2 and tensor.constant is not None:
        numbers = tensor.constant.ravel().tolist()
        if len(numbers) <= _LISTED:
            return str(numbers)
    return f"of shape [{', '.join(map(str, tensor.shape))}]"


def _misfit(inputs: Sequence[TensorValue | None]) -> bool:
    """Return whether matrices cannot be multiplied."""
    shapes = [t.shape for t in inputs if t is not None and t.shape]
    if len(shapes) != 2:
        return False
    inner = shapes[0][-1].constant, shapes[1][-2 if len(shapes[1]) > 1 else 0].constant
    return None not in inner and inner[0] != inner[1]


def _out_of_bounds(node: ir.Node, inputs: Sequence[TensorValue | None]) -> int | None:
    """Return an axis of the data on which a known index is out of bounds."""
    data, indices = inputs[0], inputs[1]
    if data is None or not data.shape or indices is None or indices.constant is None:
        return None
    sizes = [d.constant for d in data.shape]
    if 0 in sizes or not indices.constant.size or node.op_type == "TensorScatter":
        return None
    columns: list[np.ndarray] = [indices.constant]
    first = 0
    if node.op_type in ("ScatterND", "GatherND"):
        if not indices.constant.ndim or written(node, "batch_dims", 0) != 0:
            return None
        columns = list(np.moveaxis(indices.constant, -1, 0))
    else:
        axis = written(node, "axis", 0)
        if axis is None:
            return None
        first = axis % len(sizes)
    for data_axis, column in enumerate(columns, first):
        size = sizes[data_axis] if data_axis < len(sizes) else None
        if size is not None and bool(((column < -size) | (column >= size)).any()):
            return data_axis
    return None
