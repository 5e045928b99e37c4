"""The passes in their order, which of them run on a job, and what runs them more than once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from onnx_scatterx.engine.budget.spending import budget
from onnx_scatterx.engine.passes.cancel_transposes import CancelTransposes
from onnx_scatterx.engine.passes.drop_overwritten_updates import DropOverwrittenUpdates
from onnx_scatterx.engine.passes.inline_beside_quantizers import InlineBesideQuantizers
from onnx_scatterx.engine.passes.inline_known_ifs import InlineKnownIfs
from onnx_scatterx.engine.passes.inline_sequence_functions import InlineSequenceFunctions
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.keep_apart import KeepApart
from onnx_scatterx.engine.passes.lower_scatters import LowerScatters
from onnx_scatterx.engine.passes.move_above_quantizers import MoveAboveQuantizers
from onnx_scatterx.engine.passes.share_masks import ShareMasks
from onnx_scatterx.engine.passes.shorten_shape_computations import ShortenShapeComputations
from onnx_scatterx.engine.passes.simplify_gathers import SimplifyGathers
from onnx_scatterx.engine.passes.step import Kind, Pass
from onnx_scatterx.engine.passes.write_on_integers import WriteOnIntegers
from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols
from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.fitting.attach_fallbacks import AttachFallbacks
from onnx_scatterx.fitting.change_operator_set import ChangeOperatorSet
from onnx_scatterx.fitting.check_target import CheckTarget
from onnx_scatterx.fitting.drop_default_reductions import DropDefaultReductions
from onnx_scatterx.fitting.fold_sizes import FoldSizes
from onnx_scatterx.fitting.lower_operator_set import LowerOperatorSet
from onnx_scatterx.fitting.lower_rewritten import LowerRewritten
from onnx_scatterx.fitting.write_other_forms import WriteOtherForms
from onnx_scatterx.fitting.write_sizes import WriteSizes
from onnx_scatterx.pipeline.restarts import least_violating, until_safe
from onnx_scatterx.tell.builder import NodeRecord, records_of
from onnx_scatterx.tell.necessity import needed_promises, note_needed
from onnx_scatterx.tell.sections import with_details

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

FITTING = (FoldSizes, WriteOtherForms, MoveAboveQuantizers)
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


def rewritten(job: Job, *, details: bool = False) -> tuple[Job, tuple[NodeRecord, ...]]:
    """Run the pipeline on a job, within a budget; return the last job, and what was done.

    Three strategies run passes more than once. ``needed_promises`` finds out which promises are
    needed. ``least_violating`` and ``until_safe`` judge the result, and may begin anew with another
    job for the same model. If the job ``keeps_rest``, its promises and its result are not judged.
    """
    _run(PREPARING, job)
    job.opset_changed, job.prepared = job.modified, job.lowered
    if job.keeps_rest or not job.assumed:
        return _rewritten(job, details)
    needed, by_scatter = needed_promises(job, lambda fewer: rewritten(fewer)[1])
    job.assumed = needed
    job, records = _rewritten(job, details)
    return job, note_needed(job.model, needed, records, by_scatter) if needed else records


@fresh_symbols()
def _rewritten(job: Job, details: bool) -> tuple[Job, tuple[NodeRecord, ...]]:
    records: tuple[NodeRecord, ...] = ()
    if job.has_scatters or job.settings.given["fix"] or job.settings.given["passes"] is not None:
        with budget().share(3 / 4):  # the rest is for the report
            job = _lowered(job) if job.keeps_rest else least_violating(job, _checked)
        records = records_of(job.outcomes, job.gathers, job.analyses.full.knowledge, job.called)
    elif not job.keeps_rest:
        _run(CHECKING, job)
    return job, with_details(records, job.wiring) if details and records else records


def _lowered(job: Job) -> Job:
    return until_safe(job, partial(_run, LOWERING), partial(_run, FITTING + FINISHING))


def _checked(job: Job) -> Job:
    job = _lowered(job)
    _run(CHECKING, job)
    return job


def _run(steps: Iterable[Pass], job: Job) -> None:
    for step in steps:
        if runs(step, job):
            job.modified |= step.run(job)
            job.observer.passed(step.name, job.model)
