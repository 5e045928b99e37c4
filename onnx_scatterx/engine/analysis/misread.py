"""Nodes that ONNX's shape inference misreads.

    u = Slice(x, starts = [0], ends = [2^63 - 1], steps = [-3])

ONNX Runtime takes the largest ends for the first element, and returns one element or more. ONNX's
shape inference takes them for the last one, and infers an empty axis. The original may load, if
nothing depends on that shape. A node that is written behind such a node might not.

    y = Reshape(x, Concat([0], n))             x: float[0], n known only at run time

Shape inference takes the unknown size for -1, and refuses -1 beside a 0. The original loads, if
what makes ``x`` empty is known only at run time, too. A constant in place of ``x``, or of a size of
``x``, is known sooner.

    y = NonZero(x)                             x: float, one number

ONNX Runtime lists the position of one number in one row. Shape inference gives it no row.

    y = ReduceSum <keepdims = 2> (x)

If a flag is neither 0 nor 1, shape inference and ONNX Runtime's kernels may read it differently.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Knowledge, Scope
from onnx_scatterx.engine.analysis.domain.flags import is_meaningless, is_padded_twice
from onnx_scatterx.graphs import makers, reached

_ENDS = (2**31 - 1, 2**63 - 1)


def misread_node(knowledge: Knowledge, *, folded: bool = False) -> tuple[ir.Node, str] | None:
    """Return the first node of a model whose shape is inferred wrongly, and why, if there is one.

    A Reshape counts only if values or sizes are to be ``folded``: else its shape is not known
    sooner.
    """
    for graph, scope in knowledge.scopes.items():
        for node in graph:
            if node.domain != "":
                continue
            if any(map(is_meaningless, node.attributes.data.values())):
                return node, "a flag is neither 0 nor 1"
            if is_padded_twice(node):
                return node, "it has pads beside auto_pad"
            check = _MISREAD.get(node.op_type)
            counts = folded or node.op_type != "Reshape"
            if check is not None and counts and check(node, scope):
                return node, "shape inference misreads it"
    return None


def _stays_computed(node: ir.Node, scope: Scope) -> bool:
    """Return whether a node reads a shape that is computed, and must not be known sooner.

    A Reshape would be misread. ONNX Runtime drops an Expand by a constant with a 0 under its
    default options.
    """
    if node.op_type not in ("Expand", "Reshape") or node.domain != "":
        return False
    if not makers(node.inputs[1:2]):
        return False
    if node.op_type == "Reshape":
        return _reshape_is_misread(node, scope)
    return any(size.constant == 0 for size in scope.of(node.inputs[1]).vector() or ())


def size_makers(graph: ir.Graph, scope: Scope) -> set[ir.Node]:
    """Return the nodes that compute the shapes of a graph which must not be known sooner."""
    shapes = [node.inputs[1] for node in graph if _stays_computed(node, scope)]
    return set(reached(makers(shapes), lambda n: () if n.op_type == "Shape" else makers(n.inputs)))


def _reshape_is_misread(node: ir.Node, scope: Scope) -> bool:
    x, target = map(scope.of, node.inputs[:2])
    sizes = target.vector()
    if x.shape is None or sizes is None or all(t.constant not in (None, -1) for t in sizes):
        return False
    if all(t.constant != 0 for t in sizes):
        return False
    allowed = node.attributes.get("allowzero")
    is_written = allowed is not None and (allowed.is_ref() or allowed.value != 0)
    return is_written or any(n.constant == 0 for n in x.shape)


def _slice_is_misread(node: ir.Node, scope: Scope) -> bool:
    ends, steps = (_numbers(node, index, scope) for index in (2, 4))
    if ends is None or steps is None or ends.shape != steps.shape:
        return False  # without steps, or with ends that shape inference does not know either
    return bool((np.isin(ends, _ENDS) & (steps < 0)).any())


def _positions_are_misread(node: ir.Node, scope: Scope) -> bool:
    x = scope.of(node.inputs[0])
    return x.rank == 0 and x.constant is None  # of a constant, they are one, too


_MISREAD = {
    "NonZero": _positions_are_misread,
    "Reshape": _reshape_is_misread,
    "Slice": _slice_is_misread,
}


def _numbers(node: ir.Node, index: int, scope: Scope) -> np.ndarray | None:
    return scope.of(node.inputs[index]).constant if index < len(node.inputs) else None
