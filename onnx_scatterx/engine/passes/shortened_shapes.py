"""Computed shapes are computed from sizes, if that takes fewer nodes than are removed with them.

The shape is known in terms of sizes, which other tensors may have:

    before   Reshape(u, Concat(Shape(Range(...) + Range(...) + ...), Slice(Shape(x), ...)))
    after    Reshape(u, Shape(x))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.analysis import size_makers
from onnx_scatterx.engine.budget import LimitError, own_budget
from onnx_scatterx.engine.passes.integers_behind import integers_from
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.plan import REPLACES, GraphContext
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.engine.write import Numbers
from onnx_scatterx.graphs import makers, reached, remove_dead
from onnx_scatterx.operators import described
from onnx_scatterx.text import Refusal


@dataclass(frozen=True)
class _Shape:
    """A node that reads a shape, which input that is, and its known content."""

    node: ir.Node
    input_index: int
    value: ir.Value
    dims: Sequence[Term]


def shorten_shapes(job: Job, task: GraphContext, is_wanted: Callable[[ir.Node], bool]) -> bool:
    """Rewrite computed shapes of a graph, where that takes fewer nodes; return whether it does.

    Only shapes are looked at that follow from integers of a node that ``is_wanted``. If the budget
    does not suffice, the other shapes are kept.
    """
    modified = False
    try:
        # Written shapes may leave others that now cost more than they need.
        while (made := _shortened(task, is_wanted)) is not None:
            modified = True
            job.analyses.note(made)
    except LimitError:
        pass
    return modified


def _shortened(task: GraphContext, is_wanted: Callable[[ir.Node], bool]) -> list[ir.Node] | None:
    """Rewrite shapes once; return the new nodes, or None if nothing changes."""
    wanted = integers_from(task, is_wanted)
    shapes = [s for s in _shapes(task) if s.value.producer() in wanted]
    while shapes:
        removable = _removable(task.graph, shapes)
        removed = [v for n in removable for v in n.outputs]
        writer = task.writer()
        numbers = Numbers(writer, task.scope, task.available(removed))
        taken = [(s, len(_taken(s, removable))) for s in shapes]
        worth = [s for s, count in taken if count and _cost(s, numbers) < count]
        if len(worth) == len(shapes):
            with own_budget():  # a plan is written completely
                _write(shapes, numbers)
            return writer.graph.made
        shapes = worth
    return None


def _shapes(task: GraphContext) -> list[_Shape]:
    """Return the shapes that nodes read, if they are computed and known.

    A node that was written for a scatter already has the shortest one.
    """
    shapes, fixed = [], size_makers(task.graph, task.scope)
    for node in task.graph:
        input_index = described(node).shape_input
        if input_index is None or len(node.inputs) <= input_index:
            continue
        if REPLACES in node.metadata_props:
            continue
        value = node.inputs[input_index]
        dims = task.scope.of(value).vector()
        maker = None if value is None else value.producer()
        if value is not None and dims and maker is not None and maker not in fixed:
            shapes.append(_Shape(node, input_index, value, dims))
    return shapes


def _removable(graph: ir.Graph, shapes: Sequence[_Shape]) -> set[ir.Node]:
    """Return the nodes that lose their last reader if these shapes are not read."""
    cut = {(s.node, s.input_index) for s in shapes}
    removable: set[ir.Node] = set()
    for node in reversed(list(graph)):
        uses = [u for v in node.outputs for u in v.uses()]
        if (
            uses
            and all(u.node in removable or (u.node, u.idx) in cut for u in uses)
            and not any(v.is_graph_output() for v in node.outputs)
        ):
            removable.add(node)
    return removable


def _taken(shape: _Shape, removable: set[ir.Node]) -> set[ir.Node]:
    """Subtract from the removed nodes those that compute a shape; constants do not count."""

    def within(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        return [node for node in makers(values) if node in removable]

    taken = set(reached(within([shape.value]), lambda node: within(node.inputs)))
    removable -= taken
    return {n for n in taken if n.op_type != "Constant"}


def _cost(shape: _Shape, numbers: Numbers) -> float:
    with numbers.writer.graph.at(shape.node):
        nodes = numbers.writer.fragment_of(lambda: numbers.shape(shape.dims))
    return float("inf") if isinstance(nodes, Refusal) else nodes.cost


def _write(shapes: Sequence[_Shape], numbers: Numbers) -> None:
    for shape in shapes:
        with numbers.writer.graph.at(shape.node, shape.value.name or "shape"):
            value = numbers.writer.write(partial(numbers.shape, shape.dims))
            shape.node.replace_input_with(shape.input_index, value)
    producers = (s.value.producer() for s in shapes)
    remove_dead([n for n in producers if n is not None])
