"""The passes in the order in which they run, and the report at the end."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.collection import raised_gc_threshold
from onnx_scatterx.ir.graphs import all_graphs, nodes_within
from onnx_scatterx.ir.opset import lower_opset, newer_opset
from onnx_scatterx.ir.outside import follow_links
from onnx_scatterx.ir.scatterx_domain import is_scatterx_domain
from onnx_scatterx.optimizer.analysis.assumed import holds_integers, symbols_of
from onnx_scatterx.optimizer.assumptions.clauses import (
    METADATA,
    Clause,
    as_metadata,
    check,
    from_metadata,
)
from onnx_scatterx.optimizer.assumptions.fixed_sizes import FixedSizes
from onnx_scatterx.optimizer.assumptions.size_template import template
from onnx_scatterx.optimizer.assumptions.sized_clauses import at_sizes, equalities
from onnx_scatterx.optimizer.reports.builder import NodeRecord, records_of, report_of
from onnx_scatterx.optimizer.reports.entries import Action
from onnx_scatterx.optimizer.reports.necessity import Effect, needed
from onnx_scatterx.optimizer.reports.report import Report
from onnx_scatterx.optimizer.reports.sections import with_details
from onnx_scatterx.optimizer.settings import Settings
from onnx_scatterx.optimizer.symbolic.budget import Budget, budget, of_command
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.symbol_ids import fresh_symbols
from onnx_scatterx.optimizer.targets.cost_model.sizes import check_sizes
from onnx_scatterx.optimizer.targets.violations import Violation, violations
from onnx_scatterx.optimizer.transforms.attach_fallbacks import AttachFallbacks
from onnx_scatterx.optimizer.transforms.attempt import attempts
from onnx_scatterx.optimizer.transforms.base import Pass
from onnx_scatterx.optimizer.transforms.cancel_transposes import CancelTransposes
from onnx_scatterx.optimizer.transforms.drop_defaults import DropDefaultReductions
from onnx_scatterx.optimizer.transforms.drop_overwritten import DropOverwrittenUpdates
from onnx_scatterx.optimizer.transforms.fold_sizes import FoldSizes
from onnx_scatterx.optimizer.transforms.inline_if import InlineKnownIfs
from onnx_scatterx.optimizer.transforms.job import Job
from onnx_scatterx.optimizer.transforms.lower_scatters import LowerScatters
from onnx_scatterx.optimizer.transforms.move_above_quantizers import MoveAboveQuantizers
from onnx_scatterx.optimizer.transforms.share_masks import ShareMasks
from onnx_scatterx.optimizer.transforms.shorten_shapes import ShortenShapeComputations
from onnx_scatterx.optimizer.transforms.simplify_gathers import SimplifyGathers
from onnx_scatterx.optimizer.transforms.write_on_integers import WriteOnIntegers
from onnx_scatterx.optimizer.transforms.write_other_forms import WriteOtherForms
from onnx_scatterx.optimizer.transforms.write_sizes import WriteSizes
from onnx_scatterx.system.observer import LOG, NOBODY, Observer
from onnx_scatterx.text.reasons import IN_ONNXRUNTIME
from onnx_scatterx.text.reasons import as_metadata as as_runtime
from onnx_scatterx.text.reasons import from_metadata as from_runtime
from onnx_scatterx.text.visible import visible

LOWERING: tuple[Pass, ...] = (
    WriteSizes(),
    InlineKnownIfs(),
    ShareMasks(),
    DropOverwrittenUpdates(),
    WriteOnIntegers(),
    LowerScatters(),
    SimplifyGathers(),
    ShortenShapeComputations(),
    CancelTransposes(),
)
"""The passes that replace scatters and gathers."""

FITTING: tuple[Pass, ...] = (
    FoldSizes(),
    WriteOtherForms(),
    MoveAboveQuantizers(),
    DropDefaultReductions(),
    AttachFallbacks(),
)
"""The passes that fit the rest of the model to the target."""

PIPELINE = LOWERING + FITTING

_OF_THE_REST = (FoldSizes, WriteOtherForms, MoveAboveQuantizers)
"""They change nodes that are unrelated to scatters."""


@raised_gc_threshold()
def optimize_ir(
    model: ir.Model,
    settings: Settings,
    *,
    planned: bool = False,
    details: bool = True,
    observer: Observer = NOBODY,
) -> tuple[Report, tuple[NodeRecord, ...]]:
    """Optimize a model in place; return the report, and the data behind it.

    If ``planned``, the report is on a plan. ``details`` are the parts of a page on each scatter.
    ``observer`` reports the progress.
    """
    with command_budget(model, settings):
        return _optimized(model, settings, planned, details, observer)


def _optimized(
    model: ir.Model, settings: Settings, planned: bool, details: bool, observer: Observer
) -> tuple[Report, tuple[NodeRecord, ...]]:
    follow_links(model)
    check_sizes(model, settings.size_hint)
    for name in settings.size_hint:
        if name in (settings.fix or {}):
            raise ScatterXError(f"the size {name!r} is fixed: a hint on it has no effect")
    newest = settings.target.max_opset
    kept_opset = newer_opset(model, newest)
    lowered = None
    if newest is not None and kept_opset is not None and not lower_opset(model, newest):
        kept_opset, lowered = None, newest
    given = settings.assumed
    fixed = FixedSizes.of(model, settings.fix, distrust_dims=settings.distrust_dims)
    necessary: tuple[Clause, ...] = ()
    rests: list[tuple[Clause, ...]] = []
    if given:
        check(given, symbols=symbols_of(model), inputs=holds_integers(model))
        given = at_sizes(given, fixed)
    if given:
        tries = 0

        def effect(some: tuple[Clause, ...]) -> Effect:
            nonlocal tries
            tries += 1
            observer.stage("finding out which assumptions are needed", tries, 0)
            return _effect(cloned(model), settings, some)

        with budget().share(1 / 2):
            necessary, rests = needed(given, effect)
            if budget().is_spent:  # which of them are needed is not known
                necessary, rests = given, [given] * len(rests)
    before = _operators(model)
    job = Job(model, settings, necessary, observer=observer)
    records, left = _rewritten(job, details=details)
    if necessary:
        records = tuple(
            replace(a, entry=replace(a.entry, facts=(*a.entry.facts, *map(str, rest))))
            for a, rest in zip(records, rests, strict=True)
        )
        used = [c for a, rest in zip(records, rests, strict=True) if _goes(a) for c in rest]
        earlier = from_metadata(model.metadata_props)
        if used:
            found = dict.fromkeys((*earlier, *(c for c in necessary if c in used)))
            model.metadata_props[METADATA] = as_metadata(found)
    told = {why for record in records for why in record.entry.in_onnxruntime}
    told |= set(from_runtime(model.metadata_props))  # of an earlier run
    if told:
        model.metadata_props[IN_ONNXRUNTIME] = as_runtime(told)
    report = report_of(
        settings.target.name,
        records,
        before,
        _operators(model),
        planned=planned,
        with_gathers=settings.gathers,
    )
    unused = tuple(str(c) for c in settings.assumed if _at_sizes(c, fixed).isdisjoint(necessary))
    wanted = template(model, equalities(given)) if settings.target.static_only else ""
    for entry in report.entries:
        LOG.debug("%s %s: %s", entry.op, visible(entry.node), visible(entry.done))
    LOG.info("%s", report.summary())
    sizes = tuple(fixed.symbols.items())
    report = replace(report, not_needed=unused, violations=left, fixed=sizes, to_fix=wanted)
    return replace(report, opset_lowered=lowered, opset_kept=kept_opset), records


def _at_sizes(clause: Clause, fixed: FixedSizes) -> set[Clause]:
    """Return a clause at fixed sizes."""
    return set(at_sizes((clause,), fixed))


def tried(model: ir.Model, settings: Settings) -> tuple[NodeRecord, ...]:
    """Return what would be done with the scatters of a model under other settings.

    Raises ScatterXError if its assumptions contradict each other.
    """
    check(settings.assumed, symbols=symbols_of(model), inputs=holds_integers(model))
    fixed = FixedSizes.of(model, settings.fix, distrust_dims=settings.distrust_dims)
    with command_budget(model, settings):
        job = Job(cloned(model), settings, at_sizes(settings.assumed, fixed))
        return _rewritten(job, trial=True)[0]


def _lower(job: Job) -> None:
    """Write the scatters of a model, or only report on them if it must not be changed."""
    for step in LOWERING:
        allowed = job.forbidden is None or isinstance(step, LowerScatters | SimplifyGathers)
        if step.applies(job.settings) and allowed:
            step.run(job)
            job.observer.passed(step.name, job.model)


def _goes(record: NodeRecord) -> bool:
    return record.entry.action is not Action.KEPT


def _effect(model: ir.Model, settings: Settings, assumed: tuple[Clause, ...]) -> Effect:
    """Rewrite a model, and return the visible effect."""
    records, _ = _rewritten(Job(model, settings, assumed), trial=True)
    return Effect.of(model, (record.entry for record in records))


@fresh_symbols()
def _rewritten(
    job: Job, *, details: bool = False, trial: bool = False
) -> tuple[tuple[NodeRecord, ...], tuple[Violation, ...]]:
    """Run the pipeline on the assumptions of a job alone, within a budget.

    Return what was done, and what the target does not take. On ``trial`` only parts of scatters are
    folded, and nothing is checked.
    """
    records: tuple[NodeRecord, ...] = ()
    settings = job.settings
    if job.has_scatters or settings.fix:
        with budget().share(3 / 4):  # the rest is for the report
            job = attempts(job, _lower)
            for step in FITTING:
                if step.applies(settings) and not (trial and isinstance(step, _OF_THE_REST)):
                    step.run(job)
                    job.observer.passed(step.name, job.model)
        records = records_of(job.outcomes, job.gathers, job.analysis.knowledge, job.called)
    left = () if trial else _left(job)
    return with_details(records, job.wiring) if details and records else records, left


def _left(job: Job) -> tuple[Violation, ...]:
    """Return what the target does not take; promises do not change what a compiler sees."""
    target = job.settings.target
    if not (target.is_limited or target.static_only):
        return ()
    return violations(job.model, target, job.plain.current())


def command_budget(model: ir.Model, settings: Settings) -> AbstractContextManager[Budget]:
    """Return the budget of a command about a model, which all its parts share."""
    return of_command(settings.given["effort"] * LIMITS.steps_of(sum(map(len, all_graphs(model)))))


def _operators(model: ir.Model) -> Counter[str]:
    counts = Counter(n.op_type for n in nodes_within(model.graph))
    for function in model.functions.values():
        if not is_scatterx_domain(function.domain):  # not a fallback of ScatterX
            counts.update(n.op_type for n in nodes_within(function.graph))
    return counts
