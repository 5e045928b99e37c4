"""Output shapes of ONNX Runtime's own quantized operators (``com.microsoft``).

``onnxruntime.quantization`` writes them in its operator-oriented format (QOperator), and for
integers that the model's operator set lacks. Only their shapes are followed, not their contents.
"""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.broadcast_shapes import broadcast_shapes
from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.analysis.operators import broadcasting, joining, windows
from onnx_scatterx.optimizer.symbolic.terms import term


def _dtype(call: Call, *places: int) -> ir.DataType | None:
    """Return the element type of the first of these inputs that is present."""
    found = (call.input(i) for i in places)
    return next((x.dtype for x in found if x is not None), None)


def _shape(call: Call, place: int) -> Shape | None:
    found = call.input(place)
    return None if found is None else found.shape


def quantize(call: Call) -> Result:
    dtype = _dtype(call, 2) or ir.DataType.UINT8
    return [TensorValue(dtype, _shape(call, 0))]


def dequantize(call: Call) -> Result:
    return [TensorValue(_dtype(call, 1), _shape(call, 0))]


def same_shape(call: Call) -> Result:
    return [TensorValue(_dtype(call, 0), _shape(call, 0))]


def add_or_mul(call: Call) -> Result:
    """Transfer QLinearAdd and QLinearMul: each operand has a scale and a zero point."""
    a, b = _shape(call, 0), _shape(call, 3)
    if a is None or b is None:
        return None
    return [TensorValue(_dtype(call, 0), broadcast_shapes([a, b]))]


def where(call: Call) -> Result:
    shapes = [_shape(call, i) for i in (0, 1, 4)]
    known = [s for s in shapes if s is not None]
    if len(known) < len(shapes):
        return None
    return [TensorValue(_dtype(call, 1), broadcast_shapes(known))]


def concat(call: Call) -> Result:
    """Transfer QLinearConcat: scale and zero point of the result, then those of each operand."""
    dtype, parts = _dtype(call, 1, 2), call.inputs[2::3]
    plain = [None if x is None else replace(x, dtype=dtype, content=None) for x in parts]
    return joining.concat(call._replace(inputs=plain))


def conv(call: Call) -> Result:
    found = None
    if not call.integer("channels_last", 0):
        found = windows.conv(call._replace(inputs=[call.input(0), call.input(3)]))
    return _of_rank(call, found, _dtype(call, 7, 0))


def pool(call: Call) -> Result:
    found = None if call.integer("channels_last", 0) else windows.pool(call)
    return _of_rank(call, found, _dtype(call, 0))


def _of_rank(call: Call, found: Result, dtype: ir.DataType | None) -> Result:
    """Return a tensor of the rank of the first input, if no more is known."""
    if found is not None:
        return [replace(found[0], dtype=dtype)]
    shape = _shape(call, 0)
    unknown = None if shape is None else call.unknown_shape(len(shape))
    return [TensorValue(dtype, unknown)]


def global_pool(call: Call) -> Result:
    shape = _shape(call, 0)
    if shape is None or len(shape) < 3:
        return None
    ones = (term(1),) * (len(shape) - 2)
    last = call.integer("channels_last", 0)
    dims = (shape[0], *ones, shape[-1]) if last else (*shape[:2], *ones)
    return [TensorValue(_dtype(call, 0), dims)]


def gemm(call: Call) -> Result:
    """Transfer QGemm, whose result is float unless it has an output scale."""
    a, b = _shape(call, 0), _shape(call, 3)
    if a is None or b is None or len(a) != 2 or len(b) != 2:
        return None
    row, column = (1 if call.integer("transA", 0) else 0), (0 if call.integer("transB", 0) else 1)
    dtype = ir.DataType.FLOAT if call.input(7) is None else _dtype(call, 8, 0)
    return [TensorValue(dtype, (a[row], b[column]))]


def matmul(call: Call) -> Result:
    """Transfer products with float results: DynamicQuantizeMatMul, MatMulIntegerToFloat."""
    found = broadcasting.matmul(call._replace(inputs=[call.input(0), call.input(1)]))
    return None if found is None else [replace(found[0], dtype=ir.DataType.FLOAT)]


def matmul_of_bits(call: Call) -> Result:
    """Transfer MatMulNBits: its second matrix is packed, and an attribute says how wide it is."""
    shape, columns = _shape(call, 0), call.attribute("N")
    if not shape or columns is None:
        return None
    return [TensorValue(_dtype(call, 0), (*shape[:-1], term(columns.as_int())))]
