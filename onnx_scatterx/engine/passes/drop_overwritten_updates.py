"""Making the last update win, if it is known which updates are overwritten.

    before   y = ScatterND(x, [[2], [0], [2]], u)
    after    y = ScatterND(x, [[0], [2]], Gather(u, [1, 2]))

    before   y = ScatterElements(x, i, u), if no target depends on dim d of the updates
    after    y = ScatterElements(x, i[.., -1:, ..], u[.., -1:, ..])

On one thread ONNX Runtime keeps the last update in row-major order. If updates differ only in such
a dim, this is the last one along the dim.
"""

from __future__ import annotations

import math
from contextlib import suppress
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.budget import LIMITS, LimitError, budget
from onnx_scatterx.engine.lift import Scatter, is_scatter, lift_scatter
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.marks import LAST_WINS
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.engine.plan import GraphContext
from onnx_scatterx.engine.terms import tabulated
from onnx_scatterx.engine.write import Writer
from onnx_scatterx.graphs import INT64_MAX, replace_uses
from onnx_scatterx.text import Refusal, RefusedError


def drop_overwritten_updates(job: Job) -> bool:
    """Drop the updates of a model that are known to be overwritten."""
    if job.obstacle is not None:
        return False
    made = [node for context in list(job.contexts()) for node in _in_graph(context)]
    job.analyses.note(made)
    return bool(made)


DropOverwrittenUpdates = Pass(
    drop_overwritten_updates, applies=lambda s: s.options["deterministic"]
)


def _in_graph(context: GraphContext) -> list[ir.Node]:
    """Return the new nodes of a graph, and the scatters that read them."""
    graph, scope, writer = context.graph, context.scope, context.writer()
    changed = []
    for node in [n for n in graph if is_scatter(n)]:
        # A refused scatter is kept, and the report says so.
        part = budget().of_part(LIMITS.scatter_steps)
        with suppress(RefusedError, LimitError), part, writer.graph.at(node, node.outputs[0].name):
            scatter = lift_scatter(node, scope)
            if isinstance(scatter, Refusal) or scatter.reduction != "none":
                continue
            _drop(scatter, scope, writer)
        if node.meta.get(LAST_WINS):
            changed.append(node)
    return [*writer.graph.made, *changed]


def _drop(scatter: Scatter, scope: Scope, w: Writer) -> None:
    rows = _rows(scatter)
    if rows is None:
        _drop_dims(scatter, scope, w)
        return
    _, last = np.unique(rows[::-1], axis=0, return_index=True)
    kept = np.sort(len(rows) - 1 - last)
    if len(kept) < len(rows) and not _drop_positions(scatter, scope, w, rows, kept):
        _drop_rows(scatter, w, rows[kept], kept)


def _drop_positions(
    scatter: Scatter, scope: Scope, w: Writer, rows: np.ndarray, kept: np.ndarray
) -> bool:
    """Keep some positions of each dim of the indices, if those are all the kept updates."""
    node, dtype = scatter.node, scatter.dtype
    sizes = [scatter.shape[d].constant or 0 for d in scatter.index_dims]
    stays = np.zeros(sizes, bool)
    stays.ravel()[kept] = True
    dims = range(len(sizes))
    positions = [np.flatnonzero(stays.any(axis=tuple(e for e in dims if e != d))) for d in dims]
    if math.prod(map(len, positions)) != len(kept):
        return False

    def write() -> ir.Value:
        updates = scatter.updates
        for d, indices in enumerate(positions):
            if len(indices) < sizes[d]:
                updates = w.node("Gather", [updates, w.constant(indices)], dtype, axis=d)
        return updates

    nodes = w.fragment_of(write)
    if isinstance(nodes, Refusal):
        return True
    columns = rows.reshape(*sizes, -1)[np.ix_(*positions)]
    if node.op_type != "ScatterND":
        columns = columns[..., scope.call(node).integer("axis", 0)]
    at = w.graph.add_constant(columns, ir.DataType.INT64)
    _give(node, [scatter.data, at, w.graph.commit(nodes).result])
    return True


