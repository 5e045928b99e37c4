"""A model is planned again for wider targets, if its own target refuses nodes near scatters.

A scatter is kept if the target lacks one operator of its replacement. But the nodes that compute
its indices may need more operators that the target lacks. So two more results are made: in one, all
operators are allowed for the scatters that the target refuses; in the other, for all scatters. The
result with the fewest violations is taken. If the target does not take the sizes of the inputs, no
other result is made: the user has to fix the sizes first.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from onnx_scatterx.ir.clone import become, cloned
from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.lowering.exclusive_nodes import read_only_by
from onnx_scatterx.optimizer.mosaic.connected_moves import connected_moves
from onnx_scatterx.optimizer.mosaic.moves import MOVES
from onnx_scatterx.optimizer.transforms.job import Job

_FLOATS = {t for t in ir.DataType if t.is_floating_point()}


def least_violating(job: Job, run: Callable[[Job], Job]) -> Job:
    """Rewrite a model by ``run``, again for wider targets if that may help; return the best job."""
    model, target = job.model, job.settings.target
    if not target.is_limited or not job.has_scatters:
        return run(job)
    before, unrelated = cloned(model), _unrelated(model)
    first = best = run(job)
    if first.refused <= unrelated or any(v.op == "input" for v in first.violations):
        return first
    all_operators = target.with_all_operators()
    kept = any(outcome.refusals for outcome in first.outcomes)
    for own, more in ((target, [*first.wider, all_operators]), (all_operators, [])):
        if own is target and not kept:
            continue
        again = job.again(None)
        again.model, again.target, again.wider = cloned(before), own, more
        found = run(again)
        if _missing(found) < _missing(best):
            best = found
    if best is not first:
        become(model, best.model)
        best.model = model
        best.violations_if_kept, _ = _missing(first)
    return best


def _unrelated(model: ir.Model) -> set[ir.Node]:
    """Return the nodes of a model that compute nothing for its scatters, nor move what they do."""
    found: set[ir.Node] = set()
    for graph in all_graphs(model):
        scatters = [n for n in graph if is_scatter(n)]
        near = connected_moves(graph, MOVES)
        near |= read_only_by([v for n in scatters for v in n.inputs], scatters, graph)
        stack = [v for n in scatters for v in n.inputs[1:2]]
        while stack:
            value = stack.pop()
            node = None if value is None or value.dtype in _FLOATS else value.producer()
            if node is not None and node not in near:
                near.add(node)
                stack += node.inputs
        found |= set(graph).difference(near)
    return found


def _missing(job: Job) -> tuple[int, int]:
    """Return how many violations a result has: of the target with its host, and of the device."""
    return sum(not found.on_host for found in job.violations), len(job.violations)
