"""Transfer function of Pad: its shape; its elements are not followed."""

from __future__ import annotations

from onnx_scatterx.optimizer.analysis.domain.call import Call, Result
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.terms import term


def pad(call: Call) -> Result:
    """Transfer the shape of a Pad whose contents are not followed."""
    x = call.known(0)
    if call.version < 11:
        amounts = [term(i) for i in call.integers("pads") or []]
    else:
        given = call.input(1)
        vector = None if given is None else given.vector()
        if vector is None:
            return [TensorValue(x.dtype, call.unknown_shape(len(x.dims)))]
        amounts = vector
    axes = list(range(len(x.dims)))
    given = call.input(3) if call.version >= 18 else None
    if given is not None:
        if given.constant is None:
            return [TensorValue(x.dtype, call.unknown_shape(len(x.dims)))]
        axes = [int(a) % len(x.dims) for a in given.constant.ravel()]
    result = list(x.dims)
    for i, axis in enumerate(axes):
        result[axis] = result[axis] + amounts[i] + amounts[i + len(axes)]
    return [TensorValue(x.dtype, tuple(result))]
