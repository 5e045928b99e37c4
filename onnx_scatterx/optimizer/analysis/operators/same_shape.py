"""Transfer functions of operators whose numbers are not followed: the shape is that of inputs.

ONNX's own shape inference says the same, but takes a hundred times as long for each node.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.broadcast_shapes import broadcast_shapes
from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue

_SAME_TYPE = """
    Acos Acosh Asin Asinh Atan Atanh Celu Cos Cosh Elu Erf Exp Gelu HardSigmoid HardSwish Hardmax
    InstanceNormalization LRN LayerNormalization LeakyRelu Log LogSoftmax LpNormalization
    MeanVarianceNormalization Mish RMSNormalization Reciprocal Relu Selu Shrink Sigmoid Sin Sinh
    Softmax Softplus Softsign Swish Tan Tanh ThresholdedRelu"""
_TESTS = ("IsInf", "IsNaN")


def same_shape(call: Call) -> Result:
    """Return a tensor of the first input's shape; a second output is left to ONNX."""
    x = call.input(0)
    if x is None or x.shape is None or len(call.node.outputs) != 1:
        return None
    return [TensorValue(ir.DataType.BOOL if call.node.op_type in _TESTS else x.dtype, x.shape)]


def broadcast(call: Call) -> Result:
    """Return a tensor of the first input's type, in the shape of both inputs together.

    ONNX Runtime's PRelu broadcasts x to the slope as well, not only the slope to x.
    """
    first, second = call.known(0), call.known(1)
    return [TensorValue(first.dtype, broadcast_shapes([first.dims, second.dims]))]


OF_SHAPES: dict[str, Callable[[Call], Result]] = {
    **dict.fromkeys((*_SAME_TYPE.split(), *_TESTS), same_shape),
    "Pow": broadcast,
}
"""The operators of this file."""
