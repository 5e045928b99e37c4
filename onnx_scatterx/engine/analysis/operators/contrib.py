"""Output shapes of ONNX Runtime's own operators (``com.microsoft``), quantized and others.

A model that ONNX Runtime optimized, quantized or exported, and saved, has them. If every dim of an
output is one of an input, or not known, a row of the table says so:

    =0       the shape of input 0
    0.1      dim 1 of input 0
    ?        a dim that nothing is known of
    (empty)  nothing is known

The source of each row is the operator's schema in ONNX Runtime, ``contrib_ops/ContribOperators.md``
(generated from ``core/graph/contrib_ops/bert_defs.cc`` and ``contrib_defs.cc``); tests compare
random nodes with ONNX Runtime.

``onnxruntime.quantization`` writes the quantized ones in its operator-oriented format (QOperator),
and for integers that the model's operator set lacks. Only their shapes are followed, not their
contents.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.broadcast_shapes import broadcast_shapes
from onnx_scatterx.engine.analysis.domain.call import (
    Call,
    NotKnownError,
    Result,
    require,
    required,
)
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.analysis.operators import elementwise, movement, slicing
from onnx_scatterx.engine.terms import term

_NORMALIZED = ("=0", "", "", "=0")
_HEADS = ("0.0 0.1 ?", "? ? ? ?", "? ? ? ?")
_STATE = "1.0 0.1 2.1"

ROWS: dict[str, tuple[str, ...]] = {
    "Attention": ("0.0 0.1 ?", "? ? ? ? ?"),  # com.microsoft.Attention
    "BiasGelu": ("=0",),  # com.microsoft.BiasGelu
    "CDist": ("0.0 1.0",),  # com.microsoft.CDist
    "DequantizeLinear": ("=0",),  # com.microsoft.DequantizeLinear
    "DynamicQuantizeLSTM": ("0.0 1.0 0.1 2.1", _STATE, _STATE),  # com.microsoft.DynamicQuantizeLSTM
    "EmbedLayerNormalization": ("0.0 0.1 2.1", "0.0", "0.0 0.1 2.1"),  # its inputs 0 and 2
    "FastGelu": ("=0",),  # com.microsoft.FastGelu
    "Gelu": ("=0",),  # com.microsoft.Gelu
    "GridSample": ("0.0 0.1 1.1 1.2",),  # com.microsoft.GridSample
    "GroupQueryAttention": _HEADS,  # com.microsoft.GroupQueryAttention
    "Inverse": ("=0",),  # com.microsoft.Inverse
    "MoE": ("=0",),  # com.microsoft.MoE
    "MultiHeadAttention": _HEADS,  # com.microsoft.MultiHeadAttention
    "QAttention": ("0.0 0.1 ?", "? ? ? ? ?"),  # com.microsoft.QAttention
    "QLinearLeakyRelu": ("=0",),  # com.microsoft.QLinearLeakyRelu
    "QLinearSigmoid": ("=0",),  # com.microsoft.QLinearSigmoid
    "QLinearSoftmax": ("=0",),  # com.microsoft.QLinearSoftmax
    "QuickGelu": ("=0",),  # com.microsoft.QuickGelu
    "RotaryEmbedding": ("=0",),  # com.microsoft.RotaryEmbedding
    "SimplifiedLayerNormalization": ("=0",),  # in ONNX Runtime its domain is that of ONNX
    "SkipLayerNormalization": _NORMALIZED,  # com.microsoft.SkipLayerNormalization
    "SkipSimplifiedLayerNormalization": _NORMALIZED,  # com.microsoft.SkipSimplifiedLayer...
}
_TYPED = {"DequantizeLinear": 1, "EmbedLayerNormalization": 2, "QAttention": 3}
"""The input that has the element type: a table of words, a scale."""


def by_row(call: Call) -> Result:
    """Transfer an operator by its row; the element type is that of one of the inputs."""
    typed = call.input(_TYPED.get(call.node.op_type, 0))
    dtype = None if typed is None else typed.dtype
    outputs = [
        TensorValue(dtype, _shape(call, i, row))
        for i, row in enumerate(ROWS[call.node.op_type][: len(call.node.outputs)])
    ]
    if call.node.op_type == "EmbedLayerNormalization" and len(outputs) > 1:
        outputs[1] = replace(outputs[1], dtype=ir.DataType.INT32)
    return outputs


def _shape(call: Call, output: int, row: str) -> Shape | None:
    if not row:
        return None
    if row.startswith("="):
        return _shape_of(call, int(row[1:]))
    parts = row.split()
    fresh = call.unknown_shape(len(parts), output)
    dims = []
    for part, unknown in zip(parts, fresh, strict=True):
        index, _, dim = part.partition(".")
        shape = None if part == "?" else _shape_of(call, int(index))
        known = shape is not None and int(dim or 0) < len(shape)
        dims.append(shape[int(dim)] if shape is not None and known else unknown)
    return tuple(dims)


def matmul(call: Call) -> Result:
    """Transfer FusedMatMul: a product of matrices that may be transposed.

    With ``transBatch..`` the first dim is that of the rows, and the batch stands between both; both
    sides have the same rank then, and it is at least 3. Versions up to 1.31 look for an empty sum
    before they transpose.
    """
    operands = [call.known(0, 1), call.known(1, 1)]
    moved = [call.integer(name, 0) for name in ("transBatchA", "transBatchB")]
    ranks = {len(x.dims) for x in operands}
    require(not any(moved) or (len(ranks) == 1 and ranks.pop() >= 3))
    sides, asked = [], []
    for x, moves, name in zip(operands, moved, ("transA", "transB"), strict=True):
        shape = x.dims
        asked.append(shape[-1] if name == "transA" else shape[-2:][0])
        if moves:
            shape = (*shape[1:-1], shape[0], shape[-1])
        if call.integer(name, 0) and len(shape) > 1:
            shape = (*shape[:-2], shape[-1], shape[-2])
        sides.append(TensorValue(x.dtype, shape))
    return elementwise.matmul(call._replace(inputs=sides), asked)


def gather_quantized(call: Call) -> Result:
    """Transfer GatherBlockQuantized: rows of a table, whose numbers are packed along one axis."""
    x, indices = call.known(0, 1).dims, call.known(1).dims
    axis = call.integer("gather_axis", 0) % len(x)
    packed = call.integer("quantize_axis", 1) % len(x)
    dims = [*x[:axis], *indices, *x[axis + 1 :]]
    packed_axis = packed if packed < axis else packed + len(indices) - 1
    dims[packed_axis] = call.unknown_shape(len(dims))[packed_axis]
    return [TensorValue(_dtype(call, 2), tuple(dims))]


def gemm(call: Call) -> Result:
    """Transfer FusedGemm: two matrices that may be transposed, an addend and an activation."""
    return [TensorValue(_dtype(call, 0), _of_product(call, 1))]


def _of_product(call: Call, second: int) -> Shape:
    """Return the shape of the product of two matrices that may be transposed."""
    a, b = call.known(0).dims, call.known(second).dims
    require(len(a) == 2, len(b) == 2)
    return a[bool(call.integer("transA", 0))], b[not call.integer("transB", 0)]


def conv(call: Call) -> Result:
    """Transfer FusedConv: a Conv with an addend and an activation."""
    return _of_rank(call, slicing.conv, call.known(0).dtype)


def _dtype(call: Call, *indices: int) -> ir.DataType | None:
    """Return the element type of the first of these inputs that is present."""
    inputs = (call.input(i) for i in indices)
    return next((x.dtype for x in inputs if x is not None), None)


def _shape_of(call: Call, index: int) -> Shape | None:
    tensor = call.input(index)
    return None if tensor is None else tensor.shape


def quantize(call: Call) -> Result:
    dtype = _dtype(call, 2) or ir.DataType.UINT8
    return [TensorValue(dtype, _shape_of(call, 0))]


def add_or_mul(call: Call) -> Result:
    """Transfer QLinearAdd and QLinearMul: each operand has a scale and a zero point."""
    return [TensorValue(_dtype(call, 0), _broadcast(call, 0, 3))]


def _broadcast(call: Call, *indices: int) -> Shape:
    return broadcast_shapes([call.known(i).dims for i in indices])


def where(call: Call) -> Result:
    return [TensorValue(_dtype(call, 1), _broadcast(call, 0, 1, 4))]


def concat(call: Call) -> Result:
    """Transfer QLinearConcat: scale and zero point of the result, then those of each operand."""
    dtype, parts = _dtype(call, 1, 2), call.inputs[2::3]
    plain = [None if x is None else replace(x, dtype=dtype, content=None) for x in parts]
    return movement.concat(call._replace(inputs=plain))


def quantized_conv(call: Call) -> Result:
    plain = call._replace(inputs=[call.input(0), call.input(3)])
    return _of_rank(plain, slicing.conv, _dtype(call, 7, 0))


def pool(call: Call) -> Result:
    return _of_rank(call, slicing.pool, _dtype(call, 0))


def _of_rank(
    call: Call, window: Callable[[Call], list[TensorValue]], dtype: ir.DataType | None
) -> Result:
    """Return a tensor of the rank of the first input, if no more is known of a sliding window."""
    with suppress(NotKnownError):
        require(not call.integer("channels_last", 0))
        return [replace(window(call)[0], dtype=dtype)]
    shape = _shape_of(call, 0)
    unknown = None if shape is None else call.unknown_shape(len(shape))
    return [TensorValue(dtype, unknown)]


def global_pool(call: Call) -> Result:
    shape = call.known(0, 3).dims
    ones = (term(1),) * (len(shape) - 2)
    last = call.integer("channels_last", 0)
    dims = (shape[0], *ones, shape[-1]) if last else (*shape[:2], *ones)
    return [TensorValue(_dtype(call, 0), dims)]


def quantized_gemm(call: Call) -> Result:
    """Transfer QGemm, whose result is float unless it has an output scale."""
    dtype = ir.DataType.FLOAT if call.input(7) is None else _dtype(call, 8, 0)
    return [TensorValue(dtype, _of_product(call, 3))]


def quantized_matmul(call: Call) -> Result:
    """Transfer products with float results: DynamicQuantizeMatMul, MatMulIntegerToFloat."""
    (product,) = elementwise.matmul(call._replace(inputs=[call.input(0), call.input(1)]))
    return [replace(product, dtype=ir.DataType.FLOAT)]


def matmul_of_bits(call: Call) -> Result:
    """Transfer MatMulNBits: its second matrix is packed, and an attribute says how wide it is."""
    shape, columns = call.known(0, 1).dims, required(call.attribute("N"))
    return [TensorValue(_dtype(call, 0), (*shape[:-1], term(columns.as_int())))]
