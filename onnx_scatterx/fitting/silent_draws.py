"""Draws that are multiplied by 0 are drawn once, if the target does not draw.

    before   Add(x, Mul(RandomNormalLike(x), 0))      as a model of speech is exported without noise
    after    Add(x, Mul(Expand(1, Shape(x)), 0))

The original may draw these numbers, too. If it draws others, what differs is the sign of a zero,
and that of a product which is not finite before it is multiplied by 0. A draw is kept if any of its
readers gives it on by another way than those of `_WAYS`.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.budget import LIMITS, LimitError, budget
from onnx_scatterx.engine.device import objections_to, use_of
from onnx_scatterx.engine.passes import Job
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import constant, is_operator, remove_dead, replace_uses
from onnx_scatterx.text import Refusal

_DRAWS = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
_WAYS = ("Cast", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze")
"""Operators that move the elements of their first input, or round them."""


def draw_silent(job: Job) -> bool:
    """Replace draws that are multiplied by 0 by a number that they may draw.

    A draw of more than `LIMITS.kept_bytes` is kept.

    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[n] x) => (float[n] y) <float zero = {0}> {
    ...         r = RandomNormalLike (x)  s = Mul (r, zero)  y = Add (x, s) }''')
    >>> draw_silent(Job(model, Settings.of(target="opencv")))
    True
    >>> [node.op_type for node in model.graph]
    ['Shape', 'Expand', 'Mul', 'Add']
    """
    if not job.held.has(*_DRAWS):
        return False
    modified = False
    try:
        with budget().share(1 / 8):
            known = job.analyses.without_trust.current()
            for graph, scope in known.own_graphs():
                as_nodes, target = job.has_constant_nodes(scope), job.settings.target
                writer = Writer(graph, scope, job.names, constant_nodes=as_nodes, target=target)
                for node in [node for node in graph if is_operator(node, _DRAWS)]:
                    use = use_of(node, scope.of, scope.overridable, scope)
                    if any(objections_to(use, target.with_host())) and _is_silent(node, scope):
                        modified |= _drawn(node, writer, scope)
                job.analyses.note(writer.graph.made)
    except LimitError:
        pass  # the rest is kept
    return modified


def _is_silent(node: ir.Node, scope: Scope) -> bool:
    """Return whether all that follows from a draw is multiplied by 0."""
    waiting = list(node.outputs)
    while waiting:
        value = waiting.pop()
        if value.is_graph_output() or scope.of(value).dtype not in _FLOATS:
            return False
        for reader, at in value.uses():
            if not is_operator(reader, ("Mul", *_WAYS)) or reader.graph is not node.graph:
                return False
            if reader.op_type != "Mul" and at != 0:
                return False
            if reader.op_type != "Mul" or not _is_zero(reader.inputs[1 - at], scope):
                waiting += reader.outputs
    return True


_FLOATS = frozenset({ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.DOUBLE})


def _is_zero(value: ir.Value | None, scope: Scope) -> bool:
    tensor = constant(value, scope.overridable)
    if tensor is None or tensor.dtype not in _FLOATS or tensor.nbytes > LIMITS.kept_bytes:
        return False
    return not tensor.numpy().any()


def _drawn(node: ir.Node, writer: Writer, scope: Scope) -> bool:
    """Put a number that a draw may give in its place, if the target takes the nodes."""
    (value,) = node.outputs
    known, number = scope.of(value), _number(node)
    kind, shape = known.dtype, known.static_shape
    if kind is None or number is None:
        return False
    with np.errstate(over="ignore"):
        element = np.asarray(number, kind.numpy())
    size = int(np.prod(shape or (), dtype=object)) * kind.itemsize
    if not np.isfinite(element) or size > LIMITS.kept_bytes or (shape is None and not node.inputs):
        return False

    def write() -> ir.Value:
        if shape is not None:
            return writer.constant(np.full(shape, element), kind)
        sizes = writer.node("Shape", [node.inputs[0]], ir.DataType.INT64)
        return writer.node("Expand", [writer.constant(element, kind), sizes], kind)

    with writer.graph.at(node, value.name):
        nodes = writer.fragment_of(write)
        if isinstance(nodes, Refusal):
            return False
        result = writer.graph.commit(nodes).result
    replace_uses(value, result)
    remove_dead([node])
    return True


def _number(node: ir.Node) -> float | None:
    """Return a number that a node may draw, None if it is not known."""
    normal = node.op_type.startswith("RandomNormal")
    first, second = ("mean", "scale") if normal else ("low", "high")
    read = {name: node.attributes.get(name) for name in (first, second)}
    if any(attribute is not None and attribute.is_ref() for attribute in read.values()):
        return None
    start, more = read[first], read[second]
    low = 0.0 if start is None else start.as_float()
    return low if not normal else low + (1.0 if more is None else more.as_float())
