"""What of a model its target does not take: operators, ranks, sizes that are no numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.analysis.domain.tensor import Shape
from onnx_scatterx.analysis.interpreter import interpret
from onnx_scatterx.ir.graphs import called_function
from onnx_scatterx.ir.scatterx_domain import is_scatterx_domain
from onnx_scatterx.symbolic.terms import Symbol
from onnx_scatterx.targets.target import Target


@dataclass(frozen=True)
class Violation:
    """A node or an input that the target does not take, and why.

    A node without a name goes by its first output. ``op`` of an input is "input".
    """

    node: str
    op: str
    graph: str
    why: str

    def __str__(self) -> str:
        return f"{self.node} ({self.op}): {self.why}"


def violations(
    model: ir.Model, target: Target, *, distrust_dims: bool = False
) -> tuple[Violation, ...]:
    r"""Return what of a model a target does not take, in the order of the graphs.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (bool[N] x) => (int64[1, M] y) { y = NonZero(x) }''')
    >>> npu = Target("npu", avoid=frozenset({"NonZero"}), static_only=True)
    >>> print(*violations(model, npu), sep="\n")
    x (input): the size N is no number
    y (NonZero): npu has no NonZero
    y (NonZero): a size is known only when the model runs
    """
    if not (target.is_limited or target.static_only):
        return ()
    shapes: dict[ir.Value, Shape] = {}
    if target.static_only or target.max_rank is not None:
        found = interpret(model, distrust_dims=distrust_dims).values
        shapes = {v: abstract.shape for v, abstract in found.items() if abstract.shape is not None}
    inputs = [shapes[v] for v in model.graph.inputs if v in shapes]
    declared = {leaf for shape in inputs for dim in shape for leaf in dim.leaves()}
    lines = [line for v in model.graph.inputs for line in _of_input(v, target, model, shapes)]
    graphs = [(g.name or "main", g) for g in model.graphs()]
    for function in model.functions.values():
        if not is_scatterx_domain(function.domain):  # what a ScatterX falls back to
            name = f"{function.domain}.{function.name}"
            graphs += [(name, g) for g in (function.graph, *function.subgraphs())]
    for name, graph in graphs:
        for node in graph:
            if called_function(model, node) is None or is_scatterx_domain(node.domain):
                lines += [
                    Violation(node.name or node.outputs[0].name or "?", node.op_type, name, why)
                    for why in _of_node(node, target, shapes, declared)
                ]
    return tuple(dict.fromkeys(lines))


def _of_input(
    value: ir.Value, target: Target, model: ir.Model, shapes: dict[ir.Value, Shape]
) -> Iterator[Violation]:
    shape = shapes.get(value)
    if shape is None or value.name in model.graph.initializers:
        return
    where = (value.name or "?", "input", model.graph.name or "main")
    if target.static_only:
        for dim in shape:
            if dim.constant is None:
                yield Violation(*where, f"the size {dim} is no number")
    if target.max_rank is not None and len(shape) > target.max_rank:
        yield Violation(*where, f"rank {len(shape)}, and {target.name} takes {target.max_rank}")


def _of_node(
    node: ir.Node, target: Target, shapes: dict[ir.Value, Shape], declared: set[Symbol]
) -> Iterator[str]:
    name = node.op_type
    if node.domain != "" and not is_scatterx_domain(node.domain):
        name = f"{node.domain}.{name}"
    if not target.has(name):
        yield f"{target.name} has no {name}"
    found = [shapes[v] for v in node.outputs if v in shapes]
    rank = max(map(len, found), default=0)
    if target.max_rank is not None and rank > target.max_rank:
        yield f"rank {rank}, and {target.name} takes {target.max_rank}"
    if target.static_only and any(_is_new(shape, declared) for shape in found):
        given = [shapes[v] for v in node.inputs if v in shapes]
        if not any(_is_new(shape, declared) for shape in given):
            yield "a size is known only when the model runs"


def _is_new(shape: Shape, declared: set[Symbol]) -> bool:
    """Return whether a size is none that follows from the sizes of the inputs."""
    return any(not dim.leaves() <= declared for dim in shape)
