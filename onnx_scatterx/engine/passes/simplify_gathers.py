"""Gathers are replaced by nodes that read the same elements, if that takes no more nodes.

    before   y = Gather(x, Range(start, stop))          and the nodes that compute the indices
    after    y = Slice(x, start, stop)

Scatters that were kept are sources. Gathers that only compute with sizes are not data; they are
removed with their readers.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, budget, own_budget
from onnx_scatterx.engine.device import is_lacked
from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.mosaic import Provenance
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.marks import KEPT
from onnx_scatterx.engine.passes.step import Kind, Pass
from onnx_scatterx.engine.plan import (
    ExclusiveNodes,
    GatherSelection,
    GraphContext,
    Outcome,
    RewriteRound,
)
from onnx_scatterx.engine.quantizers import has_quantizers
from onnx_scatterx.text import Reason, Refusal


def simplify_gathers(job: Job) -> bool:
    """Write the results of a model's gathers, by the rules of the settings."""
    job.note_nodes()
    job.analyses.full.catch_up()
    modified = False
    obstacle = job.obstacle_to("SimplifyGathers")
    for context in list(job.contexts()):
        gathers = job.gathers.get(context.graph, {})
        if not gathers:
            continue
        outcome = job.outcome_of(context)
        if obstacle is not None:
            outcome.keep(gathers, obstacle)
            continue
        made = _simplify(context, list(gathers), job.unread, outcome)
        job.note_change()  # a gather that nothing reads goes without a rule
        job.analyses.note(made or ())
        modified |= made is not None
    return modified


SimplifyGathers = Pass(simplify_gathers, Kind.REPORT, lambda s: s.reads)


def _simplify(
    context: GraphContext, gathers: list[ir.Node], unread: set[ir.Node], outcome: Outcome
) -> list[ir.Node] | None:
    """Rewrite the gathers of one graph; return the new nodes, or None if nothing is written.

    If planning exceeds a limit, the graph is not changed.
    """
    there = {n for n in gathers if n.graph is not None}
    for node in (n for n in gathers if KEPT in n.meta):
        outcome.of(node).refusal = node.meta[KEPT]
        there.discard(node)
    quantizers = has_quantizers(context.graph)
    for node in gathers if quantizers else ():
        obstacle = context.reason_to_keep(node) if node in there else None
        if obstacle is not None:
            outcome.of(node).refusal = Refusal(Reason.QUANTIZER, obstacle.value)
            there.discard(node)
    outcome.note_dead(unread)
    try:
        round_, selection, kept = _planned(context, there)
    except (LimitError, RecursionError) as error:
        outcome.keep(there, budget().refusal(error))
        return None
    with own_budget():  # a plan is written completely
        is_written = outcome.write(round_, selection)
    provenance = round_.provenance
    for node in there:
        if node.graph is not None:
            unwritten = outcome.unwritten.get(node)
            why = unwritten or provenance.unmoved.get(node) or kept.get(node)
            by_rule = selection.unread.get(node)
            # A rule whose form takes more nodes needs no sign; what else is missing says more.
            costs = by_rule is not None and by_rule.reason is Reason.NO_GAIN
            told = costs and why is not None and why.reason is not Reason.UNKNOWN_SIGN
            if by_rule is not None and by_rule.reason is not Reason.NO_RULE and not told:
                why = by_rule
            outcome.of(node).refusal = why or Refusal(Reason.NO_GAIN)
    outcome.note_dead(unread)
    return round_.writer.graph.made if is_written else None


def _planned(
    context: GraphContext, there: set[ir.Node]
) -> tuple[RewriteRound, GatherSelection, dict[ir.Node, Refusal]]:
    """Return the last round, the selection in it, and why gathers are kept."""
    graph, scope = context.graph, context.scope
    opaque = {n: Refusal(Reason.NO_RULE) for n in graph if is_scatter(n)}
    kept: dict[ir.Node, Refusal] = {}
    lacking = {n for n in there if is_lacked(n, context.target)}
    last: tuple[RewriteRound, GatherSelection] | None = None
    while True:
        wanted = there - kept.keys()
        provenance = Provenance(
            graph, scope, opaque, wanted, constants=context.constants, whole=True
        )
        reached = {n for n in wanted if n.outputs[0] in provenance.absorbed}
        exclusive = ExclusiveNodes(graph, provenance, reached)
        round_ = RewriteRound(context, provenance, exclusive, copies=False)
        selection = GatherSelection(round_, reached, exclusive, lacking, there).made()
        # Fewer other nodes are removed than was assumed: those of kept gathers stay.
        stay = reached & selection.refused.keys()
        kept.update((n, selection.refused[n]) for n in stay)
        if last is None or not budget().is_spent:
            last = round_, selection
        if not stay or budget().is_spent:
            return *last, kept
