"""The form that avoids a fault of Gathers of one tensor: only one of them stays a Gather.

    elements_of_gathers    Gather(x, i)   =   Reshape(GatherElements(x, j))
                           j is i, repeated along all other axes of x

It is written if the indices are computed: a compiler that knows constants compares them. What a
Gather checks of its indices, a GatherElements checks, too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, required
from onnx_scatterx.engine.device import TakenOut
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import attribute_of, is_operator
from onnx_scatterx.operators import described

Write: TypeAlias = "Callable[[], ir.Value]"


def elements_of_gathers(
    w: Writer, graph: ir.Graph, scope: Scope, constants: TakenOut
) -> Iterator[tuple[ir.Value, Write]]:
    """Yield the values of Gathers that are written otherwise, each with what writes it."""
    groups = defaultdict[tuple[ir.Value, int, int], list[ir.Node]](list)
    for node in graph:
        if is_operator(node, ("Gather",)) and (key := _read(node, scope, constants)):
            groups[key].append(node)
    for nodes in groups.values():
        computed = [n for n in nodes if not constants.is_constant(required(n.inputs[1]))]
        for node in computed[len(computed) == len(nodes) :]:
            write = _as_elements(w, node, scope)
            if write is not None:
                yield node.outputs[0], write


def _read(node: ir.Node, scope: Scope, constants: TakenOut) -> tuple[ir.Value, int, int] | None:
    """Return the tensor that a Gather reads, before all Reshapes, and the axis as two sizes."""
    x = node.inputs[0]
    shape = None if x is None else scope.of(x).static_shape
    if x is None or not shape or constants.is_constant(x):
        return None
    if any(attribute.is_ref() for attribute in node.attributes.values()):
        return None
    axis = attribute_of(node, "axis", 0) % len(shape)
    maker = x.producer()
    while maker is not None and described(maker).keeps_order and maker.inputs[0] is not None:
        x = maker.inputs[0]
        maker = x.producer()
    return x, math.prod(shape[:axis]), shape[axis]


def _as_elements(w: Writer, node: ir.Node, scope: Scope) -> Write | None:
    x, i = (required(v) for v in node.inputs)
    shape, dims = scope.of(x).static_shape, scope.of(i).static_shape
    if not shape or dims is None or 0 in (*shape, *dims):
        return None
    axis, kind = attribute_of(node, "axis", 0) % len(shape), w.dtype_of(x)
    of_index = w.dtype_of(i)
    count = math.prod(dims)
    line = [count if d == axis else 1 for d in range(len(shape))]
    whole = [count if d == axis else n for d, n in enumerate(shape)]

    def write() -> ir.Value:
        at = w.node("Reshape", [i, w.constant(line)], of_index)
        if whole != line:
            at = w.node("Expand", [at, w.constant(whole)], of_index)
        y = w.node("GatherElements", [x, at], kind, axis=axis)
        result = [*shape[:axis], *dims, *shape[axis + 1 :]]
        return w.node("Reshape", [y, w.constant(result)], kind) if result != whole else y

    return write
