"""Whether a model is rewritten again, otherwise, and which of two results is better.

Some effects of a write are far from it, and are seen only in the whole model: at a quantizer
(``SoleReaders``). If ONNX Runtime would compute something else there, the scatters that are not
connected with the effect are written again (``keep_connected``). If no scatter is connected with
it, no scatter of the model is written.

If a target refuses nodes of the result, the passes run again (``wider_targets``). A scatter that
the target lacks may become one operator of its replacement. But the nodes that compute its indices
may need more operators that the target lacks. So two more results are made: in one, all operators
are allowed for the scatters that the target refuses; in the other, for all scatters. The result
with the least ``Harm`` is taken. If the target does not take the sizes of the inputs, no other
result is made: the user has to fix the sizes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.lift import is_gather, is_scatter
from onnx_scatterx.engine.mosaic import MOVES, connected_moves
from onnx_scatterx.engine.passes import KEPT, NUMBER, Job
from onnx_scatterx.engine.plan import read_only_by
from onnx_scatterx.engine.quantizers import QUANTIZERS, has_quantizers
from onnx_scatterx.graphs import (
    all_graphs,
    all_nodes,
    called_function,
    graphs_of,
    makers,
    reached,
)
from onnx_scatterx.targets import Target
from onnx_scatterx.text import Refusal

Wider: TypeAlias = tuple[Target, Sequence[Target]]
"""A target for whose nodes scatters are written, and the wider ones for those that are kept."""


class Harm(NamedTuple):
    """What is wrong with a result, the worst first: of two results, the one with less is better."""

    refused: int
    """How many violations of the target and its host there are."""
    violations: int
    """How many violations of the target there are."""

    @classmethod
    def of(cls, job: Job) -> Harm:
        """Return what is wrong with the result of a job.

        >>> from onnx_scatterx.engine.device import Violation
        >>> on_host = Violation("y", "Where", "g", "npu takes no Where", on_host=True)
        >>> Harm.of(Job(ir.from_onnx_text('<ir_version: 8> g () => () {}'), violations=(on_host,)))
        Harm(refused=0, violations=1)
        """
        return cls(sum(not v.is_taken for v in job.violations), len(job.violations))


def may_run_again(job: Job) -> bool:
    """Return whether the passes may run more than once on a job that no pass has changed yet."""
    target = job.settings.target
    if not target.onnxruntime or not job.held.has(*QUANTIZERS):
        return target.is_limited
    return target.is_limited or any(map(has_quantizers, job.held.graphs))


def keep_connected(job: Job, exposed: Mapping[int, Refusal], kept: dict[int, Refusal]) -> None:
    """Mark what a job that has not run keeps, as an earlier run ``exposed`` nodes of these numbers.

    ``kept`` is what that run kept; now the scatters and gathers that are connected with the nodes
    are added. If they were kept already, no scatter is written (``forbidden``).
    """
    found = _connected(job.model, exposed)
    if found.keys() <= kept.keys():
        job.forbidden = next(iter(exposed.values()))
    kept.update({number: why for number, why in found.items() if number not in kept})
    for node in all_nodes(job.model):
        if node.meta[NUMBER] in kept:
            node.meta[KEPT] = kept[node.meta[NUMBER]]


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


def wider_targets(first: Job, again: Callable[[], Job]) -> list[Wider]:
    """Return the targets for which to run again, after the first result.

    There is none if the target refuses nothing but ``unrelated_nodes``, or wants numbers as sizes.
    These are seen in the model as it was given, which only ``again`` still has: it returns a job
    before passes have run.
    """
    target = first.settings.target
    if first.keeps_rest or not target.is_limited or not first.refused:
        return []
    refused = {violation.node for violation in first.violations if violation.op == "input"}
    inputs = [value for value in first.model.graph.inputs if value.name in refused]
    if target.static_only and not all(v.shape is not None and v.shape.is_static() for v in inputs):
        return []
    unchanged = again()
    if not unchanged.has_scatters:
        return []
    unrelated = {node.meta[NUMBER] for node in unrelated_nodes(unchanged.model)}
    if unrelated.issuperset(node.meta.get(NUMBER) for node in first.refused):
        return []
    every = target.with_all_operators()
    some_kept = any(outcome.kept for outcome in first.outcomes)
    return [*([(target, [*first.wider, every])] if some_kept else []), (every, [])]


def unrelated_nodes(model: ir.Model) -> set[ir.Node]:
    """Return the nodes that compute nothing for scatters, nor move what they give."""
    return {n for graph in all_graphs(model) for n in set(graph).difference(_related(graph))}


_FLOATS = {t for t in ir.DataType if t.is_floating_point()}


def _related(graph: ir.Graph) -> set[ir.Node]:
    scatters = [n for n in graph if is_scatter(n)]
    near = connected_moves(graph, MOVES)
    near |= read_only_by([v for n in scatters for v in n.inputs], scatters, graph)

    def integers(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        whole = (v for v in values if v is not None and v.dtype not in _FLOATS)
        return [node for node in makers(whole) if node not in near]

    indices = integers(v for n in scatters for v in n.inputs[1:2])
    return near.union(reached(indices, lambda node: integers(node.inputs)))


def become(model: ir.Model, other: ir.Model) -> None:
    """Give a model the graph and the functions of another model, which must not be used further.

    The IR version is that of the other model, too: it follows the operator sets and the functions.
    """
    model.graph = other.graph
    model.ir_version = other.ir_version
    model.functions.clear()
    model.functions.update(other.functions)
