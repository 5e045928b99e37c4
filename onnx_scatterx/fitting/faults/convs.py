"""Depthwise Convs: a kernel for each channel.

    images_as_channels    Conv(x[n, c, ...], w)   =   Reshape(Conv(Reshape(x, [1, n * c, ...]), w'))
                          w' is n times w; if a Reshape makes the axis n
    few_channels          Conv(x, w)              =   Concat(Conv(x[:, :32], w[:32]), ...)
                          if the kernel is 3 x 3, with steps of 4 and more than 32 channels

Each channel is computed alone, by the same products. MEASURED: ONNX Runtime computes the same bits,
also under its default options, if the channels are a multiple of 16; it computes others by another
kernel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, constant, perm_of
from onnx_scatterx.operators import described

_BLOCK = 16  # ONNX Runtime computes 8 or 16 channels together
_FEW = 32
_LARGEST = 1 << 20  # elements of the weights that are repeated
_MOST = 256  # tensors between the Reshape and the Conv


class _Depthwise(NamedTuple):
    """A Conv with a kernel for each channel, and constant weights (and bias)."""

    x: ir.Value
    weights: list[np.ndarray]
    shape: tuple[int, ...]
    result: tuple[int, ...]
    attributes: dict[str, Any]

    def write(self, w: Writer, x: ir.Value, weights: list[np.ndarray], group: int) -> ir.Value:
        """Write it with other data, weights and number of channels."""
        operands = [w.constant(np.ascontiguousarray(array), ir.DataType.FLOAT) for array in weights]
        return w.node("Conv", [x, *operands], ir.DataType.FLOAT, **self.attributes, group=group)


def _depthwise(node: ir.Node, scope: Scope) -> _Depthwise | None:
    if any(a.is_ref() for a in node.attributes.values()):
        return None
    x, tensors = node.inputs[0], [constant(v, scope.overridable) for v in node.inputs[1:]]
    weights = [tensor.numpy() for tensor in tensors if tensor is not None]
    if x is None or len(weights) != len(tensors) or scope.of(x).dtype != ir.DataType.FLOAT:
        return None
    shape, result = scope.of(x).static_shape, scope.of(node.outputs[0]).static_shape
    channels = attribute_of(node, "group", 1)
    if shape is None or result is None or 0 in shape or 0 in result:
        return None
    if not channels == shape[1] == result[1] or not has_blocks(node):
        return None
    attributes = {name: a.value for name, a in node.attributes.items() if name != "group"}
    return _Depthwise(x, weights, shape, result, attributes)


def has_blocks(node: ir.Node) -> bool:
    """Return whether the groups of a Conv are whole blocks of channels."""
    return (attribute_of(node, "group", 1) or 1) % _BLOCK == 0


def images_as_channels(at: Candidate) -> bool:
    """Write a Conv of several images as one of more channels."""
    w, node, scope, _, _ = at
    conv = _depthwise(node, scope)
    if conv is None or conv.shape[0] == 1 or not are_made(conv.x, scope):
        return False
    count, channels, *sizes = conv.shape
    if conv.weights[0].size * count > _LARGEST:
        return False

    def write() -> ir.Value:
        shape = w.constant([1, count * channels, *sizes])
        weights = [np.concatenate([array] * count) for array in conv.weights]
        x = w.node("Reshape", [conv.x, shape], ir.DataType.FLOAT)
        y = conv.write(w, x, weights, count * channels)
        return w.node("Reshape", [y, w.constant([*conv.result])], ir.DataType.FLOAT)

    return at.replace(node.outputs[0], write)


def are_made(value: ir.Value, scope: Scope) -> bool:
    """Return whether a Reshape makes the first axis, and no input of the model has it.

    Nodes in between keep it, as Transposes of the other axes do.
    """
    sizes = scope.of(value).static_shape
    stack, seen, made = [value], {value}, False
    while stack:
        node = stack.pop().producer()
        if node is None or node.domain != "" or (perm_of(node) or (0,))[0] != 0:
            return False
        before = [v for v in node.inputs if v is not None and _has_first(v, sizes, scope)]
        made |= described(node).keeps_order and not before
        stack += [v for v in dict.fromkeys(before) if v not in seen]
        seen.update(before)
        if len(seen) > _MOST:
            return False
    return made


def _has_first(value: ir.Value, sizes: tuple[int, ...] | None, scope: Scope) -> bool:
    """Return whether a tensor is computed, and may have this first size."""
    shape = scope.of(value).shape
    if constant(value, scope.overridable) is not None or sizes is None:
        return False
    if shape is None:
        return True
    return len(shape) > 1 and shape[0].constant == sizes[0]


def has_steps(node: ir.Node) -> bool:
    """Return whether the steps of a Conv are those of ``few_channels``."""
    return [*(attribute_of(node, "strides", None) or ())] == [4, 4]


def few_channels(at: Candidate) -> bool:
    """Write a Conv in parts of few channels."""
    w, node, scope, _, _ = at
    conv = _depthwise(node, scope)
    if conv is None or conv.shape[1] <= _FEW or conv.shape[1] % _FEW:
        return False
    if [*conv.weights[0].shape[2:]] != [3, 3] or not has_steps(node):
        return False

    def write() -> ir.Value:
        parts = []
        for first in range(0, conv.shape[1], _FEW):
            last = first + _FEW
            x = w.slice(conv.x, ir.DataType.FLOAT, [1], [first], [last], [1])
            parts.append(conv.write(w, x, [array[first:last] for array in conv.weights], _FEW))
        return w.concat(parts, ir.DataType.FLOAT, 1)

    return at.replace(node.outputs[0], write)
