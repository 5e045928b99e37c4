"""The nodes of a graph from which integers follow, such as the indices of its scatters."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import onnx_ir as ir

from onnx_scatterx.engine.plan import GraphContext
from onnx_scatterx.graphs import makers, reached

_INTEGERS = {ir.DataType.INT64, ir.DataType.INT32, ir.DataType.BOOL}


def index_nodes(task: GraphContext, scatters: Iterable[ir.Node]) -> set[ir.Node]:
    """Return the nodes that compute the indices of scatters, as far as they hold integers."""

    def integers(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        whole = (v for v in values if v is not None and task.scope.of(v).dtype in _INTEGERS)
        return [node for node in makers(whole) if node.graph is task.graph]

    starts = integers([n.inputs[1] for n in scatters if len(n.inputs) > 1])
    return set(reached(starts, lambda node: integers(node.inputs)))


def integers_from(task: GraphContext, is_wanted: Callable[[ir.Node], bool]) -> set[ir.Node]:
    """Return the nodes of a graph that are wanted, and those that read integers of these."""
    found: set[ir.Node] = set()

    def reads(value: ir.Value | None) -> bool:
        made = value is not None and value.producer() in found
        return made and task.scope.of(value).dtype in _INTEGERS

    for node in task.graph:
        if is_wanted(node) or any(map(reads, node.inputs)):
            found.add(node)
    return found
