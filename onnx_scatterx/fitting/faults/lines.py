"""Convs along one long axis, as those that read audio.

    short_lines    Conv(x, w)   =   Concat(Conv(x[..., :n], w), Conv(x[..., m:m + n], w), ...)
                   if the step is not a power of two, the kernel is longer than the step, there
                   are at most 6 channels, and the axis has more than 2^15 elements

Each part gives the elements of its window, and the parts of x overlap. MEASURED: ONNX Runtime
computes the same bits, also under its default options, if a part gives whole blocks of 16 elements.
"""

from __future__ import annotations

from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of

_LONG = 1 << 15  # elements along the axis
_CHANNELS = 6
_BLOCK = 16


class _Line(NamedTuple):
    """A Conv along one axis: its lengths, and which elements each of its windows has."""

    length: int
    result: int
    step: int
    window: int


def short_lines(at: Candidate) -> bool:
    """Write a Conv along a long axis in parts."""
    w, node = at.writer, at.node
    line = _line(at)
    if line is None:
        return False
    x, *weights = node.inputs
    kind = w.dtype_of(required(x))
    count = ((_LONG - line.window) // line.step + 1) // _BLOCK * _BLOCK
    if not count:
        return False
    attributes = {name: a.value for name, a in node.attributes.items()}

    def write() -> ir.Value:
        parts = []
        for first in range(0, line.result, count):
            last = min(first + count, line.result)
            start, end = first * line.step, (last - 1) * line.step + line.window
            part = w.slice(required(x), required(kind), [2], [start], [end], [1])
            parts.append(w.node("Conv", [part, *weights], kind, **attributes))
        return w.concat(parts, required(kind), 2)

    return at.replace(node.outputs[0], write)


def has_odd_step(node: ir.Node) -> bool:
    """Return whether a Conv has one axis, and its step is not a power of two."""
    steps: list[int] = [*(attribute_of(node, "strides", None) or [])]
    return len(steps) == 1 and steps[0] & (steps[0] - 1) != 0


def _line(at: Candidate) -> _Line | None:
    """Return a Conv of the pattern."""
    node, scope = at.node, at.scope
    if not has_odd_step(node) or any(a.is_ref() for a in node.attributes.values()):
        return None
    data, weights, result = (
        scope.of(required(v)).static_shape
        for v in (node.inputs[0], node.inputs[1], node.outputs[0])
    )
    if scope.of(node.outputs[0]).dtype != ir.DataType.FLOAT:
        return None
    if data is None or weights is None or result is None:
        return None
    step, kernel = required(attribute_of(node, "strides", None))[0], weights[2]
    window = (kernel - 1) * (attribute_of(node, "dilations", None) or [1])[0] + 1
    is_whole = result[2] == (data[2] - window) // step + 1  # nothing is added at the ends
    if any(attribute_of(node, "pads", None) or ()) or not is_whole:
        return None
    is_few = data[1] <= _CHANNELS and attribute_of(node, "group", 1) == 1
    if not is_few or kernel <= step or data[2] <= _LONG or 0 in result:
        return None
    return _Line(data[2], result[2], step, window)
