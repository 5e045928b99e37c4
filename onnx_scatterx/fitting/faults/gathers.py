"""Gathers of one tensor: only one of them stays a Gather.

    elements_of_gathers    Gather(x, i)   =   Reshape(GatherElements(x, j))
                           j is i, repeated along all other axes of x

It is written if the indices are computed: a compiler that knows constants compares them. What a
Gather checks of its indices, a GatherElements checks, too.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import attribute_of, is_operator, reached
from onnx_scatterx.operators import described


def elements_of_gathers(at: Candidate) -> bool:
    """Write a Gather of computed indices otherwise, if another one of the same tensor is left."""
    found = _tensor(at, at.node)
    if found is None or at.constants.is_constant(required(at.node.inputs[1])):
        return False
    others = [other for other in _gathers(found[0]) if other.graph is at.node.graph]
    if all(other is at.node or _tensor(at, other) != found for other in others):
        return False
    w = at.writer
    own, w.target = w.target, w.target.with_host()  # which runs it, as it runs each Gather
    try:
        return _as_elements(at)
    finally:
        w.target = own


def _tensor(at: Candidate, node: ir.Node) -> tuple[ir.Value, int, int] | None:
    """Return what a Gather reads, before all Reshapes, and its axis as two sizes."""
    x = node.inputs[0] if is_operator(node, ("Gather",)) else None
    shape = None if x is None else at.scope.of(x).static_shape
    if x is None or not shape or at.constants.is_constant(x):
        return None
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        return None
    axis = attribute_of(node, "axis", 0) % len(shape)
    maker = x.producer()
    while maker is not None and described(maker).keeps_order and maker.inputs[0] is not None:
        x = maker.inputs[0]
        maker = x.producer()
    return x, math.prod(shape[:axis]), shape[axis]


def _gathers(x: ir.Value) -> list[ir.Node]:
    """Return the Gathers that read a tensor, also behind Reshapes."""

    def shaped(value: ir.Value) -> list[ir.Value]:
        nodes = (use.node for use in value.uses() if use.idx == 0)
        return [node.outputs[0] for node in nodes if described(node).keeps_order]

    uses = [use for value in reached([x], shaped) for use in value.uses() if use.idx == 0]
    return [use.node for use in uses if is_operator(use.node, ("Gather",))]


def _as_elements(at: Candidate) -> bool:
    """Write a Gather as one of elements."""
    w, node, scope, _ = at
    x, i = (required(v) for v in node.inputs)
    shape, dims = scope.of(x).static_shape, scope.of(i).static_shape
    if not shape or dims is None or 0 in (*shape, *dims):
        return False
    axis, kind, of_index = attribute_of(node, "axis", 0) % len(shape), w.dtype_of(x), w.dtype_of(i)
    count = math.prod(dims)
    line = [count if d == axis else 1 for d in range(len(shape))]
    whole = [count if d == axis else n for d, n in enumerate(shape)]

    def write() -> ir.Value:
        places = w.node("Reshape", [i, w.constant(line)], of_index)
        if whole != line:
            places = w.node("Expand", [places, w.constant(whole)], of_index)
        y = w.node("GatherElements", [x, places], kind, axis=axis)
        result = [*shape[:axis], *dims, *shape[axis + 1 :]]
        return w.node("Reshape", [y, w.constant(result)], kind) if result != whole else y

    return at.replace(node.outputs[0], write)
