"""From what was done in each graph to the report that a user reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import onnx_ir as ir

from onnx_scatterx.components import Affine, Component, Constant, Table
from onnx_scatterx.footprint import Piece, pieces
from onnx_scatterx.indexing.interpreter import Knowledge
from onnx_scatterx.indexing.terms import Leaf, Term, coord
from onnx_scatterx.lift import Scatter
from onnx_scatterx.optimizer import Outcome
from onnx_scatterx.reasons import Reason, RefusedError
from onnx_scatterx.report import Action, Report, ScatterReport
from onnx_scatterx.verdict import Verdict, judge


def report_of(
    model: ir.Model,
    target: str,
    outcomes: Sequence[Outcome],
    knowledge: Knowledge,
    before: Counter[str],
    after: Counter[str],
) -> Report:
    """Return the report on a model that was rewritten."""
    scatters = []
    assumed: dict[str, None] = {}
    for outcome in outcomes:
        where = _graph_name(outcome, knowledge)
        for node, lifted in outcome.provenance.scatters.items():
            entry = _scatter(node, lifted.scatter, outcome, where, knowledge)
            scatters.append(entry)
            assumed.update(dict.fromkeys(entry.facts))
    return Report(
        target, tuple(scatters), before.total(), after.total(), tuple(assumed), before, after
    )


def _graph_name(outcome: Outcome, knowledge: Knowledge) -> str:
    function = knowledge.scopes[outcome.graph].function
    if function is not None:
        return f"{function.domain}.{function.name}"
    return outcome.graph.name or "main"


def _scatter(
    node: ir.Node,
    scatter: Scatter | None,
    outcome: Outcome,
    where: str,
    knowledge: Knowledge,
) -> ScatterReport:
    refusal = outcome.refusals.get(node)
    action = Action.REMOVED if refusal is None else Action.KEPT
    if node in outcome.dead:
        action = Action.DEAD
    attribute = node.attributes.get("reduction")
    return ScatterReport(
        node=node.name or "(unnamed)",
        op=node.op_type,
        graph=where,
        reduction=attribute.as_string()
        if attribute is not None and not attribute.is_ref()
        else "none",
        footprint="unknown" if scatter is None else footprint_text(scatter),
        verdict="unknown" if scatter is None else verdict_of(scatter).sliceability.value,
        unique="unknown"
        if scatter is None
        else uniqueness(scatter, None if refusal is None else refusal.reason),
        action=action,
        forms=tuple(sorted(outcome.forms.get(node, ()))) if refusal is None else (),
        refusal=refusal,
        facts=() if scatter is None else tuple(_assumptions(scatter, knowledge)),
    )


def components_of(scatter: Scatter) -> tuple[Component[Term], ...]:
    """Return the components of a scatter's transformer, in the terms of the theory."""
    return tuple(_component(t) for t in scatter.targets)


def _component(target: Term) -> Component[Term]:
    if not target.coords:
        return Constant(target)
    if len(target.coords) == 1:
        (dim,) = target.coords
        (atom,) = coord(dim).atoms
        slope, start = target.split(atom)
        if slope.constant is not None and not start.coords:
            return Affine(start, slope, dim)
    return Table(tuple(sorted(target.coords)), target)


def verdict_of(scatter: Scatter) -> Verdict:
    """Return the paper's verdict on a scatter; a dim of unknown extent counts as 2 or more."""
    wide = {d for d, n in enumerate(scatter.shape) if not scatter.facts.proves(1 - n)}
    return judge(components_of(scatter), len(scatter.shape), wide)


def uniqueness(scatter: Scatter, reason: Reason | None) -> str:
    """Return whether two updates can go to one element: "proven", "collides" or "unknown"."""
    if reason is Reason.COLLIDES:
        return "collides"
    return "proven" if _boxes(scatter) is not None else "unknown"


def _boxes(scatter: Scatter) -> list[Piece] | None:
    try:
        return pieces(scatter)
    except RefusedError:
        return None


def footprint_text(scatter: Scatter) -> str:
    """Return in words what a scatter writes.

    One of nothing, everything, a box, a strided box, boxes, or unknown.
    """
    boxes = _boxes(scatter)
    if boxes is None:
        return "unknown"
    if not boxes:
        return "nothing"
    if len(boxes) > 1:
        return f"{len(boxes)} boxes"
    (piece,) = boxes
    facts = scatter.facts
    strided = any(line.dim is not None and abs(line.step) > 1 for line in piece.lines)
    whole = True
    spans = []
    for line, size in zip(piece.lines, scatter.data_shape, strict=True):
        count = 1 if line.dim is None else piece.counts[line.dim]
        end = line.start + line.step * count
        covers = line.step == 1 and facts.equal(line.start, 0) and facts.equal(end, size)
        covers = covers or (size.constant == 1 and line.dim is None)
        whole = whole and covers
        if line.dim is None:
            spans.append(f"{line.start}")
        elif covers:
            spans.append(":")
        else:
            step = f":{line.step}" if line.step != 1 else ""
            spans.append(f"{line.start}:{end}{step}")
    if whole:
        return "everything"
    return f"{'strided box' if strided else 'box'} [{', '.join(spans)}]"


def _assumptions(scatter: Scatter, knowledge: Knowledge) -> list[str]:
    """Return the assumptions on declared dims that a scatter's sizes rest on."""
    leaves: set[Leaf] = set()
    for t in (*scatter.shape, *scatter.data_shape, *scatter.targets):
        leaves |= t.leaves()
    return [
        f"declared-dims: inputs that declare {name!r} agree in it"
        for t, name in knowledge.shared.items()
        if t.leaves() <= leaves
    ]
