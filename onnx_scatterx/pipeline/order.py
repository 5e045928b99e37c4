"""The passes in their order, which of them run on a job, and what runs them more than once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from functools import partial
from typing import NamedTuple

from onnx_scatterx.engine.budget.spending import budget
from onnx_scatterx.engine.passes.drop_overwritten import drop_overwritten_updates
from onnx_scatterx.engine.passes.inline_if import inline_beside_quantizers, inline_known_ifs
from onnx_scatterx.engine.passes.inline_sequences import inline_sequence_functions
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.keep_apart import keep_apart
from onnx_scatterx.engine.passes.lower_scatters import lower_scatters
from onnx_scatterx.engine.passes.move_above_quantizers import move_above_quantizers
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.passes.share_masks import cancel_transposes, share_masks
from onnx_scatterx.engine.passes.shorten_shapes import shorten_shape_computations
from onnx_scatterx.engine.passes.simplify_gathers import simplify_gathers
from onnx_scatterx.engine.passes.write_on_integers import write_on_integers
from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols
from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.fitting.check_target import check_target
from onnx_scatterx.fitting.fit_target import (
    attach_fallbacks,
    change_operator_set,
    drop_default_reductions,
    lower_operator_set,
    lower_rewritten,
    write_other_forms,
)
from onnx_scatterx.fitting.fold_sizes import fold_sizes
from onnx_scatterx.fitting.write_sizes import write_sizes
from onnx_scatterx.pipeline.restarts import least_violating, until_safe
from onnx_scatterx.tell.builder import NodeRecord, records_of
from onnx_scatterx.tell.necessity import needed_promises, note_needed
from onnx_scatterx.tell.sections import with_details


class Kind(Enum):
    """Whether a pass runs if the user chose others."""

    CHOICE = "no"
    GUARD = "yes: without it the result may be wrong or refused"
    REPORT = "yes, but it changes nothing, and says why nodes are kept"


class Pass(NamedTuple):
    """A step of the pipeline: ``run`` changes the model of a job, and returns whether it did."""

    run: Callable[[Job], bool]
    kind: Kind = Kind.CHOICE
    applies: Callable[[Settings], object] = lambda _: True
    """Whether there is anything to do under some settings."""

    @property
    def name(self) -> str:
        """The name for ``--passes`` and ``--print-after``: of lower_scatters, LowerScatters."""
        return self.run.__name__.title().replace("_", "")


PREPARING = (
    Pass(change_operator_set, Kind.GUARD, lambda s: s.given["opset"] is not None),
    Pass(lower_operator_set, Kind.GUARD, lambda s: any(s.target.opsets())),
)
"""The passes for every model, with scatters or without."""

LOWERING = (
    Pass(write_sizes, Kind.GUARD, lambda s: s.given["fix"]),
    Pass(inline_beside_quantizers, Kind.GUARD, lambda s: s.target.onnxruntime),
    Pass(inline_sequence_functions),
    Pass(inline_known_ifs),
    Pass(share_masks),
    Pass(drop_overwritten_updates, applies=lambda s: s.given["deterministic"]),
    Pass(write_on_integers),
    Pass(lower_scatters, Kind.REPORT),
    Pass(simplify_gathers, Kind.REPORT, lambda s: s.reads),
    Pass(shorten_shape_computations),
    Pass(cancel_transposes),
)
"""The passes that replace scatters and gathers. If a job is ``forbidden``, they only report."""

FITTING = (
    Pass(fold_sizes, applies=lambda s: s.given["fix"] or s.target.is_device),
    Pass(write_other_forms, applies=lambda s: s.target.is_limited),
    Pass(move_above_quantizers, Kind.GUARD, lambda s: s.target.onnxruntime),
)
"""The passes that fit other nodes to the target. If a job ``keeps_rest``, they do not run."""

FINISHING = (
    Pass(drop_default_reductions),
    Pass(lower_rewritten, Kind.GUARD, lambda s: any(s.target.opsets())),
    Pass(keep_apart, Kind.GUARD),
    Pass(attach_fallbacks, Kind.GUARD, lambda s: s.target.has_scatterx),
)
"""The passes for the whole result."""

CHECKING = (Pass(check_target, Kind.GUARD, lambda s: s.target.is_limited or s.target.static_only),)
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
