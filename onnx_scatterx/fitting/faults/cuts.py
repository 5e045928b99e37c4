"""Slices behind the Reshape of a Conv, and Slices that a Concat joins.

    slice_before_reshape    Slice(Reshape(Conv(x)))   =   Reshape(Slice(Conv(x)))
    slices_without_steps    Concat(Slice(x, a, b, axis, 1), Slice(x, c, d, axis, 1))
                        =   Concat(Slice(x, a, b, axis), Slice(x, c, d, axis))

The first is written if the Reshape only adds or removes axes of one element, for several Slices, or
for a Split.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, constant, is_operator


def slice_before_reshape(at: Candidate) -> bool:
    """Cut what a Reshape reads, if only Slices and Splits read the Reshape of a Conv."""
    w, reshape, scope, _, _ = at
    slices = _slices_of(reshape)
    (x, whole) = (reshape.inputs[0], reshape.outputs[0]) if slices else (None, None)
    if x is None or whole is None or not is_operator(x.producer(), ("Conv",)):
        return False
    shapes = [scope.of(v).static_shape or () for v in (x, whole)]  # no axis of an unknown one
    before, after = (list(_kept(shape)) for shape in shapes)
    if [n for _, n in before] != [n for _, n in after]:
        return False
    moved = dict(zip((d for d, _ in after), (d for d, _ in before), strict=True))
    modified = False
    for value, bounds in [cut for node in slices for cut in _cuts(node, scope)]:
        shape, places = scope.of(value).static_shape, [moved.get(axis) for axis in bounds[2]]
        if shape is None or None in places:
            continue
        own = [*bounds[:2], [place for place in places if place is not None]]

        def write(
            x: ir.Value = x, bounds: list[list[int]] = own, shape: tuple[int, ...] = shape
        ) -> ir.Value:
            dtype = w.dtype_of(x)
            cut = w.node("Slice", [x, *(w.constant(numbers) for numbers in bounds)], dtype)
            return w.node("Reshape", [cut, w.constant(list(shape))], dtype)

        modified |= at.replace(value, write)
    return modified


def _cuts(node: ir.Node, scope: Scope) -> Iterator[tuple[ir.Value, list[list[int]]]]:
    """Yield what a Slice or a Split makes, each with the starts, ends and axes of a Slice."""
    rank = scope.of(required(node.inputs[0])).rank or 0
    sizes = [scope.of(value).static_shape for value in node.outputs]
    if not rank or None in sizes:
        return
    if node.op_type == "Split":
        axis, start = attribute_of(node, "axis", 0) % rank, 0
        for value, shape in zip(node.outputs, sizes, strict=True):
            end = start + required(shape)[axis]
            yield value, [[start], [end], [axis]]
            start = end
        return
    operands = [constant(v, scope.overridable) for v in node.inputs[1:]]
    bounds = [t.numpy().ravel().tolist() for t in operands if t is not None]
    starts, ends, axes, steps = [*bounds, [1]][:4] if len(bounds) > 2 else ([], [], [], [])
    if len(bounds) == len(operands) and set(steps) == {1}:
        yield node.outputs[0], [starts, ends, [axis % rank for axis in axes]]


def _slices_of(reshape: ir.Node) -> list[ir.Node]:
    """Return the Slices of what a Reshape makes, or its Split: two parts, and no other reader."""
    if reshape.outputs[0].is_graph_output():
        return []
    readers = list(dict.fromkeys(use.node for use in reshape.outputs[0].uses()))
    plain = all(is_operator(node, ("Slice", "Split")) for node in readers)
    return readers if plain and sum(len(node.outputs) for node in readers) > 1 else []


def _kept(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the axes of more than one element, with their sizes."""
    return ((d, n) for d, n in enumerate(shape) if n != 1)


def slices_without_steps(at: Candidate) -> bool:
    """Leave out the steps of two Slices of one tensor that a Concat joins, if all are 1."""
    concat, scope = at.node, at.scope
    if len(concat.inputs) != 2:
        return False
    slices = [None if v is None else v.producer() for v in concat.inputs]
    if not all(is_operator(node, ("Slice",)) for node in slices):
        return False
    modified = False
    for node in slices:
        steps = None if node is None or len(node.inputs) < 5 else node.inputs[4]
        tensor = constant(steps, scope.overridable)
        if node is not None and tensor is not None and (tensor.numpy() == 1).all():
            node.resize_inputs(4)
            modified = True
    return modified
