"""The passes in their order, which of them run on a job, and how often.

Two effects of a result are seen only in the whole model, after passes have run. Each has other runs
follow, on copies of the model as it was given (restarts.py decides which):

    ONNX Runtime would move quantizers    run again, and keep the scatters that lead there
    the target refuses nodes              run again, twice at the most, for wider targets
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial

from onnx_scatterx.engine.budget import budget
from onnx_scatterx.engine.passes import (
    CancelTransposes,
    DropOverwrittenUpdates,
    InlineBesideQuantizers,
    InlineKnownIfs,
    InlineRowFunctions,
    InlineSequenceFunctions,
    Job,
    Kind,
    LowerScatters,
    Pass,
    ShareMasks,
    ShortenShapeComputations,
    SimplifyGathers,
    WriteOnIntegers,
)
from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.fitting import (
    AttachFallbacks,
    AvoidFaults,
    ChangeOperatorSet,
    CheckTarget,
    ComputeConstants,
    DropDefaultReductions,
    FoldSizes,
    KeepApart,
    LowerOperatorSet,
    LowerRewritten,
    MoveAboveQuantizers,
    ShortenAllShapes,
    WriteOtherForms,
    WriteSizes,
    declare_body_dims,
    note_original,
)
from onnx_scatterx.graphs import cloned
from onnx_scatterx.pipeline.restarts import (
    Harm,
    Wider,
    become,
    keep_connected,
    may_run_again,
    wider_targets,
)
from onnx_scatterx.pipeline.sole_readers import SoleReaders
from onnx_scatterx.text import Refusal

PREPARING = (ChangeOperatorSet, LowerOperatorSet)
"""The passes for every model, with scatters or without."""

LOWERING = (
    WriteSizes,
    InlineBesideQuantizers,
    InlineSequenceFunctions,
    InlineKnownIfs,
    InlineRowFunctions,
    ShareMasks,
    DropOverwrittenUpdates,
    WriteOnIntegers,
    LowerScatters,
    SimplifyGathers,
    ShortenShapeComputations,
    CancelTransposes,
)
"""The passes that replace scatters and gathers. If a job is ``forbidden``, they only report."""

FITTING = (
    FoldSizes,
    ComputeConstants,
    WriteOtherForms,
    MoveAboveQuantizers,
    ShortenAllShapes,
    AvoidFaults,
)
"""The passes that fit other nodes to the target. They do not run if a job ``keeps_rest``."""

FINISHING = (DropDefaultReductions, LowerRewritten, KeepApart, AttachFallbacks)
"""The passes for the whole result."""

CHECKING = (CheckTarget,)
"""Says what the target does not take. It does not run, either, if a job ``keeps_rest``."""

PIPELINE = PREPARING + LOWERING + FITTING + FINISHING + CHECKING


def runs(step: Pass, job: Job) -> bool:
    """Return whether a pass runs on a job.

    On a model as it is, only those run that report: not even those that keep a result right.
    """
    if not step.applies(job.settings):
        return False
    if job.settings.as_is:
        return step in CHECKING or step.kind is Kind.REPORT
    if step in LOWERING and job.forbidden is not None:
        return step.kind is Kind.REPORT
    if step in FITTING + CHECKING and job.keeps_rest:
        return False
    return step.kind is not Kind.CHOICE or job.is_chosen(step.name)


def check_passes(wanted: Iterable[str], *others: str) -> None:
    """Raise ScatterXError for a name that no pass has, and that is not among ``others``."""
    known = [*others, *(step.name for step in PIPELINE)]
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise ScatterXError(f"no pass is called {name!r}{near}")


def rewritten(job: Job) -> Job:
    """Run the pipeline on a job, within a budget; return the job with the best result.

    Another run has a job of its own, with a copy of the model as it was given. The model of the
    first job is changed: the returned job has it. A model without scatters is fitted to a device,
    too.
    """
    if job.original is None and (may_run_again(job) or any(runs(step, job) for step in PREPARING)):
        job.original = partial(cloned, cloned(job.model))
    _run(PREPARING, job)
    options = job.settings.options
    counts = any(clause.is_count for clause in job.assumed)
    fits = job.settings.target.has_profile and not job.keeps_rest
    if job.has_scatters or counts or fits or options["fix"] or options["passes"] is not None:
        note_original(job)
        with budget().share(3 / 4):  # the rest is for the report
            return _best_of_runs(job)
    _run(CHECKING, job)
    return job


def _best_of_runs(job: Job) -> Job:
    """Run the passes until a result is safe, and again for wider targets; return the best job."""
    model = job.model
    results: list[Job] = []
    wider: list[Wider] | None = None  # what is left to try, as the first result says
    kept: dict[int, Refusal] = {}  # in the run of now, by the numbers of the nodes
    while True:
        shared = SoleReaders(job)
        _run(LOWERING, job)
        exposed = {} if job.forbidden is not None else shared.exposed(job)
        if exposed:
            job = _again(job)
            keep_connected(job, exposed, kept)
            continue
        _run(FITTING + FINISHING, job)
        if not job.settings.as_is:
            declare_body_dims(job.held)
        _run(CHECKING, job)
        results.append(job)
        again = cache(partial(_again, job))
        wider = wider_targets(job, again) if wider is None else wider
        if not wider:
            break
        job, kept = again(), {}
        job.target, job.wider = wider.pop(0)
    best = min(results, key=Harm.of)
    if best is not results[0]:
        best.violations_if_kept = Harm.of(results[0]).refused
    if best.model is not model:
        become(model, best.model)
        best.model = model
    return best


def _again(job: Job) -> Job:
    """Return another job for the model as it was given: no user is told what is done for it."""
    again = job.again()
    for step in PREPARING:
        if runs(step, again):
            again.modified |= step.run(again)
            again.note_change()
    note_original(again)
    return again


def _run(steps: Iterable[Pass], job: Job) -> None:
    for step in steps:
        if not runs(step, job):
            continue
        if (not step.looks_for or job.held.has(*step.looks_for)) and step.run(job):
            job.modified = True
            job.note_change()
        job.observer.passed(step.name, job.model)
