"""Scatters are replaced by nodes that compute the same.

Values that a reader needs are written from their mosaics. A scatter without readers is removed,
together with the nodes that computed its indices. A scatter whose result cannot be written is kept,
with the reason. If the target refuses it as it is, nodes of wider targets are tried.
"""

from __future__ import annotations

from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, budget, own_budget
from onnx_scatterx.engine.device import violating_nodes
from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.mosaic import Provenance
from onnx_scatterx.engine.passes.graph_plan import GraphPlan, planned_graph
from onnx_scatterx.engine.passes.integers_behind import index_nodes
from onnx_scatterx.engine.passes.job import Job, is_unread
from onnx_scatterx.engine.passes.step import Kind, Pass
from onnx_scatterx.engine.plan import GraphContext, NodeOutcome, Outcome
from onnx_scatterx.engine.quantizers import QUANTIZED
from onnx_scatterx.targets import Target
from onnx_scatterx.text import FloatReason, Reason, Refusal


def lower_scatters(job: Job) -> bool:
    """Write the results of a model's scatters, by the rules of the settings."""
    if not job.has_scatters:
        return False
    job.analyses.full.catch_up()
    job.note_nodes()
    obstacle = job.obstacle_to("LowerScatters")
    for context in list(job.contexts()):
        scatters = [node for node in context.graph if is_scatter(node)]
        if scatters:
            outcome, made = (
                rewrite_graph(context) if obstacle is None else (_untouched(context, obstacle), [])
            )
            job.note_change()  # a scatter that nothing reads goes without a rule
            job.outcomes.append(outcome)
            job.analyses.note(made)
            job.planned.note(*scatters)
    if obstacle is None and any(outcome.kept for outcome in job.outcomes):
        for wider in job.wider:
            _lower_refused(job, wider)
    return any(outcome.has_rules for outcome in job.outcomes)


LowerScatters = Pass(lower_scatters, Kind.REPORT)


def _lower_refused(job: Job, wider: Target) -> None:
    """Write the scatters that neither the target nor its host runs by nodes of a wider target."""
    kept = {n: why for outcome in job.outcomes for n, why in outcome.kept.items()}
    if not kept:
        return
    pairs = violating_nodes(job.model, job.settings.target, job.analyses.full.current())
    refused = {node for node, violation in pairs if not violation.is_taken}
    for context in list(job.contexts()):
        here = [node for node in context.graph if node in kept]
        run = [n for n in here if refused.isdisjoint([n, *index_nodes(context, [n])])]
        if len(run) < len(here):
            others = replace(context, target=wider, kept={n: kept[n] for n in run})
            outcome, made = rewrite_graph(others)
            job.outcome_of(context).add_later(outcome)
            job.analyses.note(made)


def rewrite_graph(context: GraphContext) -> tuple[Outcome, list[ir.Node]]:
    """Rewrite one graph; return the outcome of its scatters, and the new nodes."""
    try:
        planned = planned_graph(context)
    except (LimitError, RecursionError) as error:
        return _untouched(context, budget().refusal(error)), []
    with own_budget():  # a plan is written completely
        return _written(context, planned)


def _written(context: GraphContext, planned: GraphPlan) -> tuple[Outcome, list[ir.Node]]:
    """Write a plan into its graph."""
    round_, selection, opaque = planned
    provenance = round_.provenance
    lifted = provenance.scatters
    unread = {n for n in lifted if is_unread(n)}
    gone = [
        n
        for n, s in lifted.items()
        if n in selection.rewritings or (s.refusal is None and n not in opaque)
    ]
    outcome = Outcome(context.graph, provenance, index_nodes=index_nodes(context, gone))
    outcome.write(round_, selection)
    refused = {
        node: opaque.get(node, scatter.refusal)
        for node, scatter in lifted.items()
        if (scatter.refusal is not None or node in opaque) and node not in selection.rewritings
    }
    for node, why in refused.items():
        if why is not None and isinstance(why.detail, FloatReason):
            node.meta[QUANTIZED] = why.detail
    for node in (n for n in lifted if n.graph is not None):
        why = refused.get(node) or outcome.unwritten.get(node) or Refusal(Reason.TOO_COSTLY)
        outcome.of(node).refusal = provenance.with_limit(node, why)
    # A scatter that only removed scatters read is removed, too, even if it was refused.
    outcome.note_dead([*unread, *refused])
    return outcome, round_.writer.graph.made


def _untouched(context: GraphContext, why: Refusal) -> Outcome:
    """Return the outcome of a graph that is not changed."""
    provenance = Provenance(context.graph, context.scope, constants=context.constants, given_up=why)
    nodes = {node: NodeOutcome(why) for node in provenance.scatters}
    return Outcome(context.graph, provenance, nodes)
