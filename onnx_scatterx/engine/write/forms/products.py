"""A product of matrices with its sum, by the operators that it stands for, and of as many dims.

    Gemm<alpha, beta>(a, b, c)   =   Add(Mul(MatMul(a, b), alpha), Mul(c, beta))
    Gemm<transB = 1>(a, b)       =   MatMul(a, the transposed constant b)
    MatMul(a, b[n, i, j])        =   MatMul(a, Reshape(b, [1, n, i, j]))    if a has four dims

ONNX Runtime adds ``c`` before it has added all products, so the last bits of floats may differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require
from onnx_scatterx.engine.write.forms.request import Request

_LARGEST = 1 << 24  # elements of a constant that is transposed here


def by_matmul(request: Request) -> ir.Value:
    """Multiply, then add, if the last bits may differ."""
    w, given = request.writer, request.attributes
    alpha, beta = float(given.get("alpha", 1.0)), float(given.get("beta", 1.0))
    require(w.last_bits, request.kind.is_floating_point())
    require(math.isfinite(alpha), alpha, math.isfinite(beta))
    factors = [_matrix(request, i, bool(given.get(name))) for i, name in enumerate(_TRANSPOSES)]
    result = _times(request, w.node("MatMul", factors, request.dtype), alpha)
    if not request.has(2) or not beta:
        return result
    return w.node("Add", [result, _times(request, request.input(2), beta)], request.dtype)


def of_as_many_dims(request: Request) -> ir.Value:
    """Write axes of one element in front of the operand of fewer dims."""
    shapes = [request.shape(i) for i in range(2)]
    most = max(map(len, shapes))
    require(min(map(len, shapes)) >= _MATRIX, len({*map(len, shapes)}) > 1)
    require(not any(0 in shape for shape in shapes))
    inputs = []
    for i, shape in enumerate(shapes):
        wide = [1] * (most - len(shape)) + list(shape)
        inputs.append(request.input(i) if len(shape) == most else _widened(request, i, wide))
    return request.writer.node("MatMul", inputs, request.dtype)


def _widened(request: Request, i: int, shape: Sequence[int]) -> ir.Value:
    """Return an operand in a shape of as many elements."""
    tensor = request.constant(request.inputs[i])
    if tensor is not None and math.prod(shape) <= _LARGEST:
        return request.writer.constant(tensor.numpy().reshape(shape), request.kind)
    return request.reshape(request.input(i), shape)


_MATRIX = 2  # dims
_TRANSPOSES = ("transA", "transB")


def _matrix(request: Request, i: int, transposed: bool) -> ir.Value:
    """Return an input, transposed if the node transposes it."""
    w, x, tensor = request.writer, request.input(i), request.constant(request.inputs[i])
    if not transposed:
        return x
    if tensor is not None and math.prod(tensor.shape.numpy()) <= _LARGEST:
        return w.constant(np.ascontiguousarray(tensor.numpy().T), request.kind)
    return w.transpose(x, request.kind, [1, 0])


def _times(request: Request, x: ir.Value, factor: float) -> ir.Value:
    if factor == 1:
        return x
    number = request.writer.constant(np.array(factor, request.kind.numpy()), request.kind)
    return request.writer.node("Mul", [x, number], request.dtype)
