"""From what was done in each graph to the report that a user reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.canonical import Canonical
from onnx_scatterx.duplicates import SETTLED, duplicates_of
from onnx_scatterx.footprint_text import footprint_text
from onnx_scatterx.indexing.scope import Knowledge, Scope
from onnx_scatterx.indexing.terms import Leaf
from onnx_scatterx.lift import Access, Scatter, is_scatter
from onnx_scatterx.lift_reads import Gather, is_gather
from onnx_scatterx.native.unique import UNIQUE, is_unique
from onnx_scatterx.optimizer import Outcome
from onnx_scatterx.reasons import Reason, Refusal
from onnx_scatterx.report import Report
from onnx_scatterx.report_entries import Action, GatherReport, ScatterReport
from onnx_scatterx.rewriting.replace import told

_NATIVE = {"scatterx", "overlay"}  # the rules that write ScatterX
_LAST = {"lookup"}  # the rules that take the last of the updates that meet


@dataclass(frozen=True)
class Called:
    """What a node is called, by its output where it has no name of its own; inputs and output."""

    name: str
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True, eq=False)
class Account:
    """One scatter or gather: its line in the report, and what the line was made of.

    ``canonical`` is None where the node could not be lifted; ``inputs`` are the names of its inputs
    as they were before the rewriting, by their place, and ``output`` that of its output.
    """

    node: ir.Node
    entry: ScatterReport | GatherReport
    canonical: Canonical | None
    inputs: tuple[str, ...]
    output: str
    scope: Scope


def names_of(model: ir.Model) -> dict[ir.Node, Called]:
    """Return what scatters, gathers and their inputs are called, which a rewriting may change."""
    graphs = [*model.graphs(), *(f.graph for f in model.functions.values())]
    return {
        n: Called(
            n.name or n.outputs[0].name or "?",
            tuple((v.name or "?") if v is not None else "" for v in n.inputs),
            n.outputs[0].name or "?",
        )
        for g in graphs
        for n in g
        if is_scatter(n) or is_gather(n)
    }


def accounts_of(
    outcomes: Sequence[Outcome], knowledge: Knowledge, names: Mapping[ir.Node, Called]
) -> tuple[Account, ...]:
    """Return what became of every scatter and of the gathers that were looked at.

    ``names`` are those before the rewriting.
    """
    found = []
    for outcome in outcomes:
        where, scope = _graph_name(outcome, knowledge), knowledge.scopes[outcome.graph]
        for node, lifted in outcome.provenance.scatters.items():
            canonical = None if lifted.scatter is None else Canonical(lifted.scatter)
            called = names[node]
            entry = _entry(node, canonical, outcome, where, called.name, knowledge)
            found.append(Account(node, entry, canonical, called.inputs, called.output, scope))
        for node in outcome.gathers:
            gather = outcome.provenance.gathers.get(node)
            canonical = Canonical(gather) if isinstance(gather, Gather) else None
            called = names[node]
            read = _read_entry(node, canonical, outcome, where, called.name, knowledge)
            found.append(Account(node, read, canonical, called.inputs, called.output, scope))
    return tuple(found)


def report_of(
    target: str,
    accounts: Sequence[Account],
    before: Counter[str],
    after: Counter[str],
    *,
    planned: bool = False,
    reads: bool = False,
) -> Report:
    """Return the report on a model; ``planned`` says that it is about what would be done."""
    entries = tuple(account.entry for account in accounts)
    return Report(
        target,
        tuple(entry for entry in entries if isinstance(entry, ScatterReport)),
        before.total(),
        after.total(),
        tuple(dict.fromkeys(fact for entry in entries for fact in entry.facts)),
        before,
        after,
        planned,
        tuple(entry for entry in entries if isinstance(entry, GatherReport)),
        reads,
    )


def _graph_name(outcome: Outcome, knowledge: Knowledge) -> str:
    function = knowledge.scopes[outcome.graph].function
    if function is not None:
        return f"{function.domain}.{function.name}"
    return outcome.graph.name or "main"


def _fate(node: ir.Node, outcome: Outcome) -> tuple[Action, Refusal | None]:
    """Return what was done with a node, and why not more."""
    if node in outcome.dead:
        return Action.DEAD, None
    refusal = outcome.refusals.get(node)
    return Action.REMOVED if refusal is None else Action.KEPT, refusal


def _entry(
    node: ir.Node,
    canonical: Canonical | None,
    outcome: Outcome,
    where: str,
    name: str,
    knowledge: Knowledge,
) -> ScatterReport:
    action, refusal = _fate(node, outcome)
    written = action is Action.REMOVED
    forms = outcome.forms.get(node, frozenset())
    if written and _NATIVE & forms:
        # It is gone, and still a scatter: why it is no slice is worth knowing.
        action, refusal = Action.NATIVE, outcome.provenance.scatters[node].refusal
    goes = action in (Action.REMOVED, Action.DEAD)
    unique = _uniqueness(canonical, refusal, action is Action.REMOVED and not forms & _LAST)
    if unique == "unknown" and canonical is not None and not goes:
        proven = node.meta.get(UNIQUE)
        if proven is None and isinstance(canonical.access, Scatter):
            proven = is_unique(canonical.access, outcome.provenance)
        unique = "proven" if proven else unique
    duplicates = None
    last = "in ScatterX" if action is Action.NATIVE else ""
    if forms & _LAST:
        last = "as written"
    if canonical is not None and (not goes or last or node.meta.get(SETTLED)):
        duplicates = duplicates_of(node, canonical, unique, last)
    return ScatterReport(
        node=name,
        op=node.op_type,
        graph=where,
        reduction=_reduction(node, canonical),
        footprint="unknown" if canonical is None else footprint_text(canonical),
        verdict="unknown" if canonical is None else canonical.verdict.sliceability.value,
        unique=unique,
        action=action,
        forms=tuple(sorted(forms)) if written else (),
        refusal=refusal,
        facts=() if canonical is None else tuple(_assumptions(canonical.access, knowledge)),
        duplicates=duplicates,
        work=told(outcome.work[node]) if written and node in outcome.work else "",
    )


def _read_entry(
    node: ir.Node,
    canonical: Canonical | None,
    outcome: Outcome,
    where: str,
    name: str,
    knowledge: Knowledge,
) -> GatherReport:
    action, refusal = _fate(node, outcome)
    return GatherReport(
        node=name,
        op=node.op_type,
        graph=where,
        footprint="unknown" if canonical is None else footprint_text(canonical),
        verdict="unknown" if canonical is None else canonical.verdict.sliceability.value,
        action=action,
        forms=tuple(sorted(outcome.forms.get(node, ()))) if action is Action.REMOVED else (),
        refusal=refusal,
        facts=() if canonical is None else tuple(_assumptions(canonical.access, knowledge)),
    )


def _reduction(node: ir.Node, canonical: Canonical | None) -> str:
    if canonical is not None and isinstance(canonical.access, Scatter):
        return canonical.access.reduction
    attribute = node.attributes.get("reduction")
    if attribute is None:
        return "none"
    return "unknown" if attribute.is_ref() else attribute.as_string()


def _uniqueness(canonical: Canonical | None, refusal: Refusal | None, written: bool) -> str:
    """Return whether two updates can go to one element: "proven", "collides" or "unknown"."""
    if written and canonical is not None and not isinstance(canonical.boxes, Refusal):
        return "proven"  # no boxes are written that may overlap
    if refusal is not None and refusal.reason is Reason.COLLIDES:
        return "collides"
    unique = None if canonical is None else canonical.unique
    return {True: "proven", False: "collides", None: "unknown"}[unique]


def _assumptions(access: Access, knowledge: Knowledge) -> list[str]:
    """Return the assumptions on declared dims that the sizes of a node rest on."""
    leaves = set[Leaf]().union(
        *(t.leaves() for t in (*access.shape, *access.data_shape, *access.targets))
    )
    return [
        f"declared-dims: inputs that declare {name!r} agree in it"
        for t, name in knowledge.shared.items()
        if t.leaves() <= leaves
    ]
