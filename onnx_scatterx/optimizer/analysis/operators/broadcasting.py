"""Output shapes if ONNX Runtime broadcasts, but ONNX's shape inference does not.

Of the dims with one letter in an Einsum, those that are 1 are broadcast. Up to 1.31, a MatMul with
an empty sum takes the batch of its left side, which is not broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.broadcast_shapes import (
    broadcast_dims,
    broadcast_shapes,
)
from onnx_scatterx.optimizer.analysis.domain.call import Call, Result, Versions
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.terms import Term


def matmul(call: Call, asked: Sequence[Term] = ()) -> Result:
    """Transfer a MatMul, of integers and of quantized numbers too.

    Older versions think that the sum is empty if one of the sizes that are ``asked`` is 0.
    """
    op = call.node.op_type
    a, b = call.inputs[0], call.inputs[3 if op == "QLinearMatMul" else 1]
    if a is None or b is None or not a.shape or not b.shape:
        return None
    dtype = ir.DataType.INT32 if op == "MatMulInteger" else a.dtype
    if op == "QLinearMatMul":
        dtype = None if (zero := call.inputs[7]) is None else zero.dtype
    rows, columns = a.shape[-2:-1], b.shape[-1:] if len(b.shape) > 1 else ()
    left, right = a.shape[:-2], b.shape[:-2]
    summed = a.shape[-1], b.shape[-2:][0]
    batch = broadcast_shapes([left, right])
    proves = call.facts.is_nonnegative
    filled = any(proves(n - 1) for n in summed) and all(proves(n - 1) for n in asked)
    if not filled and call.versions is not Versions.NEWER and len(left) >= len(right):
        fresh = call.unknown_shape(len(left))
        batch = tuple(
            m if m is n else other for m, n, other in zip(left, batch, fresh, strict=True)
        )
    return [TensorValue(dtype, (*batch, *rows, *columns))]


def einsum(call: Call) -> Result:
    """Transfer an Einsum that names every dim, and those of its output."""
    left, arrow, right = "".join(call.string("equation", "").split()).partition("->")
    operands = left.split(",")
    shapes = [None if x is None else x.shape for x in call.inputs]
    if (
        not arrow
        or "." in left + right
        or [*map(len, operands)] != [None if s is None else len(s) for s in shapes]
    ):
        return None
    dims: dict[str, list[Term]] = {}
    for letters, shape in zip(operands, shapes, strict=True):
        for letter, dim in zip(letters, shape or (), strict=True):
            dims.setdefault(letter, []).append(dim)
    dtype = None if call.inputs[0] is None else call.inputs[0].dtype
    return [TensorValue(dtype, tuple(broadcast_dims(dims[letter]) for letter in right))]
