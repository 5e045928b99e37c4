"""Scatters are replaced by what computes the same without them.

Values that a reader needs are written out from their mosaics. A scatter that nothing needs any more
is removed, together with the nodes that computed its indices. A scatter whose result cannot be
written is kept, with the reason.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.lift.scatters import is_scatter
from onnx_scatterx.lowering.commit import Commit
from onnx_scatterx.lowering.graph_context import GraphContext
from onnx_scatterx.lowering.round import RewriteRound
from onnx_scatterx.lowering.selection import ScatterSelection
from onnx_scatterx.mosaic.provenance import Provenance
from onnx_scatterx.text.reasons import Reason, Refusal
from onnx_scatterx.transforms.base import Pass
from onnx_scatterx.transforms.job import Job
from onnx_scatterx.transforms.outcome import Outcome, is_read
from onnx_scatterx.transforms.shorten_shapes import index_nodes


class LowerScatters(Pass):
    """Writes what the scatters of a model write, by the rules of the settings."""

    def run(self, job: Job) -> bool:
        if not job.has_scatters:
            return False
        job.note_nodes()
        for context in list(job.contexts()):
            if any(map(is_scatter, context.graph)):
                outcome, made = rewrite_graph(context)
                job.outcomes.append(outcome)
                job.analysis.add(made)
        return any(outcome.rules for outcome in job.outcomes)


def rewrite_graph(context: GraphContext) -> tuple[Outcome, list[ir.Node]]:
    """Rewrite one graph; return what became of its scatters, and the new nodes.

    A scatter whose result cannot be written is opaque: its result is looked at as a tensor of its
    own, and planning starts again. So does it if a chain of scatters must be split.
    """
    graph, scope = context.graph, context.scope
    scatters = [n for n in graph if is_scatter(n)]
    unread = {n for n in scatters if not any(map(is_read, n.outputs))}
    opaque: dict[ir.Node, Refusal] = {}
    split_before: dict[ir.Node, None] = {}
    while True:
        found = Provenance(
            graph, scope, opaque, split_before=split_before, constants=context.constants
        )
        round_ = RewriteRound(context, found)
        preferred = round_.preferred()
        if preferred:
            opaque.update(dict.fromkeys(preferred, Refusal(Reason.NO_RULE)))
            continue
        selection = ScatterSelection(round_)
        opaque.update(selection.refused)
        split_before.update(selection.split_before)
        if not selection.must_replan:
            break
    lifted = found.scatters
    gone = [n for n, s in lifted.items() if s.refusal is None or n in selection.rewritings]
    indices = index_nodes(context, gone)
    written = Commit(round_, selection)
    refused = {
        node: opaque.get(node, scatter.refusal)
        for node, scatter in lifted.items()
        if scatter.refusal is not None and node not in selection.rewritings
    }
    refusals = {n: why for n, why in refused.items() if n.graph is not None}
    for node in scatters:
        if node.graph is not None:
            refusals.setdefault(node, Refusal(Reason.TOO_COSTLY))
    # What was read only by scatters that are gone is gone as well, whatever is known of it.
    dead = {n for n in [*unread, *refused] if n.graph is None}
    outcome = Outcome(graph, found, refusals, dead, indices)
    outcome.add(written)
    return outcome, round_.writer.made
