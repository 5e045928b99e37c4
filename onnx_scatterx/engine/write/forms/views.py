"""Moves through tensors of more dims than the target takes, as one view of the tensor before them.

    Squeeze(Split(Transpose(Reshape(x[b, n, 3 * h * d], [b, n, 3, h, d])))[1])
        =   Transpose(Reshape(x[:, :, h * d : 2 * h * d], [b, n, h, d]))

The axes of such a tensor are numbers and strides of elements of ``x``. Holds if the sizes are known
numbers, and if the elements are consecutive on each axis of ``x``: then they are a Slice of ``x``.
Axes of ``x`` are joined first if they are one axis of the view.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.merged import RESHAPES
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.operators import described

_MOST = 16  # nodes that are read through


class _View(NamedTuple):
    """Elements of a tensor: the first one, and for each axis a size and a stride."""

    start: int
    sizes: Sequence[int]
    strides: Sequence[int]

    @classmethod
    def of(cls, shape: Sequence[int]) -> _View:
        """Return all elements of a tensor."""
        return cls(0, shape, [math.prod(shape[d + 1 :]) for d in range(len(shape))])

    def cut(self, axis: int, start: int, size: int) -> _View:
        """Return consecutive elements on one axis."""
        sizes = [*self.sizes[:axis], size, *self.sizes[axis + 1 :]]
        return _View(self.start + start * self.strides[axis], sizes, self.strides)

    def rows(self, axis: int, at: np.ndarray) -> _View:
        """Return consecutive elements on one axis, which become as many axes as the positions."""
        require(at.size, (np.diff(at.ravel()) == 1).all())
        stride = self.strides[axis]
        near = [stride * n for n in _View.of(at.shape).strides]
        sizes = [*self.sizes[:axis], *at.shape, *self.sizes[axis + 1 :]]
        strides = [*self.strides[:axis], *near, *self.strides[axis + 1 :]]
        return _View(self.start + int(at.min()) * stride, sizes, strides)

    def permuted(self, order: Sequence[int]) -> _View:
        """Return the axes in another order."""
        return _View(self.start, [self.sizes[d] for d in order], [self.strides[d] for d in order])

    def reshaped(self, shape: Sequence[int]) -> _View:
        """Return the same elements in another shape: axes are split, or merged if they may be."""
        axes = [(n, s) for n, s in zip(self.sizes, self.strides, strict=True) if n != 1]
        strides = []
        for size in reversed(shape):
            if size == 1:
                strides.append(0)
                continue
            require(axes)
            while axes[-1][0] % size:  # it takes the axis before, too
                require(len(axes) > 1)
                (outer, far), (inner, near) = axes[-2:]
                require(far == inner * near)
                axes[-2:] = [(outer * inner, near)]
            number, stride = axes.pop()
            strides.append(stride)
            if number != size:
                axes.append((number // size, stride * size))
        require(not axes)
        return _View(self.start, shape, strides[::-1])


def inferred(request: Request) -> ir.Value:
    """Let a Reshape find the one size that is not known, as -1, from the number of elements."""
    w, sizes = request.writer, required(request.known_of(1).vector())
    known = [-1 if size.constant is None else size.constant for size in sizes]
    require(known.count(-1) == 1, all(n > 0 or n == -1 for n in known))
    require(all(size.constant != -1 for size in sizes))
    inputs = [request.input(0), w.constant([int(n) for n in known])]
    return w.spelled_node("Reshape", inputs, request.dtype, **request.attributes)


def view(request: Request) -> ir.Value:
    """Write the result as a Transpose of a Reshape of a Slice of a tensor of fewer dims."""
    most, w, result = request.most_dims, request.writer, request.sizes
    require(
        len(result) <= most or (request.op in RESHAPES and sum(n != 1 for n in result) <= most),
        0 not in result,
        request.kind,
        request.op
        in ("Gather", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze", "Flatten"),
    )
    node = w.graph.insertion_point
    require(node.op_type == request.op and node.domain == "")
    chain, x = [(node, node.outputs[0])], required(node.inputs[0])
    while required(request.of(x).rank) > most:
        maker = required(x.producer())
        require(len(chain) < _MOST, maker.domain == "")
        chain.append((maker, x))
        x = required(maker.inputs[0])
    shape = required(request.of(x).static_shape)
    require(0 not in shape)
    found = _View.of(shape)
    for maker, value in reversed(chain):
        found = _moved(request, found, maker, value)
    require(tuple(found.sizes) == tuple(result))
    return _written(request, x, shape, found)


def _moved(request: Request, view: _View, node: ir.Node, value: ir.Value) -> _View:
    """Return the view that a node makes of a view."""
    w, op = request.writer, node.op_type
    if described(node).keeps_order:
        own = request.sizes if value is w.graph.insertion_point.outputs[0] else None
        return view.reshaped(own or required(request.of(value).static_shape))
    if op == "Transpose":
        perm = node.attributes.get("perm")
        return view.permuted(range(len(view.sizes))[::-1] if perm is None else perm.as_ints())
    constants = [None if v is None else request.of(v).constant for v in node.inputs[1:]]
    if op == "Gather":
        axis, at = _axis(node, view), required(constants[0])
        return view.rows(axis, np.where(at < 0, at + view.sizes[axis], at))
    if op == "Split":
        axis, before = _axis(node, view), 0
        for output in node.outputs:
            size = required(request.of(output).static_shape)[axis]
            if output is value:
                return view.cut(axis, before, size)
            before += size
    require(op == "Slice", w.version >= 10, all(c is not None for c in constants))
    starts, ends = ([int(n) for n in required(c)] for c in constants[:2])
    named = required(constants[2]) if len(constants) > 2 else np.arange(len(starts))
    axes = [int(n) for n in named]
    require(len(constants) < 4 or (required(constants[3]) == 1).all())
    for d, start, end in zip(axes, starts, ends, strict=True):
        axis = d % len(view.sizes)
        size = view.sizes[axis]
        first, last, _ = slice(start, end).indices(size)
        require(first < last)
        view = view.cut(axis, first, last - first)
    return view


def _axis(node: ir.Node, view: _View) -> int:
    attribute = node.attributes.get("axis")
    return 0 if attribute is None else attribute.as_int() % len(view.sizes)


def _joined(shape: Sequence[int], view: _View) -> list[int]:
    """Return a shape in which all axes that one axis of a view covers are one axis."""
    sizes = [*shape]
    for number, stride in zip(view.sizes, view.strides, strict=True):
        while number != 1:
            strides = _View.of(sizes).strides
            ends = zip(strides, sizes, strict=True)
            axis = next((d for d, (s, n) in enumerate(ends) if s <= stride < s * n), 0)
            if axis == 0 or stride * number <= strides[axis] * sizes[axis]:
                break
            sizes[axis - 1 : axis + 1] = [sizes[axis - 1] * sizes[axis]]
    return sizes


def _written(request: Request, x: ir.Value, shape: Sequence[int], view: _View) -> ir.Value:
    """Write a view: on each axis of the tensor, its axes cover consecutive elements."""
    w, joined, result = request.writer, _joined(shape, view), request.sizes
    whole = _View.of(joined)
    if joined != [*shape]:
        x = request.reshape(x, joined)
    inner = [d for d, n in enumerate(view.sizes) if n != 1]
    ordered: list[int] = []
    left, start = list(inner), view.start
    for axis, (size, stride) in enumerate(zip(whole.sizes, whole.strides, strict=True)):
        first, start = divmod(start, stride)
        ours = [d for d in left if stride <= view.strides[d] < stride * size]
        ours.sort(key=lambda d: -view.strides[d])
        next_stride = stride
        for d in reversed(ours):
            require(view.strides[d] == next_stride)
            next_stride *= view.sizes[d]
        length = next_stride // stride
        require(first + length <= size)
        ordered += ours
        left = [d for d in left if d not in ours]
        if (first, length) != (0, size):
            require(request.takes("Slice"))
            x = request.cut(x, axis, first, first + length)
    require(not left, request.takes("Reshape"), len(ordered) <= request.most_dims)
    split = [view.sizes[d] for d in ordered]
    order = sorted(range(len(ordered)), key=lambda i: ordered[i])
    if order == list(range(len(order))):
        return request.reshape(x, result)
    x = w.node("Transpose", [request.reshape(x, split)], request.dtype, perm=order)
    moved = [split[i] for i in order]
    return x if tuple(moved) == tuple(result) else request.reshape(x, result)
