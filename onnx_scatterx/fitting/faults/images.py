"""Norms of several images, for a compiler that takes another axis for the images.

    norm_of_images    BatchNormalization(x, s, b, m, v)   =   x * f + (b - m * f)
                      f is s / sqrt(v + epsilon)
    norm_of_images    InstanceNormalization(x[n, c, ...], s, b)
                          =   Reshape(InstanceNormalization(Reshape(x, [1, n * c, ...]), s', b'))
                      s' and b' are n times s and b

if a Reshape makes the axis n. MEASURED: ONNX Runtime computes the same bits, with its default
options and without optimizations.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.fitting.faults.convs import are_made
from onnx_scatterx.graphs import attribute_of, constant

_FLOAT = ir.DataType.FLOAT
_LARGEST = 1 << 20  # elements of the weights that are repeated
_BEHIND = {"BatchNormalization": 4, "InstanceNormalization": 2}  # constants behind the data


def norm_of_images(at: Candidate) -> bool:
    """Write a norm of several images so that it does not depend on which axis they are."""
    _, node, scope, _, _ = at
    if any(a.is_ref() for a in node.attributes.values()):
        return False
    x, tensors = node.inputs[0], [constant(v, scope.overridable) for v in node.inputs[1:]]
    weights = [tensor.numpy() for tensor in tensors if tensor is not None]
    if x is None or len(weights) != _BEHIND[node.op_type] or len(node.outputs) != 1:
        return False
    shape, kinds = scope.of(x).static_shape, {array.dtype for array in weights}
    if scope.of(x).dtype != _FLOAT or kinds != {np.dtype(np.float32)} or not shape:
        return False
    if len(shape) < 2 or 0 in shape or shape[0] == 1 or not are_made(x, scope):
        return False
    if attribute_of(node, "training_mode", 0):
        return False
    epsilon = attribute_of(node, "epsilon", 1e-5)
    if node.op_type == "BatchNormalization":
        return _as_line(at, x, weights, np.float32(epsilon), len(shape))
    return _as_one_image(at, x, weights, shape, epsilon)


def _as_line(
    at: Candidate, x: ir.Value, weights: list[np.ndarray], epsilon: np.float32, rank: int
) -> bool:
    """Write a product and a sum, with the factors that ONNX Runtime computes."""
    w = at.writer
    scale, bias, mean, variance = weights
    with np.errstate(all="ignore"):
        factor = np.float32(1) / np.sqrt(variance + epsilon) * scale
        added = bias - mean * factor
    both = [np.reshape(array, [-1, *[1] * (rank - 2)]) for array in (factor, added)]

    def write() -> ir.Value:
        product = w.node("Mul", [x, w.constant(both[0], _FLOAT)], _FLOAT)
        return w.node("Add", [product, w.constant(both[1], _FLOAT)], _FLOAT)

    return at.replace(at.node.outputs[0], write)


def _as_one_image(
    at: Candidate, x: ir.Value, weights: list[np.ndarray], shape: tuple[int, ...], epsilon: float
) -> bool:
    """Write a norm of one image that has the channels of all."""
    w, (count, channels, *sizes) = at.writer, shape
    if count * channels > _LARGEST:
        return False

    def write() -> ir.Value:
        one = w.node("Reshape", [x, w.constant([1, count * channels, *sizes])], _FLOAT)
        many = [w.constant(np.tile(array, count), _FLOAT) for array in weights]
        y = w.node("InstanceNormalization", [one, *many], _FLOAT, epsilon=epsilon)
        return w.node("Reshape", [y, w.constant([*shape])], _FLOAT)

    return at.replace(at.node.outputs[0], write)
