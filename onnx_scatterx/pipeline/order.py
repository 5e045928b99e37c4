"""The passes in their order, and which of them run on a job."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from onnx_scatterx.engine.budget import budget
from onnx_scatterx.engine.passes import (
    CancelTransposes,
    DropOverwrittenUpdates,
    InlineBesideQuantizers,
    InlineKnownIfs,
    InlineSequenceFunctions,
    Job,
    KeepApart,
    Kind,
    LowerScatters,
    MoveAboveQuantizers,
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
    LowerOperatorSet,
    LowerRewritten,
    WriteOtherForms,
    WriteSizes,
    note_body_dims,
)
from onnx_scatterx.graphs import cloned
from onnx_scatterx.pipeline.restarts import least_violating, may_run_again, until_safe

PREPARING = (ChangeOperatorSet, LowerOperatorSet)
"""The passes for every model, with scatters or without."""

LOWERING = (
    WriteSizes,
    InlineBesideQuantizers,
    InlineSequenceFunctions,
    InlineKnownIfs,
    ShareMasks,
    DropOverwrittenUpdates,
    WriteOnIntegers,
    LowerScatters,
    SimplifyGathers,
    ShortenShapeComputations,
    CancelTransposes,
)
"""The passes that replace scatters and gathers. If a job is ``forbidden``, they only report."""

FITTING = (FoldSizes, ComputeConstants, WriteOtherForms, MoveAboveQuantizers, AvoidFaults)
"""The passes that fit other nodes to the target. If a job ``keeps_rest``, they do not run."""

FINISHING = (DropDefaultReductions, LowerRewritten, KeepApart, AttachFallbacks)
"""The passes for the whole result."""

CHECKING = (CheckTarget,)
"""The pass that changes nothing, and says what the target does not take."""

PIPELINE = PREPARING + LOWERING + FITTING + FINISHING + CHECKING


def runs(step: Pass, job: Job) -> bool:
    """Return whether a pass runs on a job."""
    if not step.applies(job.settings):
        return False
    if step in LOWERING and job.forbidden is not None:
        return step.kind is Kind.REPORT
    if step in FITTING and job.keeps_rest:
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
    """Run the pipeline on a job, within a budget; return the last job.

    Two strategies run passes more than once: ``least_violating`` and ``until_safe`` judge the
    result, and may begin anew with another job for the same model. If the job ``keeps_rest``, what
    its target takes of the result is not judged.
    """
    if job.original is None and (may_run_again(job) or _applying(PREPARING, job)):
        job.original = partial(cloned, cloned(job.model))
    _run(PREPARING, job)
    if job.has_scatters or job.settings.given["fix"] or job.settings.given["passes"] is not None:
        _note(job)
        with budget().share(3 / 4):  # the rest is for the report
            return _lowered(job) if job.keeps_rest else least_violating(job, _checked, _begin)
    if not job.keeps_rest:
        _run(CHECKING, job)
    return job


def _begin(job: Job) -> None:
    """Do for another job of a model, untold, what was done for the first one before it ran."""
    for step in _applying(PREPARING, job):
        job.modified |= step.run(job)
    _note(job)


def _note(job: Job) -> None:
    job.number_nodes()
    note_body_dims(job.model)


def _lowered(job: Job) -> Job:
    return until_safe(job, partial(_run, LOWERING), partial(_run, FITTING + FINISHING), _begin)


def _checked(job: Job) -> Job:
    job = _lowered(job)
    _run(CHECKING, job)
    return job


def _applying(steps: Iterable[Pass], job: Job) -> list[Pass]:
    return [step for step in steps if runs(step, job)]


def _run(steps: Iterable[Pass], job: Job) -> None:
    for step in steps:
        if runs(step, job):
            job.modified |= step.run(job)
            job.observer.passed(step.name, job.model)
