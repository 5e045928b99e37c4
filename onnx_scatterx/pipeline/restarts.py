"""A model is rewritten more than once, and the best result is kept (``try_changes``).

Some effects of a write are far from it, and are seen only in the whole model: at a quantizer
(``SoleReaders``). If ONNX Runtime would compute something else there, the scatters that are not
connected with the effect are written again (``until_safe``). If no scatter is connected with it, no
scatter of the model is written.

If a target refuses nodes of the result, the passes run again (``least_violating``). A scatter that
the target lacks may become one operator of its replacement. But the nodes that compute its indices
may need more operators that the target lacks. So two more results are made: in one, all operators
are allowed for the scatters that the target refuses; in the other, for all scatters. The result
with the fewest violations is taken. If the target does not take the sizes of the inputs, no other
result is made: the user has to fix the sizes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.lift import is_gather, is_scatter
from onnx_scatterx.engine.mosaic import MOVES, connected_moves
from onnx_scatterx.engine.passes import KEPT, NUMBER, Job, SoleReaders
from onnx_scatterx.engine.plan import read_only_by
from onnx_scatterx.engine.quantizers import has_quantizers
from onnx_scatterx.fitting import declare_body_dims
from onnx_scatterx.graphs import (
    all_graphs,
    all_nodes,
    called_function,
    graphs_of,
    makers,
    reached,
)
from onnx_scatterx.pipeline.trials import Change, Harm, try_changes
from onnx_scatterx.targets import Target
from onnx_scatterx.text import Refusal

Begin: TypeAlias = Callable[[Job], None]
"""Does for another job what was done before the first run."""


def may_run_again(job: Job) -> bool:
    """Return whether the passes may run more than once on a job that no pass has changed yet."""
    onnxruntime, graphs = job.settings.target.onnxruntime, all_graphs(job.model)
    return job.settings.target.is_limited or (onnxruntime and any(map(has_quantizers, graphs)))


def until_safe(
    job: Job, lower: Callable[[Job], None], fit: Callable[[Job], None], begin: Begin
) -> Job:
    """Lower a model and ``fit`` it to its target, until no effect is left; return the last job.

    Each time more is kept: the scatters and gathers that are connected with an effect; if these are
    kept already, every scatter (``forbidden``).
    """
    kept: dict[int, Refusal] = {}

    def run(job: Job) -> Job:
        shared = SoleReaders(job)
        lower(job)
        job.exposed = {} if job.forbidden is not None else shared.exposed(job)
        if not job.exposed:
            fit(job)
            declare_body_dims(job.model)
        return job

    def keep(exposed: Mapping[int, Refusal], job: Job) -> None:
        found = _connected(job.model, exposed)
        if found.keys() <= kept.keys():
            job.forbidden = next(iter(exposed.values()))
        kept.update({number: why for number, why in found.items() if number not in kept})
        for node in all_nodes(job.model):
            if node.meta[NUMBER] in kept:
                node.meta[KEPT] = kept[node.meta[NUMBER]]

    def changes(results: Sequence[Job], _: Callable[[], Job]) -> Iterator[Change]:
        while results[-1].exposed:
            yield partial(keep, results[-1].exposed)

    return try_changes(job, run, changes, begin)[0]


def _connected(model: ir.Model, refused: Mapping[int, Refusal]) -> dict[int, Refusal]:
    """Return the numbers of the scatters and gathers that nodes lead to, and why they are kept."""
    nodes = all_nodes(model)
    holders: dict[object, list[ir.Node]] = {body: [n] for n in nodes for body in graphs_of(n)}

    def around(node: ir.Node) -> list[ir.Node]:
        function = called_function(model, node)
        called = [] if function is None else all_nodes(function)
        return list(node.successors()) + holders.get(node.graph, []) + called

    found: dict[int, Refusal] = {}
    for start in [n for n in nodes if n.meta[NUMBER] in refused]:
        for node in reached([start], around):
            if is_scatter(node) or is_gather(node):
                found.setdefault(node.meta[NUMBER], refused[start.meta[NUMBER]])
    return found


_FLOATS = {t for t in ir.DataType if t.is_floating_point()}


def least_violating(job: Job, run: Callable[[Job], Job], begin: Begin) -> Job:
    """Rewrite a model by ``run``, again for wider targets if that may help; return the best job."""
    target = job.settings.target
    if not target.is_limited or not job.has_scatters:
        return run(job)
    given = all_nodes(job.model)

    def changes(results: Sequence[Job], upcoming: Callable[[], Job]) -> Iterator[Change]:
        (first,) = results
        if not first.refused or any(v.op == "input" for v in first.violations):
            return
        if first.refused.issubset(given):
            original = upcoming().model
            unrelated = _unrelated(original)
            pairs = zip(given, all_nodes(original), strict=True)
            if all(same in unrelated for node, same in pairs if node in first.refused):
                return
        all_operators = target.with_all_operators()
        if any(outcome.kept for outcome in first.outcomes):
            yield partial(_allow, target, [*first.wider, all_operators])
        yield partial(_allow, all_operators, [])

    best, first = try_changes(job, run, changes, begin)
    if best is not first:
        best.violations_if_kept = Harm.of(first).refused
    return best


def _allow(target: Target, wider: Sequence[Target], job: Job) -> None:
    """Let scatters be written for another target, and then for wider ones."""
    job.target, job.wider = target, wider


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
