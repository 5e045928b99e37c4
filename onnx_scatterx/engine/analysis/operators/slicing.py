"""The transfer function of Slice, as ONNX Runtime clamps its ends, and of windows that slide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onnx_scatterx.engine.analysis.domain.call import (
    Call,
    NotKnownError,
    Result,
    require,
    required,
)
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.analysis.operators.movement import moved, wrapped
from onnx_scatterx.engine.budget import AXIS_LIMIT
from onnx_scatterx.engine.terms import Facts, Number, Term, coord, maximum, minimum, term


class Cut(NamedTuple):
    """What a Slice takes of one axis."""

    axis: int
    start: Term
    end: Term
    step: int

    def bounds(self, extent: Term) -> tuple[Term, Term]:
        """Return (first, count) on an axis of this extent: negative ends wrapped, then clamped.

        ``first`` is exact if ``count`` is not 0.
        """
        return _bounds(self.start, self.end, self.step, extent)


def _bounds(start: Term, end: Term, stride: int, extent: Term) -> tuple[Term, Term]:
    # A start or an end far before the axis is clamped to its begin.
    first = wrapped(start, extent) if (start.constant or 0) > -AXIS_LIMIT else term(0)
    open_end = (end.constant or 0) >= AXIS_LIMIT
    if stride > 0:
        first = maximum(first, 0)
        last = extent if open_end else minimum(wrapped(end, extent), extent)
        if (end.constant or 0) <= -AXIS_LIMIT:
            last = term(0)
        return first, maximum((last - first + stride - 1) // stride, 0)
    if (start.constant or 0) >= AXIS_LIMIT:
        first = extent - 1
    # Unlike NumPy: a start before the axis is clamped into it (unless the axis is empty).
    first = maximum(minimum(first, extent - 1), 0)
    # Also unlike NumPy: the largest ends mean "up to the edge", which is the first element.
    to_edge = end.constant in (2**31 - 1, 2**63 - 1) or (end.constant or 0) <= -AXIS_LIMIT
    last = term(-1) if to_edge else maximum(wrapped(end, extent), -1)
    return first, minimum(maximum((first - last - stride - 1) // -stride, 0), extent)


def _may_be_edge(end: Term, facts: Facts) -> bool:
    """Return whether an end that is known only at run time may be one of the largest numbers."""
    return end.constant is None and facts.magnitude(end) > AXIS_LIMIT // 2


def cuts_of(call: Call) -> list[Cut]:
    """Return what a Slice takes of every axis that it cuts, or raise NotKnownError."""
    rank = len(call.known(0).dims)
    if call.version < 10:
        starts = [term(i) for i in call.integers("starts") or []]
        ends = [term(i) for i in call.integers("ends") or []]
        axes = call.integers("axes") or list(range(len(starts)))
        steps = [1] * len(starts)
    else:
        starts, ends = call.vector(1), call.vector(2)
        axes = list(range(len(starts)))
        steps = [1] * len(starts)
        for i, into in ((3, axes), (4, steps)):
            tensor = call.input(i)
            if tensor is not None:
                into[:] = [int(v) for v in required(tensor.constant).ravel().tolist()]
    # The largest numbers have a meaning of their own.
    edges = (k < 0 and _may_be_edge(e, call.facts) for e, k in zip(ends, steps, strict=False))
    require(not any(edges), len(starts) == len(ends) == len(axes) == len(steps), 0 not in steps)
    return [Cut(a % rank, s, e, k) for a, s, e, k in zip(axes, starts, ends, steps, strict=True)]


def slice_(call: Call) -> Result:
    x = call.known(0)
    try:
        cuts = cuts_of(call)
    except NotKnownError:
        named = call.input(3)
        axes = range(len(x.dims)) if named is None else required(named.constant)
        named_axes = {int(a) % len(x.dims) for a in np.ravel(np.asarray(axes))}
        sizes = call.unknown_shape(len(x.dims))
        dims = (s if d in named_axes else x.dims[d] for d, s in enumerate(sizes))
        return [TensorValue(x.dtype, tuple(dims))]
    shape, coords = list(x.dims), dict[int, Number]()
    firsts: dict[int, Term] = {}
    for cut in cuts:
        axis = cut.axis
        firsts[axis], shape[axis] = cut.bounds(x.dims[axis])
        coords[axis] = firsts[axis] + cut.step * coord(axis)

    def array(a: np.ndarray) -> np.ndarray | None:
        for axis, _, _, stride in cuts:
            first, count = firsts[axis].constant, shape[axis].constant
            if first is None or count is None:
                return None
            a = a.take(range(first, first + stride * count, stride), axis=axis)
        return a

    return moved(x, tuple(shape), coords, array)


def _windows(call: Call, extents: Shape, kernel: Sequence[Term]) -> tuple[Term, ...]:
    """Return ``(extent + pads - dilation (kernel - 1) - 1) / stride + 1`` for each axis.

    The quotient is rounded down if it is not negative, as it always is for Conv, and towards zero
    in ONNX Runtime's pools. With ``ceil_mode`` it is rounded up, if the sizes are known, and if the
    last window begins in the data: else versions of ONNX Runtime differ.
    """
    room = _room(call, extents, kernel)
    strides = call.integers("strides") or [1] * len(room)
    require(len(strides) == len(room), min(strides, default=1) >= 1)
    if call.integer("ceil_mode", 0):
        require(call.node.op_type in ("AveragePool", "MaxPool"))
        require(call.string("auto_pad", "NOTSET") == "NOTSET")
        before = call.integers("pads") or [0] * len(room)
        known = [
            (required(r.constant), required(e.constant)) for r, e in zip(room, extents, strict=True)
        ]
        counts = [-(-r // s) for (r, _), s in zip(known, strides, strict=True)]
        for count, stride, (r, extent), pad in zip(
            counts, strides, known, before[: len(room)], strict=True
        ):
            require(r >= 0, count * stride < extent + pad)
        return tuple(term(count + 1) for count in counts)
    if call.node.op_type in ("Conv", "FusedConv", "QLinearConv"):
        return tuple(r // s + 1 for r, s in zip(room, strides, strict=True))
    return tuple(_truncated(r, s, call.facts) + 1 for r, s in zip(room, strides, strict=True))


def _room(call: Call, extents: Shape, kernel: Sequence[Term]) -> list[Term]:
    """Return ``extent + pads - dilation (kernel - 1) - 1``: how far the window slides."""
    n, padded = len(extents), call.string("auto_pad", "NOTSET")
    require(padded in ("NOTSET", "VALID"))
    pads = None if padded == "VALID" else call.integers("pads")
    pads = pads or [0] * (2 * n)
    dilations = call.integers("dilations") or [1] * n
    require(len(kernel) == n, len(pads) == 2 * n, len(dilations) == n)
    return [
        e + pads[i] + pads[i + n] - dilations[i] * (kernel[i] - 1) - 1
        for i, e in enumerate(extents)
    ]


def _truncated(room: Term, stride: int, facts: Facts) -> Term:
    if stride == 1 or facts.is_nonnegative(room):
        return room // stride
    return maximum(room // stride, 0) - maximum(-room // stride, 0)


def room_of_conv(call: Call) -> list[Term]:
    """Return terms that are not negative if a convolution runs: ONNX Runtime checks them."""
    return _room(call, call.known(0, 3).dims[2:], call.known(1).dims[2:])


def conv(call: Call) -> list[TensorValue]:
    x, weight = call.known(0, 3), call.known(1).dims
    windows = _windows(call, x.dims[2:], weight[2:])
    return [TensorValue(x.dtype, (x.dims[0], weight[0], *windows))]


def pool(call: Call) -> list[TensorValue]:
    x, kernel = call.known(0), required(call.integers("kernel_shape"))
    require(len(call.node.outputs) == 1)
    windows = _windows(call, x.dims[2:], [term(k) for k in kernel])
    return [TensorValue(x.dtype, (*x.dims[:2], *windows))]
