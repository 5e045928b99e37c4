"""A model is lowered more than once: until the result passes, and for wider targets.

Some effects of a write are far from it, and are seen only in the whole model. If ONNX Runtime would
compute something else, the model is restored, and the scatters that are not connected with the
effect are written again (``attempts``). If that does not help, the model is not changed.

If a target refuses nodes of the result, the passes run again (``least_violating``). A scatter that
the target lacks may become one operator of its replacement. But the nodes that compute its indices
may need more operators that the target lacks. So two more results are made: in one, all operators
are allowed for the scatters that the target refuses; in the other, for all scatters. The result
with the fewest violations is taken. If the target does not take the sizes of the inputs, no other
result is made: the user has to fix the sizes first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import become, cloned
from onnx_scatterx.ir.graphs import all_graphs, called_function, graphs_of, nodes_within
from onnx_scatterx.optimizer.lift.lift_gather import is_gather
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.lowering.exclusive_nodes import read_only_by
from onnx_scatterx.optimizer.mosaic.connected_moves import connected_moves
from onnx_scatterx.optimizer.mosaic.moves import MOVES
from onnx_scatterx.optimizer.transforms.empty_loops import EmptyLoops
from onnx_scatterx.optimizer.transforms.job import KEPT, NUMBER, Job
from onnx_scatterx.optimizer.transforms.sole_readers import SoleReaders
from onnx_scatterx.text.reasons import Refusal


def attempts(job: Job, lower: Callable[[Job], None]) -> Job:
    """Write the scatters of a model by ``lower``, until the result passes; return the last job."""
    model = job.model
    for number, node in enumerate(n for graph in all_graphs(model) for n in graph):
        node.meta[NUMBER] = number
    loops = EmptyLoops(model)
    readers = SoleReaders(job)
    before = None if loops.is_idle and readers.is_idle else cloned(model)
    while True:
        lower(job)
        exposed, other = readers.exposed(job), loops.keep_dims()
        found = exposed if job.settings.given["fix"] else exposed | other
        if before is None or not found or job.forbidden is not None:
            return job
        more = _keep(before, exposed, _after) + _keep(before, other, _before)
        become(model, cloned(before))
        job = job.again(None if more else next(iter(found.values())))
        readers = SoleReaders(job)


def _keep(
    model: ir.Model, found: Mapping[int, Refusal], near: Callable[[ir.Node], list[ir.Node]]
) -> int:
    """Keep the scatters and gathers that are connected with nodes; return how many are new."""
    nodes = [n for graph in all_graphs(model) for n in graph]
    holders: dict[ir.Graph | None, list[ir.Node]] = {
        body: [n] for n in nodes for body in graphs_of(n)
    }
    new = 0
    for start in [n for n in nodes if n.meta[NUMBER] in found]:
        seen, stack = {start}, [start]
        while stack:
            node = stack.pop()
            if (is_scatter(node) or is_gather(node)) and KEPT not in node.meta:
                node.meta[KEPT] = found[start.meta[NUMBER]]
                new += 1
            function = called_function(model, node)
            others = near(node) + holders.get(_graph(node), [])
            others += [] if function is None else nodes_within(function.graph)
            stack += [n for n in dict.fromkeys(others) if n not in seen]
            seen.update(others)
    return new


def _graph(node: ir.Node) -> ir.Graph | None:
    return node.graph if isinstance(node.graph, ir.Graph) else None


def _before(node: ir.Node) -> list[ir.Node]:
    """Return the nodes on which a node depends directly, those in its bodies too."""
    inside = [inner for body in graphs_of(node) for inner in body]
    return inside + [made for v in node.inputs if v is not None and (made := v.producer())]


def _after(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that read a node directly."""
    return [use.node for v in node.outputs for use in v.uses()]


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
