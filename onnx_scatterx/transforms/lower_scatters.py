"""Scatters are replaced by what computes the same without them.

Values that a reader needs are written out from their mosaics. A scatter that nothing needs any more
is removed, together with the nodes that computed its indices. A scatter whose result cannot be
written is kept, with the reason.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.lift.gathers import is_arithmetic, is_gather
from onnx_scatterx.lift.node_names import names_of
from onnx_scatterx.lift.scatters import is_scatter
from onnx_scatterx.lowering.attempt import RewriteRound
from onnx_scatterx.lowering.commit import Commit
from onnx_scatterx.lowering.graph_context import GraphContext
from onnx_scatterx.lowering.selection import Selection
from onnx_scatterx.text.reasons import Reason, Refusal
from onnx_scatterx.transforms.base import Pass
from onnx_scatterx.transforms.job import Job
from onnx_scatterx.transforms.outcome import Outcome
from onnx_scatterx.transforms.shorten_shapes import index_nodes


class LowerScatters(Pass):
    """Writes what the scatters of a model write, by the rules of the settings."""

    def run(self, job: Job) -> bool:
        if not job.has_scatters:
            return False
        job.called = names_of(job.model)
        before = len(job.outcomes)
        for context in job.contexts():
            if any(is_scatter(n) or (context.reads and is_gather(n)) for n in context.graph):
                outcome, made = rewrite_graph(context)
                job.outcomes.append(outcome)
                job.analysis.add(made)
        return any(outcome.rules for outcome in job.outcomes[before:])


def rewrite_graph(task: GraphContext) -> tuple[Outcome, list[ir.Node]]:
    """Rewrite one graph; return what became of its scatters, and the new nodes."""
    graph, scope = task.graph, task.scope
    scatters = [n for n in graph if is_scatter(n)]
    gathers: list[ir.Node] = []
    if task.reads:
        # What is computed of sizes alone is no data, and is left to go with its readers.
        gathers = [n for n in graph if is_gather(n) and not is_arithmetic(n, scope)]
    unread = {n for n in [*scatters, *gathers] if not any(map(_is_read, n.outputs))}
    kept: dict[ir.Node, Refusal] = {}
    apart: dict[ir.Node, None] = {}
    staying: dict[ir.Node, Refusal] = {}
    going = set(gathers)
    while True:
        attempt = RewriteRound(task, kept, apart, going)
        going = attempt.reads
        preferred = attempt.preferred()
        if preferred:
            kept.update(dict.fromkeys(preferred, Refusal(Reason.NO_RULE)))
            continue
        choice = Selection(attempt)
        kept.update(choice.refused)
        apart.update(choice.apart)
        staying.update(choice.staying)
        # What goes with the gathers that stay is worth less than was thought.
        stay = going & staying.keys()
        going -= stay
        if not choice.is_open and not stay:
            break
    lifted_of = attempt.provenance.scatters.items()
    gone = [n for n, found in lifted_of if found.refusal is None or n in choice.rewritings]
    indices = index_nodes(task, gone)
    written = Commit(attempt, choice)
    found = attempt.provenance
    refused = {
        lifted.node: kept.get(lifted.node, lifted.refusal)
        for lifted in found.scatters.values()
        if lifted.refusal is not None and lifted.node not in choice.rewritings
    }
    refusals = {n: why for n, why in refused.items() if n.graph is not None}
    for node in gathers:
        if node.graph is not None:
            why = found.unmoved.get(node) or staying.get(node)
            refusals[node] = why or Refusal(Reason.NO_GAIN)
    for node in scatters:
        if node.graph is not None:
            refusals.setdefault(node, Refusal(Reason.TOO_COSTLY))
    # What was read by scatters alone that went is gone as well, whatever is known of it.
    dead = {n for n in [*unread, *refused] if n.graph is None}
    outcome = Outcome(
        graph,
        found,
        written.rules,
        written.work,
        refusals,
        dead,
        gathers,
        written.selected,
        indices,
    )
    return outcome, attempt.writer.made


def _is_read(value: ir.Value) -> bool:
    return value.is_graph_output() or bool(value.uses())
