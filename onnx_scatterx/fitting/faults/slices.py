"""Slices of one tensor that cut other numbers of axes.

    split_before_slice    Slice(x, [a, c, e], [b, d, f], [1, 2, 3])
                      =   Slice(Split<1>(x, [a, b - a, n - b])[1], [c, e], [d, f], [2, 3])

It is written for a Slice that cuts more axes than another Slice of the same tensor, if that one
cuts two or more. A Slice of a Slice counts as one Slice that cuts the axes of both.
"""

from __future__ import annotations

from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant, is_operator

_SIZES_AS_INPUT = 13  # the operator set from which a Split has its sizes as an input
_MOST = 64  # Slices of one tensor that are looked at


class _Cut(NamedTuple):
    """What a Slice keeps of each axis that it cuts: from the first position to the end."""

    x: ir.Value
    shape: tuple[int, ...]
    kept: dict[int, tuple[int, int]]


def split_before_slice(at: Candidate) -> bool:
    """Cut one axis by a Split, if another Slice of the tensor cuts fewer axes, but several."""
    own = _cut(at.node, at.scope)
    if own is None or not own.kept or at.writer.version < _SIZES_AS_INPUT:
        return False
    if at.writer.dtype_of(own.x) is None:
        return False
    cuts = _cuts(_origin(own.x), at.scope)
    count = len(cuts.get(at.node, ()))
    if not any(1 < len(axes) < count for axes in cuts.values()):
        return False
    (axis, (start, end)), *others = own.kept.items()

    def write() -> ir.Value:
        w = at.writer
        dtype = w.dtype_of(own.x)
        part = _part(w, own.x, [start, end - start, own.shape[axis] - end], axis)
        if not others:
            return part
        bounds = [[a for _, (a, _) in others], [b for _, (_, b) in others], [d for d, _ in others]]
        return w.node("Slice", [part, *map(w.constant, bounds)], dtype)

    return at.replace(at.node.outputs[0], write)


def _part(w: Writer, x: ir.Value, sizes: list[int], axis: int) -> ir.Value:
    """Write a Split into at most three parts, and return the one in the middle."""
    kept = [n for n in sizes if n]
    parts = [ir.Value(type=ir.TensorType(required(w.dtype_of(x)))) for _ in kept]
    inputs, axes = [x, w.constant(kept)], [ir.AttrInt64("axis", axis)]
    w.insert(ir.Node("", "Split", inputs, axes, outputs=parts))
    return parts[1 if sizes[0] else 0]


def _cuts(x: ir.Value, scope: Scope) -> dict[ir.Node, frozenset[int]]:
    """Return the Slices of a tensor, and of its Slices, each with all axes that are cut."""
    stack: list[tuple[ir.Value, frozenset[int]]] = [(x, frozenset())]
    found: dict[ir.Node, frozenset[int]] = {}
    while stack and len(found) < _MOST:
        value, before = stack.pop()
        for node in dict.fromkeys(use.node for use in value.uses()):
            cut = _cut(node, scope) if node.inputs[0] is value else None
            if cut is not None:
                found[node] = before.union(cut.kept)
                stack.append((node.outputs[0], found[node]))
    return found


def _origin(x: ir.Value) -> ir.Value:
    """Return the tensor before all Slices."""
    while (maker := x.producer()) is not None and is_operator(maker, ("Slice",)):
        x = required(maker.inputs[0])
    return x


def _cut(node: ir.Node, scope: Scope) -> _Cut | None:
    """Return what a Slice without steps keeps, if it is known and not empty."""
    x = node.inputs[0] if is_operator(node, ("Slice",)) else None
    shape = None if x is None else scope.of(x).static_shape
    if x is None or shape is None or not 3 < len(node.inputs) < 6:
        return None
    tensors = [constant(v, scope.overridable) for v in node.inputs[1:]]
    numbers = [t.numpy().ravel().tolist() for t in tensors if t is not None]
    if len(numbers) != len(tensors) or any(step != 1 for step in (*numbers, [])[3]):
        return None
    if len({*map(len, numbers[:3])}) > 1 or any(
        not -len(shape) <= d < len(shape) for d in numbers[2]
    ):
        return None  # it cannot run
    kept = {}
    for start, end, axis in zip(*numbers[:3], strict=True):
        size = shape[axis]
        first, behind, _ = slice(start, end).indices(size)
        if first >= behind:
            return None
        if behind - first < size:
            kept[axis % len(shape)] = first, behind
    return _Cut(x, shape, kept)
