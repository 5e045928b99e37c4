"""Shape inference of ONNX that follows the values of short 1-D tensors, and of no long ones.

    s = Shape (x)   t = Concat (s, [-1])   y = Reshape (x, t)     the dims of y follow from values

For this, onnx's data propagation makes a dim for each element of each 1-D operand of such nodes,
whether its elements are known or not: a tensor that is declared with 2^40 elements would fill the
memory. So a node whose operands may have more than 1024 elements is hidden: for this run, its
operator is unknown. Its results get the types and shapes that follow without values.

A length may follow from a value, as in ``ConstantOfShape (t)``. So a node is also hidden if nothing
is known of an operand's length, and shown in a later run if then the length is known. As long as it
is unknown, ONNX has no values of this operand.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from functools import cache

import onnx
import onnx_ir as ir
from onnx_ir.passes.common import ShapeInferencePass

from onnx_scatterx.graphs import constant, graphs_of
from onnx_scatterx.processes import quiet

MOST = 1 << 10
"""The most elements of a tensor whose values are followed."""

_ROUNDS = 4  # after so many, what is still hidden stays hidden
_MOST_RANK = 1 << 6
_HIDDEN = "onnx_scatterx.hidden"  # a domain of which ONNX knows no operator


def let_onnx_infer(model: ir.Model, *, follow: bool) -> None:
    """Let ONNX infer the shapes of a model, in place; ``follow`` the values of short tensors, too.

    If ONNX fails, the declared shapes are kept.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4611686018427387904] x, float[N, 6] y) => (float[?] a, float[?, ?, ?] b)
    ...     <int64[1] zero = {0}, int64[1] two = {2}, int64[3] t = {2, 3, -1}, int64[1] k = {3}> {
    ...         a = Slice (x, zero, two)  s = Shape (y)  r = Mul (s, k)  b = Reshape (y, t) }''')
    >>> let_onnx_infer(model, follow=True)
    >>> print(*(value.shape for value in model.graph.outputs))
    [2] [2,3,unk__0]
    """
    if not follow or not _followed_far(model):
        _run(model, follow)
        return
    _run(model, False)
    hidden: Collection[ir.Node] = ()
    for _ in range(_ROUNDS):
        before, hidden = hidden, _followed_far(model)
        if before == hidden:
            break  # nothing more became known
        _run(model, True, hidden)
        if not hidden:
            break
        _run(model, False)  # what follows of the results of hidden nodes


def _run(model: ir.Model, follow: bool, hidden: Iterable[ir.Node] = ()) -> None:
    domains = {node: node.domain for node in hidden}
    for node in domains:
        node.domain = _HIDDEN
    if domains:
        model.opset_imports[_HIDDEN] = 1
    try:
        with quiet("onnx_ir.passes.common.shape_inference"):
            ShapeInferencePass(check_type=False, strict_mode=False, data_prop=follow)(model)
    finally:
        model.opset_imports.pop(_HIDDEN, None)
        for node, domain in domains.items():
            node.domain = domain


@cache
def _is_followed(operator: str, version: int) -> bool:
    """Return whether ONNX follows values through an operator, in a set of this version."""
    try:
        schema = onnx.defs.get_schema(operator, version, "")
    except onnx.defs.SchemaError:
        return False
    return bool(schema.has_data_propagation_function)


def _followed_far(model: ir.Model) -> list[ir.Node]:
    """Return the nodes through which ONNX must not follow values, whose operands may be long."""
    return _Walk(model).found


class _Walk:
    def __init__(self, model: ir.Model) -> None:
        self.found: list[ir.Node] = []
        self._version = model.opset_imports.get("", 1)
        self._most: dict[ir.Value, float] = {}  # elements of results, from those of operands
        self._followed: set[ir.Value] = set()  # results that ONNX may have values of
        self._graph(model.graph)

    def _graph(self, graph: ir.Graph) -> None:
        for node in graph:
            for body in graphs_of(node):
                self._graph(body)
            if node.domain in ("", "ai.onnx") and _is_followed(node.op_type, self._version):
                self._node(node)

    def _node(self, node: ir.Node) -> None:
        read = [value for value in node.inputs if value is not None]
        asked = [] if node.op_type == "Shape" else [v for v in read if self._has_values(v)]
        counts = [self._elements(value) for value in asked]
        if node.op_type == "Concat":
            counts.append(sum(counts))
        if any(count > MOST for count in counts):
            self.found.append(node)
        elif node.op_type == "Shape" or len(asked) == len(read):
            self._followed.update(node.outputs)
        self._most.update(dict.fromkeys(node.outputs, self._result(node, read)))

    def _has_values(self, value: ir.Value) -> bool:
        """Return whether ONNX may have a dim for each element of an operand."""
        rank = None if value.shape is None else len(value.shape)
        return rank in (None, 0, 1) or value in self._followed

    def _elements(self, value: ir.Value) -> float:
        """Return how many elements a value has at most."""
        tensor = constant(value, ())
        if tensor is not None:
            return tensor.size
        dims = None if value.shape is None else list(value.shape)
        if dims is None or not all(isinstance(dim, int) for dim in dims):
            return self._most.get(value, math.inf)
        return math.prod(max(dim, 0) for dim in dims if isinstance(dim, int))

    def _result(self, node: ir.Node, read: list[ir.Value]) -> float:
        counts = [self._elements(value) for value in read]
        if node.op_type in ("Shape", "Size"):
            return _MOST_RANK
        if not counts:
            return math.inf
        if node.op_type == "Concat":
            return sum(counts)
        if node.op_type in ("Cast", "Slice", "Squeeze", "Unsqueeze"):
            return counts[0]
        short = all(v.shape is not None and len(v.shape) < 2 for v in read)
        if node.op_type == "Gather" and len(counts) == 2:
            return counts[1] if short else math.prod(max(count, 1) for count in counts)
        if node.op_type in ("Add", "Mul", "Sub"):
            return max(counts) if short else math.prod(max(count, 1) for count in counts)
        return math.inf
