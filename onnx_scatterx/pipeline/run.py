"""One model is optimized: its settings are checked, the passes run, and the report is made."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import replace

import onnx_ir as ir

from onnx_scatterx.assumptions.clauses import (
    at_sizes,
    equalities,
)
from onnx_scatterx.assumptions.fixed_sizes import fix_template, open_sizes, places_of
from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.engine.budget.spending import Budget, of_command
from onnx_scatterx.engine.device.costs import check_sizes
from onnx_scatterx.engine.device.violations import Violation
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.plan.commit import written_nodes
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files.outside import follow_links
from onnx_scatterx.fitting.unchecked_dims import forget_unchecked_dims
from onnx_scatterx.graphs.traversal import all_graphs, all_nodes, is_scatterx_domain
from onnx_scatterx.observer import LOG, NOBODY, Observer
from onnx_scatterx.pipeline.assumable import check_assumptions
from onnx_scatterx.pipeline.order import check_passes, rewritten
from onnx_scatterx.pipeline.unread import drop_unread, unread_constants
from onnx_scatterx.processes.collection import raised_gc_threshold
from onnx_scatterx.tell.builder import NodeRecord, report_of, told_records
from onnx_scatterx.tell.report import Report
from onnx_scatterx.text.reasons import LastBit, add_to_metadata
from onnx_scatterx.text.visible_text import visible


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
        if name in (settings.given["fix"] or {}):
            raise ScatterXError(f"the size {name!r} is fixed: a hint on it has no effect")
    check_passes(settings.given["passes"] or ())
    given = settings.assumed
    fixed = settings.fixed_in(model)
    if given:
        check_assumptions(given, model)
        given = at_sizes(given, fixed)
    before, unread = _operators(model), {v.name for v in unread_constants(model)}
    job, records = rewritten(Job(model, settings, given, observer=observer), details=details)
    if job.forbidden is not None and fixed.shapes:
        why = job.forbidden.detail or job.forbidden
        raise ScatterXError(f"the sizes ({fixed}) cannot be written: {why}")
    drop_unread(model, unread)  # a plan may make some for a node that gets another form
    forget_unchecked_dims(model, written_nodes(model))
    records = told_records(job, records)
    told = {why for record in records for why in record.entry.in_onnxruntime}
    told |= {str(LastBit.DEFINED)} if job.lowered.defined else set()
    told |= {str(LastBit.KERNEL)} if job.lowered.other_kernels else set()
    add_to_metadata(model.metadata_props, told)
    unused = [c for c in settings.assumed if set(at_sizes([c], fixed)).isdisjoint(job.assumed)]
    wanted = fix_template(model, equalities(given)) if settings.target.static_only else ""
    report = replace(
        report_of(job, records, before, _operators(model)),
        fixed=tuple(fixed.symbols.items()),
        to_fix=wanted,
        places=places_of(model, [n for _, names in open_sizes(model) for n in names])
        if wanted
        else "",
        not_needed=tuple(map(str, unused)),
        planned=planned,
    )
    for entry in report.entries:
        LOG.debug("%s %s: %s", entry.op, visible(entry.node), visible(entry.done))
    LOG.info("%s", report.summary())
    return report, records


def rewritten_under(
    model: ir.Model, settings: Settings, *, whole: bool = False
) -> tuple[tuple[NodeRecord, ...], tuple[Violation, ...]]:
    """Return what is done with the scatters of a model, which is changed, under other settings.

    If ``whole``, all passes run, and the nodes that the target does not take are returned, too.
    Raises ScatterXError if its assumptions contradict each other.
    """
    check_assumptions(settings.assumed, model)
    fixed = settings.fixed_in(model)
    with command_budget(model, settings):
        assumed = at_sizes(settings.assumed, fixed)
        job, records = rewritten(Job(model, settings, assumed, keeps_rest=not whole))
        return records, job.violations


def command_budget(model: ir.Model, settings: Settings) -> AbstractContextManager[Budget]:
    """Return the budget of a command about a model, which all its parts share."""
    return of_command(settings.given["effort"] * LIMITS.steps_of(sum(map(len, all_graphs(model)))))


def _operators(model: ir.Model) -> Counter[str]:
    counts = Counter(n.op_type for n in all_nodes(model.graph))
    for function in model.functions.values():
        if not is_scatterx_domain(function.domain):  # not a fallback of ScatterX
            counts.update(n.op_type for n in all_nodes(function))
    return counts
