"""Nodes that cannot run at the sizes of a model: shapes that do not fit, indices out of bounds.

Only nodes of the main graph that always run are reported, and only if the failure is certain.
"""

from __future__ import annotations

from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, Scope, TensorValue, first_false
from onnx_scatterx.engine.budget import LimitError

_LISTED = 8  # numbers that are reported


class NodeFailure(NamedTuple):
    """A node that cannot run, by its name or that of its first output, and why.

    ``numbers`` are the constants in the shapes of its inputs, and in those that are shapes.
    """

    node: str
    op: str
    why: str
    numbers: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"the node {self.node} ({self.op}) cannot run: {self.why}"

    @property
    def at_any_sizes(self) -> str:
        """What a user is told if the node cannot run at any sizes."""
        wrong = "the model fails at any sizes, so its export is wrong"
        return f"{wrong}; with PyTorch, try dynamo=True: {self}"


def first_failure(graph: ir.Graph, knowledge: Knowledge) -> NodeFailure | None:
    """Return the first node of a graph that cannot run, if one is known.

    >>> from onnx_scatterx.engine.analysis.model_analysis import interpret
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[3] x, float[4] y) => (float[4] z) { z = Add (x, y) }''')
    >>> first_failure(model.graph, interpret(model)).why
    'its inputs are of shape [3] and of shape [4]: they cannot be broadcast'
    """
    scope = knowledge.scopes.get(graph)
    if scope is None:
        return None
    for node in graph:
        if node in scope.running and node.domain == "":
            try:
                why = _failure(node, scope)
            except LimitError:
                return None
            if why is not None:
                name = node.name or node.outputs[0].name or "?"
                return NodeFailure(name, node.op_type, why, _numbers(node, scope))
    return None


def _failure(node: ir.Node, scope: Scope) -> str | None:
    call = scope.call(node)
    condition = first_false(call, [scope.values.get(v) for v in node.outputs])
    if condition is None:
        return None
    inputs = " and ".join(filter(None, map(_described, call.inputs)))
    return condition.told(f"its inputs are {inputs}")


def _numbers(node: ir.Node, scope: Scope) -> tuple[int, ...]:
    """Return the constants in the shapes of the inputs of a node, and in inputs that are shapes."""
    found: list[int] = []
    for tensor in filter(None, scope.call(node).inputs):
        found += [n for s in tensor.shape or () if (n := s.constant) is not None]
        if tensor.is_integer and tensor.constant is not None and tensor.constant.size <= _LISTED:
            found += tensor.constant.ravel().tolist()
    return tuple(dict.fromkeys(int(n) for n in found if n > 0))


def _described(tensor: TensorValue | None) -> str:
    """Return a description of an input: a few numbers, or a shape."""
    if tensor is None or tensor.shape is None:
        return ""
    if tensor.is_integer and len(tensor.shape) < 2 and tensor.constant is not None:
        numbers = tensor.constant.ravel().tolist()
        if len(numbers) <= _LISTED:
            return str(numbers)
    return f"of shape [{', '.join(map(str, tensor.shape))}]"
