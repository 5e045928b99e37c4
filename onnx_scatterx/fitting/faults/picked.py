"""Channels of a Conv of groups that are picked, or put in another order.

    leaky_relu_of_groups    Gather<1>(Conv(x, w), i)   =   Gather<1>(LeakyRelu<1>(Conv(x, w)), i)
                            the same for Slices and Splits that a Concat joins, for a Transpose
                            between Reshapes, and behind sums, products with constants and moves

The compiler picks the weights in place of the channels, as if all kernels read all channels. It
makes a Conv of groups of a mean of images, too. A LeakyRelu with a slope of 1 changes nothing.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, is_operator

_MEANS = ("GlobalAveragePool", "ReduceMean")
OPERATORS = ("Conv", *_MEANS)
_PICKS = ("Gather", "Slice", "Split", "Transpose")
_SCALES = ("Mul", "Div", "Sub")
_MOVES = ("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity")
_THROUGH = ("Add", "BatchNormalization", "Neg", *_MOVES)
_MOST = 32  # values between a Conv and what picks its channels
_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16)


def leaky_relu_of_groups(at: Candidate) -> bool:
    """Put a LeakyRelu behind a Conv of groups, or a mean, if its channels are picked."""
    w, node, value = at.writer, at.node, at.node.outputs[0]
    kind, attributes = w.dtype_of(value), {name: a.value for name, a in node.attributes.items()}
    if kind not in _FLOATS or not has_groups(node) or at.constants.is_constant(value):
        return False
    if not all(map(at.constants.is_constant, filter(None, node.inputs[1:]))):
        return False  # the compiler picks no weights that are computed
    if node.op_type == "ReduceMean" and at.scope.of(value).rank not in (2, 4):
        return False  # no mean of images
    if not _are_picked(value, at.constants):
        return False

    def write() -> ir.Value:
        y = w.node(node.op_type, [*node.inputs], kind, **attributes)
        return w.node("LeakyRelu", [y], kind, alpha=1.0)

    return at.replace(value, write)


def has_groups(node: ir.Node) -> bool:
    """Return whether a node is a mean, or a Conv whose kernels do not read all channels."""
    return is_operator(node, _MEANS) or attribute_of(node, "group", 1) != 1


def _are_picked(value: ir.Value, constants: TakenOut) -> bool:
    """Return whether some channels of a value, or all in another order, are read by a node."""
    stack, seen = [(value, False)], {value}
    while stack and len(seen) < _MOST:
        x, reshaped = stack.pop()
        for node, place in x.uses():
            if place == 0 and is_operator(node, _PICKS) and _picks(node, constants, reshaped):
                return True
            others = [v for v in node.inputs if v is not None and v is not x]
            is_scale = is_operator(node, _SCALES) and all(map(constants.is_constant, others))
            if (is_scale or is_operator(node, _THROUGH)) and node.outputs[0] not in seen:
                seen.add(node.outputs[0])
                stack.append((node.outputs[0], reshaped or is_operator(node, ("Reshape",))))
    return False


def _picks(node: ir.Node, constants: TakenOut, reshaped: bool) -> bool:
    """Return whether a node reads some channels; a cut does if it is joined, or if it is reshaped.

    A Transpose does between two Reshapes.
    """
    if node.op_type == "Gather":
        return constants.is_constant(required(node.inputs[1]))
    readers = [reader for value in node.outputs for reader, _ in value.uses()]
    if node.op_type == "Transpose":
        return reshaped and any(is_operator(reader, ("Reshape",)) for reader in readers)
    return reshaped or any(is_operator(reader, ("Concat",)) for reader in readers)
