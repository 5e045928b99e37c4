"""Output shapes of operators that slide a window, for symbolic sizes."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_scatterx.optimizer.analysis.domain.call import Call
from onnx_scatterx.optimizer.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term, floor_div, pos, term


def _windows(call: Call, extents: Shape, kernel: Sequence[Term]) -> tuple[Term, ...] | None:
    """Return ``(extent + pads - dilation (kernel - 1) - 1) / stride + 1`` for each axis.

    The quotient is rounded down if it is not negative, as it always is for Conv, and towards zero
    in ONNX Runtime's pools.
    """
    room = None if call.integer("ceil_mode", 0) else _room(call, extents, kernel)
    if room is None:
        return None
    strides = call.integers("strides") or [1] * len(room)
    if len(strides) != len(room) or min(strides, default=1) < 1:
        return None
    if call.node.op_type in ("Conv", "FusedConv", "QLinearConv"):
        return tuple(floor_div(r, s) + 1 for r, s in zip(room, strides, strict=True))
    return tuple(_truncated(r, s, call.facts) + 1 for r, s in zip(room, strides, strict=True))


def _room(call: Call, extents: Shape, kernel: Sequence[Term]) -> list[Term] | None:
    """Return ``extent + pads - dilation (kernel - 1) - 1``: how far the window slides."""
    if call.string("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return None
    n = len(extents)
    valid = call.string("auto_pad", "NOTSET") == "VALID"
    pads = None if valid else call.integers("pads")
    pads = pads or [0] * (2 * n)
    dilations = call.integers("dilations") or [1] * n
    if len(kernel) != n or len(pads) != 2 * n or len(dilations) != n:
        return None
    return [
        e + pads[i] + pads[i + n] - dilations[i] * (kernel[i] - 1) - 1
        for i, e in enumerate(extents)
    ]


def _truncated(room: Term, stride: int, facts: Facts) -> Term:
    if stride == 1 or facts.is_nonnegative(room):
        return floor_div(room, stride)
    return pos(floor_div(room, stride)) - pos(floor_div(-room, stride))


def room_of_conv(call: Call) -> list[Term]:
    """Return terms that are not negative if a convolution runs: ONNX Runtime checks them."""
    x, weight = call.input(0), call.input(1)
    if x is None or weight is None or x.shape is None or weight.shape is None or len(x.shape) < 3:
        return []
    return _room(call, x.shape[2:], weight.shape[2:]) or []


def conv(call: Call) -> list[TensorValue] | None:
    x, weight = call.inputs[0], call.inputs[1]
    if x is None or weight is None or x.shape is None or weight.shape is None or len(x.shape) < 3:
        return None
    found = _windows(call, x.shape[2:], weight.shape[2:])
    return None if found is None else [TensorValue(x.dtype, (x.shape[0], weight.shape[0], *found))]


def pool(call: Call) -> list[TensorValue] | None:
    x, kernel = call.inputs[0], call.integers("kernel_shape")
    if x is None or x.shape is None or kernel is None or len(call.node.outputs) > 1:
        return None
    found = _windows(call, x.shape[2:], [term(k) for k in kernel])
    return None if found is None else [TensorValue(x.dtype, (*x.shape[:2], *found))]