def _drop_rows(scatter: Scatter, w: Writer, rows: np.ndarray, kept: np.ndarray) -> None:
    """Write only the updates of these rows."""
    node, dtype = scatter.node, scatter.dtype
    rest = scatter.shape[len(scatter.index_dims) :]
    extents = [n.constant for n in (*scatter.shape[: len(scatter.index_dims)], *rest)]
    flat = len(scatter.index_dims) == 1
    if not w.has("ScatterND") or (not flat and None in extents):
        return
    if w.target.has(node.op_type) and not w.target.has("ScatterND"):
        return

    def write() -> ir.Value:
        updates = scatter.updates
        if not flat:
            count = math.prod(n or 0 for n in extents[: len(scatter.index_dims)])
            shape = w.constant([count, *(n.constant or 0 for n in rest)])
            updates = w.node("Reshape", [updates, shape], dtype)
        return w.node("Gather", [updates, w.constant(kept)], dtype, axis=0)

    nodes = w.fragment_of(write)
    if isinstance(nodes, Refusal):
        return
    at = w.graph.add_constant(rows, ir.DataType.INT64)
    inputs = [scatter.data, at, w.graph.commit(nodes).result]
    if node.op_type == "ScatterND":
        _give(node, inputs)
        return
    new = ir.Node("", "ScatterND", inputs, name=node.name, outputs=[ir.Value()])
    new.meta[LAST_WINS] = True
    (old,), (value,) = node.outputs, new.outputs
    value.type, value.shape = old.type, old.shape
    value.metadata_props.update(old.metadata_props)
    w.graph.add(new)
    replace_uses(old, value)
    value.name = old.name
    assert node.graph is not None
    node.graph.remove(node, safe=True)


def _drop_dims(scatter: Scatter, scope: Scope, w: Writer) -> None:
    """Write only the last updates along dims of the updates that no target depends on."""
    if scatter.indices is None or scatter.node.op_type == "TensorScatter":
        return
    moving = frozenset[int]().union(*(t.coords for t in scatter.index_exprs))
    dims = [
        d
        for d in scatter.index_dims
        if d not in moving and not scatter.facts.is_nonnegative(1 - scatter.shape[d])
    ]
    indices = scatter.indices
    index_type = scope.values[indices].dtype if indices in scope.values else indices.dtype
    if not dims or index_type is None:
        return
    sized = all(scatter.shape[d].constant is not None for d in dims)

    def last(value: ir.Value, dtype: ir.DataType) -> ir.Value:
        count = len(dims)
        return w.slice(
            value, dtype, dims, [-1] * count, [INT64_MAX] * count, [1] * count, sized=sized
        )

    cut = (indices, index_type), (scatter.updates, scatter.dtype)
    parts = [w.fragment_of(partial(last, value, dtype)) for value, dtype in cut]
    nodes = [part for part in parts if not isinstance(part, Refusal)]
    if len(nodes) == len(cut):
        _give(scatter.node, [scatter.data, *(w.graph.commit(part).result for part in nodes)])


def _give(node: ir.Node, inputs: list[ir.Value]) -> None:
    for i, value in enumerate(inputs):
        node.replace_input_with(i, value)
    node.meta[LAST_WINS] = True


def _rows(scatter: Scatter) -> np.ndarray | None:
    """Return the target of every row of the indices, not negative, or None if it is not known."""
    if scatter.node.op_type == "TensorScatter":
        return None
    extents = [scatter.shape[d].constant for d in scatter.index_dims]
    sizes = [n for n in extents if n is not None]
    named = len(scatter.data_shape) - (len(scatter.shape) - len(scatter.index_dims))
    if len(sizes) < len(extents) or np.prod(sizes) * named > LIMITS.rows or 0 in sizes:
        return None
    columns = []
    for axis, target in enumerate(scatter.index_exprs[:named]):
        if target.leaves() or not scatter.is_narrow(target):
            return None
        column = tabulated(target, dict(enumerate(sizes))).ravel()
        size = scatter.data_shape[axis].constant
        if bool((column < 0).any()):
            if size is None:
                return None
            column = np.where(column < 0, column + size, column)
        columns.append(column)
    return np.stack(columns, axis=1)
