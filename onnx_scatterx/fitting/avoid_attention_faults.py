"""A form of attentions that avoids a fault of the target's compiler, at its pattern alone.

    many_scales    MatMul(q * c, k)     =   MatMul(q * [c, ..., c], k)      as Softmax reads it
                   MatMul(q, k) / c     =   MatMul(q, k) / [c, ..., c]

A compiler that makes one layer of an attention recognizes the one number by which it scales. It
reads the heads off the shape of a Reshape, even if that is -1, and misses a bias that is not there.
Many equal numbers, along an axis that is there anyway, give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import constant, is_operator

_ARRANGES = ("Reshape", "Transpose")  # between a query and the product with the keys
_CHANGES = ("Add", "Div")  # between the product and the Softmax
_MOST = 4  # nodes of each


def many_scales(w: Writer, node: ir.Node, scope: Scope) -> Callable[[], ir.Value] | None:
    """Return what writes a Mul or Div of an attention with many numbers; None elsewhere."""
    if not is_operator(node, ("Mul", "Div")) or len(node.inputs) != 2:
        return None
    numbers = [constant(v, scope.overridable) for v in node.inputs]
    at = 1 if numbers[0] is None else 0
    number, x = numbers[at], node.inputs[1 - at]
    if number is None or x is None or number.size != 1 or (node.op_type == "Div" and at == 0):
        return None
    known = scope.of(x)
    sizes = [size.constant or 0 for size in known.shape or ()]
    wide = [axis for axis, size in enumerate(sizes) if size > 1]
    if not wide or known.dtype != ir.DataType.FLOAT or len(number.shape) > len(sizes):
        return None
    scores = is_operator(x.producer(), ("MatMul",)) and node.op_type == "Div"
    if not (_is_weighed(node, _MOST) if scores else _is_multiplied(node, _MOST)):
        return None
    shape = [sizes[axis] if axis == wide[-1] else 1 for axis in range(wide[-1], len(sizes))]

    def write() -> ir.Value:
        many = np.full(shape, number.numpy().reshape(()))
        operands = [x, x]
        operands[at] = w.constant(many, ir.DataType.FLOAT)
        return w.node(node.op_type, operands, ir.DataType.FLOAT)

    return write


def _is_multiplied(node: ir.Node, most: int) -> bool:
    """Return whether a Softmax reads a product of what a node gives."""
    readers = [use.node for value in node.outputs for use in value.uses()]
    return any(
        _is_weighed(reader, _MOST)
        if is_operator(reader, ("MatMul",))
        else most > 0 and is_operator(reader, _ARRANGES) and _is_multiplied(reader, most - 1)
        for reader in readers
    )


def _is_weighed(node: ir.Node, most: int) -> bool:
    """Return whether a Softmax reads what a node gives, perhaps scaled and masked."""
    readers = [use.node for value in node.outputs for use in value.uses()]
    return any(
        is_operator(reader, ("Softmax",))
        or (most > 0 and is_operator(reader, _CHANGES) and _is_weighed(reader, most - 1))
        for reader in readers
    )
