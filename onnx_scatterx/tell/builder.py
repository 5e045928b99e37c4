"""Makes the report that a user reads, from what was done in each graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause
from onnx_scatterx.engine.analysis import Knowledge, Scope
from onnx_scatterx.engine.budget import within_limits
from onnx_scatterx.engine.lift import Access, InTheory, NodeNames, Scatter, is_scatter
from onnx_scatterx.engine.mosaic import is_unique
from onnx_scatterx.engine.passes import LAST_WINS, NUMBER, Job
from onnx_scatterx.engine.plan import NodeOutcome, Outcome, work_text
from onnx_scatterx.engine.quantizers import QUANTIZED
from onnx_scatterx.engine.terms import Symbol, Term
from onnx_scatterx.engine.write import caches_of
from onnx_scatterx.graphs import attribute_of
from onnx_scatterx.operators import needed
from onnx_scatterx.tell.duplicates import Duplicates, duplicates_of, missing_sign
from onnx_scatterx.tell.entries import Action, Entry, GatherReport, ScatterReport
from onnx_scatterx.tell.lost_sums import lost_sum
from onnx_scatterx.tell.report import Report
from onnx_scatterx.tell.term_text import abbreviated
from onnx_scatterx.text import FloatReason, Missing, Reason, Refusal

AXES = "axis-limit: no axis has 2^31 elements or more"
"""The assumption on sizes that are known only at run time (``AXIS_LIMIT``)."""


_DIFFERENT = ("unique", "increasing", "contiguous")
"""Promises under which no two elements are equal."""


@dataclass(frozen=True, eq=False)
class NodeRecord:
    """One scatter or gather: its line in the report, and the facts behind the line.

    ``in_theory`` is None if the node could not be lifted; ``called`` are its names and those of its
    inputs and output, as they were before the rewriting. ``doubted`` are statements about the
    model's sizes under which more shapes would be known. ``work`` is how many elements the largest
    tensor of the dense form has that replaces the node; None if no dense form does.
    """

    node: ir.Node
    entry: Entry
    in_theory: InTheory | None
    called: NodeNames
    scope: Scope
    doubted: tuple[Clause, ...] = ()
    work: Term | None = None


def records_of(job: Job) -> tuple[NodeRecord, ...]:
    """Return a record of every scatter, and of the gathers that were to be simplified."""
    if not job.outcomes:
        return ()  # a model in which nothing was to be done need not be read
    made, knowledge = [], job.analyses.full.knowledge
    for outcome in job.outcomes:
        where, scope = _graph_name(outcome, knowledge), knowledge.scopes[outcome.graph]
        accesses: list[tuple[ir.Node, Access | Refusal | None]] = [
            *((node, lifted.scatter) for node, lifted in outcome.provenance.scatters.items()),
            *job.gathers.get(outcome.graph, {}).items(),
        ]
        for node, access in accesses:
            in_theory = InTheory(access) if isinstance(access, Access) else None
            called = job.called[node]
            make = partial(_entry, node, outcome, where, called, knowledge, job.assumed)
            entry = within_limits(partial(make, in_theory))
            if entry is None:
                in_theory, entry = None, make(None)
            work = outcome.of(node).work if entry.rules else None
            doubted = knowledge.suspected
            made.append(NodeRecord(node, entry, in_theory, called, scope, doubted, work))
    return tuple(made)


def told_records(job: Job, records: Sequence[NodeRecord]) -> tuple[NodeRecord, ...]:
    """Return the records without those of kept gathers that the target takes, unless asked for.

    Such gathers were looked at only because the target does not take all uses of their operators.
    """
    if job.settings.options["gathers"]:
        return tuple(records)
    refused = {(violation.op, violation.node) for violation in job.violations}
    return tuple(
        record
        for record in records
        if not isinstance(record.entry, GatherReport)
        or record.entry.action is not Action.KEPT
        or (record.entry.op, record.entry.node) in refused
    )


def report_of(
    job: Job,
    records: Sequence[NodeRecord],
    before: Counter[str],
    after: Counter[str],
    **more: Any,
) -> Report:
    """Return the report on a job. ``more`` are the fields that the caller gives.

    If a pass changed the model, the result holds under all promises.
    """
    entries = tuple(record.entry for record in records)
    facts = [f for e in entries if e.action is not Action.KEPT for f in e.facts]
    promises = map(str, job.assumed if job.modified else ())
    gathers = tuple(entry for entry in entries if isinstance(entry, GatherReport))
    new = (node for node in job.held.nodes if NUMBER not in node.meta)
    return Report(
        job.settings.target.name,
        tuple(entry for entry in entries if isinstance(entry, ScatterReport)),
        before.total(),
        after.total(),
        tuple(dict.fromkeys((*facts, *promises))),
        before,
        after,
        gathers=gathers,
        with_gathers=job.settings.options["gathers"] or bool(gathers),
        only_refused_gathers=not job.settings.options["gathers"],
        violations=job.violations,
        violations_if_kept=job.violations_if_kept,
        at_load=job.at_load,
        has_profile=job.settings.target.has_profile,
        target_text=job.settings.target.text,
        target_keys=job.settings.target.keys,
        as_is=job.settings.as_is,
        **job.lowered._asdict(),
        needs_runtime=needed(new) if job.fusions is not None else None,
        modified=job.modified,
        cache_pairs=tuple(caches_of(job.model.graph).items()),
        **more,
    )


def _graph_name(outcome: Outcome, knowledge: Knowledge) -> str:
    function = knowledge.scopes[outcome.graph].function
    if function is not None:
        return f"{function.domain}.{function.name}"
    return outcome.graph.name or "main"


def _entry(
    node: ir.Node,
    outcome: Outcome,
    where: str,
    called: NodeNames,
    knowledge: Knowledge,
    assumed: Sequence[Clause],
    in_theory: InTheory | None,
) -> Entry:
    done = outcome.of(node)
    refusal, rules = _with_doubts(done.refusal, knowledge), done.rules
    action = Action.REMOVED if refusal is None else Action.KEPT
    if done.is_dead:
        action, refusal = Action.DEAD, None
    elif action is Action.REMOVED and any(r.writes_scatterx for r in rules) and is_scatter(node):
        # The node is removed, but ScatterX is still a scatter: the report says why it is not
        # slices. A gather of it is only removed.
        action, refusal = Action.NATIVE, outcome.provenance.scatters[node].refusal
        if refusal is not None:
            refusal = outcome.provenance.with_limit(node, refusal)
    if refusal is not None and not isinstance(refusal.detail, Missing):
        refusal = replace(refusal, detail=refusal.shown)  # a report needs no terms
    text, is_abbreviated = "unknown", False
    if in_theory is not None:
        text, is_abbreviated = abbreviated(in_theory, called.axes)
    is_written = action in (Action.REMOVED, Action.NATIVE)
    names = tuple(sorted(r.name for r in rules)) if is_written else ()
    relied_on = [] if in_theory is None else _assumptions(in_theory.access, knowledge)
    of_any: dict[str, Any] = {
        "node": called.name,
        "op": node.op_type,
        "graph": where,
        "footprint": text,
        "is_abbreviated": is_abbreviated,
        "axes": called.axes,
        "verdict": "unknown" if in_theory is None else in_theory.verdict.sliceability.value,
        "action": action,
        "rules": names,
        "written": done.operators if action is Action.REMOVED else (),
        "refusal": refusal,
        "selects_floats": done.selects_floats,
        "in_onnxruntime": _in_onnxruntime(node) if action is not Action.KEPT else (),
        "facts": (*relied_on, *(map(str, assumed) if action is not Action.KEPT else ())),
    }
    if not is_scatter(node):
        return GatherReport(**of_any)
    different = {clause.name for clause in assumed if clause.condition in _DIFFERENT}
    unique, duplicates = _collisions(node, in_theory, outcome, action, refusal, different)
    return ScatterReport(
        **of_any,
        reduction=_reduction(node, in_theory),
        unique=unique,
        duplicates=duplicates,
        work=work_text(done.work) if done.work is not None and names else "",
        multiply_adds=_multiply_adds(done) if names else "",
        quantized=_quantized(node),
    )


def _multiply_adds(done: NodeOutcome) -> str:
    """Return how much a function of chosen rows multiplies for each row, and for all rows."""
    if done.multiply_adds is None:
        return ""
    each, total, _ = done.multiply_adds
    return f"{work_text(each)} for each row, {work_text(total)} for all"


def _in_onnxruntime(node: ir.Node) -> tuple[str, ...]:
    """Return why ONNX Runtime may compute other values of what replaces a node."""
    why = node.meta.get(QUANTIZED)
    return (str(why),) if isinstance(why, FloatReason) and why.keeps_scatter else ()


def _quantized(node: ir.Node) -> str:
    """Return whether a write between quantizers is done on the integers, or why not."""
    noted = node.meta.get(QUANTIZED)
    if isinstance(noted, FloatReason):
        return f"on floats: {noted.value}"
    return "" if noted is None else f"on {noted.name.lower()}"


def _with_doubts(refusal: Refusal | None, knowledge: Knowledge) -> Refusal | None:
    """Name the assumptions about sizes without which a rank is unknown at 0 or 1."""
    if refusal is None or refusal.reason is not Reason.UNKNOWN_RANK or not knowledge.suspected:
        return refusal
    promises = " ".join(f"--assume '{clause}'" for clause in knowledge.suspected)
    return replace(refusal, detail=f"{refusal.detail}; try {promises}")


def _collisions(
    node: ir.Node,
    in_theory: InTheory | None,
    outcome: Outcome,
    action: Action,
    refusal: Refusal | None,
    different: Collection[str],
) -> tuple[str, Duplicates | None]:
    """Return in a word whether updates of a scatter collide, and the collisions.

    ``different`` are the inputs whose elements are promised to be different.
    """
    done = outcome.of(node)
    takes_last = any(r.takes_last for r in done.rules)
    goes = action in (Action.REMOVED, Action.DEAD)
    unique = _uniqueness(in_theory, refusal, action is Action.REMOVED and not takes_last)
    if in_theory is None:
        return unique, None
    if unique == "unknown":
        proven = done.unique
        if proven is None and isinstance(in_theory.access, Scatter):
            proven = is_unique(in_theory.access, outcome.provenance)
        unique = "proven" if proven else unique
    last = "in ScatterX" if action is Action.NATIVE else ""
    if takes_last:
        last = "as written"
    if goes and not last and not node.meta.get(LAST_WINS):
        return unique, None
    hint = ""
    if different and unique == "unknown" and isinstance(in_theory.access, Scatter):
        hint = missing_sign(in_theory.access, outcome.provenance, different)
    return unique, duplicates_of(node, in_theory, unique, last, hint or lost_sum(node))


def _reduction(node: ir.Node, in_theory: InTheory | None) -> str:
    if in_theory is not None and isinstance(in_theory.access, Scatter):
        return in_theory.access.reduction
    return attribute_of(node, "reduction", "none") or "unknown"


def _uniqueness(in_theory: InTheory | None, refusal: Refusal | None, written: bool) -> str:
    """Return whether two updates can go to one element: "proven", "collides" or "unknown"."""
    if written and in_theory is not None and not isinstance(in_theory.boxes, Refusal):
        return "proven"  # no boxes are written that may overlap
    if refusal is not None and refusal.reason is Reason.COLLIDES:
        return "collides"
    unique = None if in_theory is None else in_theory.unique
    return {True: "proven", False: "collides", None: "unknown"}[unique]


def _assumptions(access: Access, knowledge: Knowledge) -> list[str]:
    """Return the assumptions about the sizes of a node."""
    leaves = set[Symbol]().union(
        *(t.leaves() for t in (*access.shape, *access.data_shape, *access.index_exprs))
    )
    assumptions = [
        f"declared-dims: all input dims {name!r} have the same size"
        for t, name in knowledge.shared.items()
        if t.leaves() <= leaves
    ]
    return [*assumptions, AXES] if any(leaf.is_size for leaf in leaves) else assumptions
