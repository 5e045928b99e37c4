"""Gathers of one tensor: only one of them stays a Gather.

    elements_of_gathers    Gather(x, i)   =   Reshape(GatherElements(x, j))
                           j is i, repeated along all other axes of x

It is written if the indices are computed: a compiler that knows constants compares them. A GatherND
of one column is a Gather along the first axis. What a Gather checks of its indices, a
GatherElements checks, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.analysis import required
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.fitting.faults.likeness import are_alike
from onnx_scatterx.graphs import attribute_of, is_operator, perm_of
from onnx_scatterx.operators import described


class _Read(NamedTuple):
    """What a Gather reads: a tensor, along an axis."""

    x: ir.Value
    axis: int


def elements_of_gathers(at: Candidate) -> bool:
    """Write a Gather of computed indices otherwise, if another one of the same tensor is left."""
    found = _read(at, at.node)
    if found is None or at.constants.is_constant(required(at.node.inputs[1])):
        return False
    own = _origin(at, found)
    for other in at.others(*_KINDS):
        read = _read(at, other)
        if read is None:
            continue
        theirs = _origin(at, read)
        if theirs.axis == own.axis and are_alike(theirs.x, own.x, at.scope.overridable):
            return at.on_host(lambda: _as_elements(at, found))
    return False


_KINDS = ("Gather", "GatherND")


def _read(at: Candidate, node: ir.Node) -> _Read | None:
    """Return what a Gather reads, or a GatherND of one column, if it is no constant."""
    x = node.inputs[0] if is_operator(node, _KINDS) else None
    shape = None if x is None else at.scope.of(x).static_shape
    if x is None or not shape or at.constants.is_constant(x):
        return None
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        return None
    if node.op_type == "Gather":
        return _Read(x, attribute_of(node, "axis", 0) % len(shape))
    dims = at.scope.of(required(node.inputs[1])).static_shape
    of_rows = dims is not None and dims[-1:] == (1,) and not attribute_of(node, "batch_dims", 0)
    return _Read(x, 0) if of_rows else None


def _origin(at: Candidate, read: _Read) -> _Read:
    """Return the tensor and the axis before all Reshapes and Transposes that keep the axis."""
    x, axis = read
    while True:
        maker = x.producer()
        before = None if maker is None or not maker.inputs else maker.inputs[0]
        if maker is None or before is None:
            return _Read(x, axis)
        shapes = [at.scope.of(value).static_shape for value in (before, x)]
        place = _place(maker, axis, *shapes)
        if place is None:
            return _Read(x, axis)
        x, axis = before, place


def _place(
    node: ir.Node, axis: int, before: tuple[int, ...] | None, after: tuple[int, ...] | None
) -> int | None:
    """Return where an axis was before a Reshape or a Transpose; None if it was no axis."""
    if before is None or after is None:
        return None
    perm = perm_of(node, len(after))
    if perm is not None:
        return perm[axis]
    if not described(node).keeps_order:
        return None
    ahead = math.prod(after[:axis])
    places = (d for d, n in enumerate(before) if n == after[axis])
    return next((d for d in places if math.prod(before[:d]) == ahead), None)


def _as_elements(at: Candidate, found: _Read) -> bool:
    """Write a Gather as one of elements."""
    w, node, scope, _, _ = at
    (x, axis), i = found, required(node.inputs[1])
    shape, dims = scope.of(x).static_shape, scope.of(i).static_shape
    if not shape or dims is None or 0 in (*shape, *dims):
        return False
    dims = dims[:-1] if node.op_type == "GatherND" else dims
    kind, of_index = w.dtype_of(x), w.dtype_of(i)
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
