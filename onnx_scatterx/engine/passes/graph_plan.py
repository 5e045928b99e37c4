"""A graph is planned, again and again, until no scatter becomes opaque and no chain is split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.engine.budget import LimitError, SpentError, budget
from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.mosaic import Provenance
from onnx_scatterx.engine.passes.marks import KEPT
from onnx_scatterx.engine.plan import GraphContext, RewriteRound, ScatterSelection
from onnx_scatterx.engine.quantizers import QUANTIZED
from onnx_scatterx.text import FloatReason, Reason, Refusal

_OF_MOSAICS = 3 / 4  # of the steps of each round: the others are for its plans


class GraphPlan(NamedTuple):
    """What to write: the last round, its selection, and why scatters are opaque."""

    round: RewriteRound
    selection: ScatterSelection
    opaque: Mapping[ir.Node, Refusal]


def planned_graph(context: GraphContext) -> GraphPlan:
    """Plan a graph.

    A scatter whose result cannot be written is opaque: its result becomes a source, and planning
    starts again. Planning also starts again if a chain of scatters must be split. If the budget is
    spent, planning ends with the plans that were found: a plan stays right if other scatters are
    kept. A part of the budget is reserved for plans, so the mosaics that were found also get
    theirs.
    """
    spending = budget()
    last: GraphPlan | None = None
    opaque = {
        node: Refusal(Reason.QUANTIZER)
        for node in context.graph
        if context.target.onnxruntime
        and is_scatter(node)
        and isinstance(why := node.meta.get(QUANTIZED), FloatReason)
        and why.keeps_scatter
    }
    for node in context.graph:
        if KEPT in node.meta and is_scatter(node):
            opaque[node] = node.meta[KEPT]
    opaque.update(context.kept)
    split_before: dict[ir.Node, int] = {}
    writer = context.writer()
    while True:
        try:
            with spending.share(_OF_MOSAICS):
                provenance = Provenance(
                    context.graph,
                    context.scope,
                    opaque,
                    split_before=split_before,
                    constants=context.constants,
                )
                is_partial = spending.is_spent
            if is_partial and last is not None:
                return last
            round_ = RewriteRound(context, provenance, writer=writer)
            preferred = round_.preferred()
            selection = None if preferred else ScatterSelection(round_).made()
        except (LimitError, RecursionError):
            if last is None:
                raise
            return last
        opaque.update(dict.fromkeys(preferred, Refusal(Reason.NO_RULE)))
        opaque.update({} if selection is None else selection.refused)
        opaque.update(provenance.beyond_budget())
        if selection is None:
            continue
        if spending.is_spent:
            limit = spending.refusal(SpentError())
            kept = opaque | dict.fromkeys(selection.split_before, limit)
            return last or GraphPlan(round_, selection, kept)
        last = GraphPlan(round_, selection, dict(opaque))
        split_before.update(selection.split_before)
        if not selection.must_replan:
            return last


def kept_scatters(context: GraphContext) -> set[ir.Node]:
    """Return the scatters of a graph that would be kept, or become ScatterX; nothing is written."""
    round_, selection, _ = planned_graph(context)
    return {
        node
        for node, lifted in round_.provenance.scatters.items()
        if lifted.refusal is not None
        and (
            node not in selection.rewritings
            or any(rule.writes_scatterx for rule in selection.rewritings[node].rules)
        )
    }
