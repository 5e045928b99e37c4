"""Values that are equal in every run, as a compiler sees it that removes what is computed twice."""

from __future__ import annotations

from collections.abc import Collection

import onnx_ir as ir

from onnx_scatterx.graphs import constant, graphs_of
from onnx_scatterx.operators import RANDOM

_MOST = 256
"""Pairs of values that are compared. Beyond them two values count as different ones."""


def are_alike(one: ir.Value, other: ir.Value, overridable: Collection[ir.Value]) -> bool:
    """Return whether two values are one, equal constants, or computed alike from such values.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] c = {1, 2}, float[2] d = {1, 2}> {
    ...         a = Mul (x, c)  b = Mul (x, d)  y = Sub (a, b) }''')
    >>> a, b, y = (node.outputs[0] for node in model.graph)
    >>> are_alike(a, b, ()), are_alike(a, y, ())
    (True, False)
    """
    waiting, seen = [(one, other)], set[tuple[ir.Value, ir.Value]]()
    while waiting:
        a, b = waiting.pop()
        if a is b or (a, b) in seen:
            continue
        seen.add((a, b))
        tensors = constant(a, overridable), constant(b, overridable)
        if tensors[0] is not None and tensors[1] is not None:
            if not _are_equal(tensors[0], tensors[1]):
                return False
            continue
        makers = a.producer(), b.producer()
        if makers[0] is None or makers[1] is None or a.index() != b.index() or len(seen) > _MOST:
            return False
        if not _compute_alike(makers[0], makers[1]):
            return False
        for read, same in zip(makers[0].inputs, makers[1].inputs, strict=True):
            if read is not None and same is not None:
                waiting.append((read, same))
            elif read is not same:
                return False
    return True


def _are_equal(one: ir.TensorProtocol, other: ir.TensorProtocol) -> bool:
    """Return whether two constants have the same type, shape and bits."""
    if one is other or one.dtype != other.dtype or one.dtype == ir.DataType.STRING:
        return one is other
    return tuple(one.shape) == tuple(other.shape) and one.tobytes() == other.tobytes()


def _compute_alike(one: ir.Node, other: ir.Node) -> bool:
    """Return whether two nodes compute the same of equal inputs."""
    if (one.domain, one.op_type) != (other.domain, other.op_type) or one.op_type in RANDOM:
        return False
    if any(graphs_of(node) for node in (one, other)) or len(one.inputs) != len(other.inputs):
        return False
    settings = [dict(node.attributes) for node in (one, other)]
    return settings[0].keys() == settings[1].keys() and all(
        _same_setting(setting, settings[1][name]) for name, setting in settings[0].items()
    )


def _same_setting(one: ir.Attr, other: ir.Attr) -> bool:
    if one.is_ref() or other.is_ref() or one.type != other.type:
        return False
    if one.type == ir.AttributeType.TENSOR:
        return _are_equal(one.as_tensor(), other.as_tensor())
    return bool(one.value == other.value)
