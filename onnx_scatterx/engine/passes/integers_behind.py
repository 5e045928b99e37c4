"""The nodes of a graph that compute integers, such as the indices of its scatters."""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from onnx_scatterx.engine.plan.planner import GraphContext
from onnx_scatterx.graphs.traversal import makers, reached

_INTEGERS = {ir.DataType.INT64, ir.DataType.INT32, ir.DataType.BOOL}


def index_nodes(task: GraphContext, scatters: Iterable[ir.Node]) -> set[ir.Node]:
    """Return the nodes that compute the indices of scatters, as far as they hold integers."""
    return integers_behind([n.inputs[1] for n in scatters if len(n.inputs) > 1], task)


def integers_behind(values: Iterable[ir.Value | None], task: GraphContext) -> set[ir.Node]:
    def integers(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        whole = (v for v in values if v is not None and task.scope.of(v).dtype in _INTEGERS)
        return [node for node in makers(whole) if node.graph is task.graph]

    return set(reached(integers(values), lambda node: integers(node.inputs)))
