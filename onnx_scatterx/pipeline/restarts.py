"""A model is lowered more than once: until its effects elsewhere are safe, or for wider targets.

Some effects of a write are far from it, and are seen only in the whole model: at a Loop that runs
no iteration (``empty_loops``), or at a quantizer (``SoleReaders``). If ONNX Runtime would compute
something else there, the model is restored, and the scatters that are not connected with the effect
are written again (``until_safe``). If no scatter is connected with it, no scatter of the model is
written. If the effect only comes with constants or other forms for a device, all nodes that are
unrelated to scatters are kept.

If a target refuses nodes of the result, the passes run again (``least_violating``). A scatter that
the target lacks may become one operator of its replacement. But the nodes that compute its indices
may need more operators that the target lacks. So two more results are made: in one, all operators
are allowed for the scatters that the target refuses; in the other, for all scatters. The result
with the fewest violations is taken. If the target does not take the sizes of the inputs, no other
result is made: the user has to fix the sizes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import onnx_ir as ir

from onnx_scatterx.engine.lift.lifting import is_gather, is_scatter
from onnx_scatterx.engine.mosaic.moves import MOVES, connected_moves
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.marks import KEPT, NUMBER
from onnx_scatterx.engine.passes.sole_readers import SoleReaders
from onnx_scatterx.engine.plan.exclusive import read_only_by
from onnx_scatterx.fitting.empty_loops import EmptyLoops
from onnx_scatterx.graphs.cleanup import cloned
from onnx_scatterx.graphs.traversal import (
    all_graphs,
    all_nodes,
    called_function,
    graphs_of,
    makers,
    reached,
)
from onnx_scatterx.text.reasons import Refusal


def until_safe(job: Job, lower: Callable[[Job], None], fit: Callable[[Job], None]) -> Job:
    """Lower a model and ``fit`` it to its target, until no effect is left; return the last job.

    Each time more is kept: the scatters and gathers that are connected with an effect; if these are
    kept already, every scatter (``forbidden``); if only ``fit`` has an effect, the other nodes.
    """
    model = job.model
    job.number_nodes()
    loops, readers = EmptyLoops(model), SoleReaders(job)
    before = cloned(model) if loops or readers else model  # else nothing is refused
    is_fixed = bool(job.settings.given["fix"])
    while True:
        lower(job)
        exposed, other = readers.exposed(job), loops.keep_dims()
        refused = exposed if is_fixed else exposed | other
        forbidden, keeps_rest = job.forbidden, False
        if not refused or forbidden is not None:
            fit(job)
            if not loops.keep_dims() or is_fixed or job.keeps_rest:
                return job
            keeps_rest = True
        elif not _keep(before, exposed, _after) + _keep(before, other, _before):
            forbidden = next(iter(refused.values()))
        _become(model, cloned(before))
        job = job.restarted(forbidden, keeps_rest=keeps_rest)
        readers = SoleReaders(job)


def _keep(
    model: ir.Model, refused: Mapping[int, Refusal], near: Callable[[ir.Node], list[ir.Node]]
) -> int:
    """Keep the scatters and gathers that are connected with nodes; return how many are new."""
    nodes = all_nodes(model)
    holders: dict[object, list[ir.Node]] = {body: [n] for n in nodes for body in graphs_of(n)}

    def around(node: ir.Node) -> list[ir.Node]:
        function = called_function(model, node)
        called = [] if function is None else all_nodes(function)
        return near(node) + holders.get(node.graph, []) + called

    new = 0
    for start in [n for n in nodes if n.meta[NUMBER] in refused]:
        for node in reached([start], around):
            if (is_scatter(node) or is_gather(node)) and KEPT not in node.meta:
                node.meta[KEPT] = refused[start.meta[NUMBER]]
                new += 1
    return new


def _before(node: ir.Node) -> list[ir.Node]:
    """Return the nodes on which a node depends directly, those in its bodies too."""
    inside = [inner for body in graphs_of(node) for inner in body]
    return inside + makers(node.inputs)


def _after(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that read a node directly."""
    return list(node.successors())


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
    kept = any(outcome.kept for outcome in first.outcomes)
    for own, more in ((target, [*first.wider, all_operators]), (all_operators, [])):
        if own is target and not kept:
            continue
        again = job.restarted()
        again.model, again.target, again.wider = cloned(before), own, more
        result = run(again)
        if _missing(result) < _missing(best):
            best = result
    if best is not first:
        _become(model, best.model)
        best.model = model
        best.violations_if_kept, _ = _missing(first)
    return best


def _unrelated(model: ir.Model) -> set[ir.Node]:
    """Return the nodes of a model that compute nothing for its scatters, nor move what they do."""
    return {n for graph in all_graphs(model) for n in set(graph).difference(_related(graph))}


def _related(graph: ir.Graph) -> set[ir.Node]:
    scatters = [n for n in graph if is_scatter(n)]
    near = connected_moves(graph, MOVES)
    near |= read_only_by([v for n in scatters for v in n.inputs], scatters, graph)

    def integers(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        whole = (v for v in values if v is not None and v.dtype not in _FLOATS)
        return [node for node in makers(whole) if node not in near]

    indices = integers(v for n in scatters for v in n.inputs[1:2])
    return near.union(reached(indices, lambda node: integers(node.inputs)))


def _missing(job: Job) -> tuple[int, int]:
    """Return how many violations a result has: of the target with its host, and of the device."""
    return sum(not violation.on_host for violation in job.violations), len(job.violations)


def _become(model: ir.Model, other: ir.Model) -> None:
    """Give a model the graph and the functions of another model, which must not be used further.

    The IR version is that of the other model, too: it follows the operator sets and the functions.
    """
    model.graph = other.graph
    model.ir_version = other.ir_version
    model.functions.clear()
    model.functions.update(other.functions)
