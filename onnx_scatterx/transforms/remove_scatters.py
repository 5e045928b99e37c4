"""The pipeline: interpret, lift, find mosaics, plan, write, clean up, report.

Values that a reader needs are written out from their mosaics; scatters that are not needed any more
disappear with the chains that computed their indices. What cannot be written keeps its scatter.
Where reads are asked for, gathers go likewise, as far as what is written instead is no more nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.analysis.domain.scope import Knowledge
from onnx_scatterx.analysis.interpreter import interpret
from onnx_scatterx.assumptions.clauses import Clause
from onnx_scatterx.ir.graphs import all_graphs
from onnx_scatterx.ir.names import Names
from onnx_scatterx.ir.scatterx_domain import is_scatterx_domain
from onnx_scatterx.lift.gathers import is_arithmetic, is_gather
from onnx_scatterx.lift.scatters import is_scatter
from onnx_scatterx.lowering.attempt import GraphContext, RewriteRound
from onnx_scatterx.lowering.commit import Commit
from onnx_scatterx.lowering.rule import Rule
from onnx_scatterx.lowering.selection import Selection
from onnx_scatterx.mosaic.constants import Constants
from onnx_scatterx.mosaic.provenance import Provenance
from onnx_scatterx.symbolic.terms import Term
from onnx_scatterx.targets.cost_model.costs import Costs, NodeCosts
from onnx_scatterx.targets.target import Target
from onnx_scatterx.text.reasons import Reason, Refusal
from onnx_scatterx.transforms.shorten_shapes import index_nodes, shorten_shapes


@dataclass
class Outcome:
    """What became of the scatters of one graph, and of its gathers where reads are rewritten.

    For those ``selected`` a Where of floats was written.
    """

    graph: ir.Graph
    provenance: Provenance
    rules: dict[ir.Node, frozenset[Rule]]
    work: dict[ir.Node, Term]
    refusals: dict[ir.Node, Refusal]
    dead: set[ir.Node]
    gathers: list[ir.Node]
    selected: set[ir.Node]


def rewrite_graph(task: GraphContext) -> Outcome:
    """Rewrite one graph; scatters whose results cannot be written are sources themselves."""
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
    shorten_shapes(task, indices)
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
    return Outcome(
        graph, found, written.rules, written.work, refusals, dead, gathers, written.selected
    )


def _is_read(value: ir.Value) -> bool:
    return value.is_graph_output() or bool(value.uses())


def has_scatters(model: ir.Model, *, reads: bool = False) -> bool:
    """Return whether a model has anything to rewrite: scatters, or gathers too."""
    return any(is_scatter(n) or (reads and is_gather(n)) for g in all_graphs(model) for n in g)


def rewrite_model(
    model: ir.Model,
    rules: Sequence[Rule],
    target: Target,
    *,
    distrust_dims: bool = False,
    assumed: Sequence[Clause] = (),
    costs: Costs | None = None,
    reads: bool = False,
) -> tuple[list[Outcome], Knowledge]:
    """Rewrite all scatters of a model in place; return what became of them, graph by graph.

    ``costs`` weigh the plans, by their nodes where not given. ``reads`` rewrites gathers too, where
    that is no more nodes.
    """
    if not has_scatters(model, reads=reads):
        return [], Knowledge({}, {}, {})
    costs = NodeCosts() if costs is None else costs
    knowledge = interpret(model, distrust_dims=distrust_dims, assumed=assumed)
    names = Names(model)
    version = model.ir_version or 0
    overridable: set[ir.Value] = set()
    if version >= 4:
        overridable = {v for v in model.graph.inputs if v.name in model.graph.initializers}
    outcomes = []
    for graph, scope in knowledge.scopes.items():
        if scope.function is not None and is_scatterx_domain(scope.function.domain):
            continue  # what a ScatterX falls back to
        if any(is_scatter(n) or (reads and is_gather(n)) for n in graph):
            nodes_only = scope.function is not None or version < 4
            fills = Constants(scope, overridable)
            task = GraphContext(graph, scope, rules, names, fills, nodes_only, target, costs, reads)
            outcomes.append(rewrite_graph(task))
    return outcomes, knowledge
