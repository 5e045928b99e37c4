"""Functions of the model that compute with chosen rows are inlined, if the choice then goes.

    before   r = x[m]  u = Silu(r)  y = ScatterND(x, at, u)        Silu(r) = Mul(r, Sigmoid(r))
    after    r = x[m]  u = Mul(r, Sigmoid(r))  y = ScatterND(x, at, u)

What is known of a body is what all callers agree on: not that its rows were chosen. Whether the
choice goes is tried on a copy of the model.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, budget
from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.passes.function_calls import inline_functions
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.lower_scatters import lower_scatters
from onnx_scatterx.engine.passes.share_masks import share_masks
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.graphs import all_graphs, all_nodes, called_function, cloned, reached, read_by

_TRIED = 1 / 4  # of the steps that remain, for the copy

Identifiers = set[ir.OperatorIdentifier]


def inline_row_functions(job: Job) -> bool:
    """Inline the functions through which chosen rows run on their way to a scatter.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
    ...     g (float[4, 2] x, bool[4] m) => (float[4, 2] y) {
    ...         n = NonZero (m)  i = Transpose (n)  r = GatherND (x, i)
    ...         u = local.twice (r)
    ...         y = ScatterND (x, i, u) }
    ...     <domain: "local", opset_import: ["" : 18]> twice (r) => (u) { u = Add (r, r) }''')
    >>> inline_row_functions(Job(model))
    True
    >>> [node.op_type for node in model.graph]
    ['NonZero', 'Transpose', 'GatherND', 'Add', 'ScatterND']
    """
    ways = _ways(job.model)
    if not ways or job.obstacle_to("LowerScatters") is not None:
        return False
    wanted = _helpful(job, ways)
    modified = bool(wanted) and inline_functions(job, lambda f: f.identifier() in wanted)
    if modified:
        job.analyses.forget()
    return modified


InlineRowFunctions = Pass(inline_row_functions)


def _ways(model: ir.Model) -> dict[ir.Node, Identifiers]:
    """Return for each NonZero the functions that are called between it and a scatter."""
    found: dict[ir.Node, Identifiers] = {}
    for graph in all_graphs(model) if model.functions else ():
        if not any(map(is_scatter, graph)):
            continue
        needed = set(reached(filter(is_scatter, graph), _makers))
        for node in graph:
            if node.op_type == "NonZero" and node.domain == "":
                behind = [n for n in reached([node], _readers) if n in needed]
                called = {f.identifier() for n in behind for f in _called(model, n)}
                if called:
                    found[node] = called
    return found


def _makers(node: ir.Node) -> list[ir.Node]:
    return [made for v in read_by(node) if (made := v.producer()) and made.graph is node.graph]


def _readers(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that read a node; what a scatter returns has the rows of its data."""
    uses = [use for v in node.outputs for use in v.uses() if use.node.graph is node.graph]
    return [use.node for use in uses if use.idx == 0 or not is_scatter(use.node)]


def _called(model: ir.Model, node: ir.Node) -> list[ir.Function]:
    """Return the function that a node calls, and those that this one calls."""
    first = called_function(model, node)

    def within(function: ir.Function) -> list[ir.Function]:
        return [f for n in all_nodes(function) if (f := called_function(model, n)) is not None]

    return [] if first is None else list(reached([first], within))


def _helpful(job: Job, ways: dict[ir.Node, Identifiers]) -> Identifiers:
    """Return the functions on the way from a choice that goes if they are inlined."""
    model = cloned(job.model)
    pairs = zip(all_nodes(job.model), all_nodes(model), strict=True)
    copies = {copy: ways[node] for node, copy in pairs if node in ways}
    trial, tried = Job(model, job.settings, job.assumed), set[ir.OperatorIdentifier]()
    trial.target = job.target
    tried.update(*ways.values())
    if not inline_functions(trial, lambda f: f.identifier() in tried):
        return set()
    try:
        with budget().share(_TRIED):
            share_masks(trial)
            lower_scatters(trial)
    except (LimitError, RecursionError):
        return set()
    return set().union(*(called for copy, called in copies.items() if copy.graph is None))
