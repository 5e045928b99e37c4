"""A scatter of flattened updates is a scatter of the tensor before it was flattened.

    before      y = ScatterND(x, i, Reshape(u, [-1]))       i of shape [A * B, k], u of [A, B]
    is the same y = ScatterND(x, Reshape(i, [A, B, k]), u)

A Reshape keeps the elements in row-major order, and so does a read of all elements. So for any
indices, the update at ``x_0`` is the one at ``(x_0 // B, x_0 % B)`` of ``u``. Exporters that only
know windows of indices write a box like this. The digits of the flat position become coordinates,
and every axis is affine again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, Shape, UnknownAttributeError
from onnx_scatterx.engine.lift.affine import affine_along
from onnx_scatterx.engine.lift.lifting import Scatter
from onnx_scatterx.engine.terms import Term, coord
from onnx_scatterx.operators import described

_LONGEST = 16  # nodes between the updates and the tensor before


def unflattened(scatter: Scatter, scope: Scope) -> Scatter | None:
    """Return a scatter of the tensor before flattening, if more of its targets are affine then.

    It does not have an index tensor: the known indices are in its targets.
    """
    not_affine = _count_non_affine(scatter.index_exprs)
    if not not_affine:
        return None
    unsigned = [c for c, positive in enumerate(scatter.nonnegative) if not positive]
    best: Scatter | None = None
    for value, shape in _before(scatter.updates, scope):
        targets = scatter.targets_in(shape)
        present = [t for t in targets if t is not None]
        if len(present) < len(targets):
            continue
        whole = scatter.of_updates(value, shape, present, scope.facts, signed=unsigned)
        if _count_non_affine(whole.index_exprs) < not_affine:
            best, not_affine = whole, _count_non_affine(whole.index_exprs)
    return best


def _count_non_affine(targets: Iterable[Term]) -> int:
    return sum(affine_along(t) is None for t in targets)


def _before(value: ir.Value, scope: Scope) -> Iterator[tuple[ir.Value, Shape]]:
    """Yield the tensors that have the same elements in the same order, the nearest first."""
    for _ in range(_LONGEST):
        node = value.producer()
        if node is None or not node.inputs or node.domain != "":
            return
        source = node.inputs[0]
        if source is None or not (described(node).keeps_order or _reads_all(node, scope)):
            return
        value = source
        tensor = scope.values.get(value)
        if tensor is not None and tensor.shape is not None:
            yield value, tensor.shape


def _reads_all(node: ir.Node, scope: Scope) -> bool:
    """Return whether a Gather reads all elements along its axis, in order."""
    if node.op_type != "Gather":
        return False
    call = scope.call(node)
    data, indices = call.inputs
    if data is None or not data.shape or indices is None or indices.rank != 1 or not indices.shape:
        return False
    try:
        extent = data.shape[call.integer("axis", 0) % len(data.shape)]
    except UnknownAttributeError:
        return False
    counts = coord(0) if extent.constant != 1 else 0
    return indices.index_map is not None and (
        scope.facts.equal(indices.shape[0], extent) and scope.facts.equal(indices.index_map, counts)
    )
