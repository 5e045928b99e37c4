"""The passes in the order in which they run."""

from __future__ import annotations

from collections.abc import Iterable

from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.optimizer.reports.builder import NodeRecord, records_of
from onnx_scatterx.optimizer.reports.necessity import needed_promises, note_needed
from onnx_scatterx.optimizer.reports.sections import with_details
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.symbol_ids import fresh_symbols
from onnx_scatterx.optimizer.transforms.attempt import attempts, least_violating
from onnx_scatterx.optimizer.transforms.drop_overwritten import DropOverwrittenUpdates
from onnx_scatterx.optimizer.transforms.fit_target import (
    AttachFallbacks,
    ChangeOperatorSet,
    CheckTarget,
    DropDefaultReductions,
    LowerOperatorSet,
    WriteOtherForms,
)
from onnx_scatterx.optimizer.transforms.fold_sizes import FoldSizes
from onnx_scatterx.optimizer.transforms.inline_if import InlineBesideQuantizers, InlineKnownIfs
from onnx_scatterx.optimizer.transforms.job import Job, Pass
from onnx_scatterx.optimizer.transforms.lower_scatters import LowerScatters
from onnx_scatterx.optimizer.transforms.move_above_quantizers import MoveAboveQuantizers
from onnx_scatterx.optimizer.transforms.share_masks import CancelTransposes, ShareMasks
from onnx_scatterx.optimizer.transforms.shorten_shapes import ShortenShapeComputations
from onnx_scatterx.optimizer.transforms.simplify_gathers import SimplifyGathers
from onnx_scatterx.optimizer.transforms.write_on_integers import WriteOnIntegers
from onnx_scatterx.optimizer.transforms.write_sizes import WriteSizes

PREPARING: tuple[Pass, ...] = (ChangeOperatorSet(), LowerOperatorSet())
"""The passes that every model needs, with scatters or without."""

LOWERING: tuple[Pass, ...] = (
    WriteSizes(),
    InlineBesideQuantizers(),
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

CHECKING: tuple[Pass, ...] = (CheckTarget(),)
"""The passes that change nothing, and say what is left."""

PIPELINE = PREPARING + LOWERING + FITTING + CHECKING


def check_passes(wanted: Iterable[str], *others: str) -> None:
    """Raise ScatterXError for a name that no pass has, and that is not among ``others``."""
    known = [*others, *(step.name for step in PIPELINE)]
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, known) or f"; there are {', '.join(known)}"
            raise ScatterXError(f"no pass is called {name!r}{near}")


def rewritten(
    job: Job, *, details: bool = False, trial: bool = False
) -> tuple[Job, tuple[NodeRecord, ...]]:
    """Run the pipeline on a job, within a budget; return the last job, and what was done.

    Three strategies run passes more than once. ``needed_promises`` finds out which promises are
    needed. ``least_violating`` and ``attempts`` judge the result, and may begin anew with another
    job for the same model. On ``trial`` only what concerns scatters is done; nothing is checked.
    """
    _run(PREPARING, job, trial)
    job.opset_changed = job.modified
    if trial or not job.assumed:
        return _rewritten(job, details, trial)
    needed, by_scatter = needed_promises(job, lambda tried: rewritten(tried, trial=True)[1])
    job.assumed = needed
    job, records = _rewritten(job, details, trial)
    return job, note_needed(job.model, needed, records, by_scatter) if needed else records


@fresh_symbols()
def _rewritten(job: Job, details: bool, trial: bool) -> tuple[Job, tuple[NodeRecord, ...]]:
    records: tuple[NodeRecord, ...] = ()
    if job.has_scatters or job.settings.given["fix"] or job.settings.given["passes"] is not None:
        with budget().share(3 / 4):  # the rest is for the report
            job = _lowered(job, trial) if trial else least_violating(job, _checked)
        records = records_of(job.outcomes, job.gathers, job.analysis.knowledge, job.called)
    else:
        _run(CHECKING, job, trial)
    return job, with_details(records, job.wiring) if details and records else records


def _lowered(job: Job, trial: bool = False) -> Job:
    return attempts(
        job,
        lambda job: _run(LOWERING, job, trial),
        lambda job: _run(FITTING, job, trial or job.keeps_rest),
    )


def _checked(job: Job) -> Job:
    job = _lowered(job)
    _run(CHECKING, job, trial=False)
    return job


def _run(steps: Iterable[Pass], job: Job, trial: bool) -> None:
    """Run the passes that apply; if the model must not be changed, those that lower only report."""
    for step in steps:
        allowed = job.forbidden is None or step.reports or step not in LOWERING
        if step.is_wanted(job.settings) and allowed and not (trial and step.of_the_rest):
            job.modified |= step.run(job)
            job.observer.passed(step.name, job.model)
