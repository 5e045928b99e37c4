"""Output shapes of the operators that ONNX Runtime's tools write (``com.microsoft``).

A model that was optimized, quantized or exported by them, and saved, has them. If every dim of an
output is one of an input, or not known, a row of the table says so:

    =0       the shape of input 0
    0.1      dim 1 of input 0
    ?        a dim that nothing is known of
    (empty)  nothing is known

The source of each row is the operator's schema in ONNX Runtime, ``contrib_ops/ContribOperators.md``
(generated from ``core/graph/contrib_ops/bert_defs.cc`` and ``contrib_defs.cc``); tests compare
random nodes with ONNX Runtime.
"""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.analysis.operators import broadcasting, windows

_NORMALIZED = ("=0", "", "", "=0")
_HEADS = ("0.0 0.1 ?", "? ? ? ?", "? ? ? ?")
_STATE = "1.0 0.1 2.1"

ROWS: dict[str, tuple[str, ...]] = {
    "Attention": ("0.0 0.1 ?", "? ? ? ? ?"),  # com.microsoft.Attention
    "BiasGelu": ("=0",),  # com.microsoft.BiasGelu
    "CDist": ("0.0 1.0",),  # com.microsoft.CDist
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
    "QuickGelu": ("=0",),  # com.microsoft.QuickGelu
    "RotaryEmbedding": ("=0",),  # com.microsoft.RotaryEmbedding
    "SimplifiedLayerNormalization": ("=0",),  # in ONNX Runtime its domain is that of ONNX
    "SkipLayerNormalization": _NORMALIZED,  # com.microsoft.SkipLayerNormalization
    "SkipSimplifiedLayerNormalization": _NORMALIZED,  # com.microsoft.SkipSimplifiedLayer...
}
_TYPED = {"EmbedLayerNormalization": 2, "QAttention": 3}
"""The input that has the element type: a table of words, a scale."""


def by_row(call: Call) -> Result:
    """Transfer an operator by its row; the element type is that of one of the inputs."""
    typed = call.input(_TYPED.get(call.node.op_type, 0))
    dtype = None if typed is None else typed.dtype
    found = [
        TensorValue(dtype, _shape(call, i, row))
        for i, row in enumerate(ROWS[call.node.op_type][: len(call.node.outputs)])
    ]
    if call.node.op_type == "EmbedLayerNormalization" and len(found) > 1:
        found[1] = replace(found[1], dtype=ir.DataType.INT32)
    return found


def _shape(call: Call, output: int, row: str) -> Shape | None:
    if not row:
        return None
    if row.startswith("="):
        given = call.input(int(row[1:]))
        return None if given is None else given.shape
    parts = row.split()
    fresh = call.unknown_shape(len(parts), output)
    dims = []
    for part, unknown in zip(parts, fresh, strict=True):
        place, _, dim = part.partition(".")
        given = None if part == "?" else call.input(int(place))
        shape = None if given is None else given.shape
        known = shape is not None and int(dim or 0) < len(shape)
        dims.append(shape[int(dim)] if shape is not None and known else unknown)
    return tuple(dims)


def matmul(call: Call) -> Result:
    """Transfer FusedMatMul: a product of matrices that may be transposed.

    With ``transBatch..`` the first dim is that of the rows, and the batch stands between both; both
    sides have the same rank then, and it is at least 3. Versions up to 1.31 look for an empty sum
    before they transpose.
    """
    given = [call.input(0), call.input(1)]
    moved = [call.integer(name, 0) for name in ("transBatchA", "transBatchB")]
    ranks = {None if x is None else x.rank for x in given}
    if any(moved) and (len(ranks) > 1 or (ranks.pop() or 0) < 3):
        return None
    sides, asked = [], []
    for x, moves, name in zip(given, moved, ("transA", "transB"), strict=True):
        if x is None or not x.shape:
            return None
        shape = x.shape
        asked.append(shape[-1] if name == "transA" else shape[-2:][0])
        if moves:
            shape = (*shape[1:-1], shape[0], shape[-1])
        if call.integer(name, 0) and len(shape) > 1:
            shape = (*shape[:-2], shape[-1], shape[-2])
        sides.append(TensorValue(x.dtype, shape))
    return broadcasting.matmul(call._replace(inputs=sides), asked)


def gather_quantized(call: Call) -> Result:
    """Transfer GatherBlockQuantized: rows of a table, whose numbers are packed along one axis."""
    x, indices, scales = (call.input(i) for i in range(3))
    if x is None or indices is None or not x.shape or indices.shape is None:
        return None
    axis = call.integer("gather_axis", 0) % len(x.shape)
    packed = call.integer("quantize_axis", 1) % len(x.shape)
    dims = [*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]]
    place = packed if packed < axis else packed + len(indices.shape) - 1
    dims[place] = call.unknown_shape(len(dims))[place]
    return [TensorValue(None if scales is None else scales.dtype, tuple(dims))]


def gemm(call: Call) -> Result:
    """Transfer FusedGemm: two matrices that may be transposed, an addend and an activation."""
    a, b = call.known(0), call.known(1)
    if len(a.dims) != 2 or len(b.dims) != 2:
        return None
    row, column = (1 if call.integer("transA", 0) else 0), (0 if call.integer("transB", 0) else 1)
    return [TensorValue(a.dtype, (a.dims[row], b.dims[column]))]


def conv(call: Call) -> Result:
    """Transfer FusedConv: a Conv with an addend and an activation."""
    x = call.input(0)
    found = windows.conv(call)
    if found is not None or x is None or x.shape is None:
        return found
    return [TensorValue(x.dtype, call.unknown_shape(len(x.shape)))]
