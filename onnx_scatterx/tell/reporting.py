"""The pipeline runs on a model, and what it did becomes records and a report."""

from __future__ import annotations

import logging
from collections.abc import Callable

import onnx_ir as ir

from onnx_scatterx.assumptions import equalities, fix_template, open_sizes, places_of
from onnx_scatterx.engine.device import Violation
from onnx_scatterx.engine.passes import Settings
from onnx_scatterx.engine.terms import fresh_symbols
from onnx_scatterx.observer import LOG, NOBODY, Observer
from onnx_scatterx.pipeline import command_budget, run, tried
from onnx_scatterx.processes import raised_gc_threshold
from onnx_scatterx.tell.builder import NodeRecord, records_of, report_of, told_records
from onnx_scatterx.tell.lost_sums import note_lost_sums
from onnx_scatterx.tell.report import OTHER_BITS, Report
from onnx_scatterx.tell.sections import with_details
from onnx_scatterx.text import note_reasons, visible


@raised_gc_threshold()
def optimize_ir(
    model: ir.Model,
    settings: Settings,
    *,
    planned: bool = False,
    observer: Observer = NOBODY,
    original: Callable[[], ir.Model] | None = None,
) -> tuple[Report, tuple[NodeRecord, ...]]:
    """Optimize a model in place; return the report, and the records behind it.

    If ``planned``, the report is on a plan. ``observer`` reports the progress. ``original`` returns
    the model once more, if it is at hand. The details of the entries are found when a page asks, or
    by ``settled`` before the model changes.
    """
    note_lost_sums(model)
    with command_budget(model, settings), fresh_symbols():
        done = run(model, settings, observer, original)
        job = done.job
        records = with_details(told_records(job, records_of(job)), job.wiring)
        open_names = [n for _, names in open_sizes(model) for n in names]
        static = settings.target.static_only
        wanted = fix_template(model, equalities(job.assumed)) if static else ""
        report = report_of(
            job,
            records,
            done.before,
            done.after,
            fixed=tuple(done.fixed.symbols.items()),
            to_fix=wanted,
            places=places_of(model, open_names) if wanted else "",
            planned=planned,
        )
    told = {why for record in records for why in record.entry.in_onnxruntime}
    told |= {str(bit) for name, _, bit in OTHER_BITS if bit and getattr(job.lowered, name)}
    note_reasons(model.metadata_props, told)
    if LOG.isEnabledFor(logging.INFO):
        for entry in report.entries:
            LOG.debug("%s %s: %s", entry.op, visible(entry.node), visible(entry.done))
        LOG.info("%s", report.summary())
    return report, records


def rewritten_under(
    model: ir.Model, settings: Settings, *, whole: bool = False
) -> tuple[tuple[NodeRecord, ...], tuple[Violation, ...]]:
    """Return what is done with the scatters of a model under other settings; it is not changed.

    If ``whole``, all passes run, and the nodes that the target does not take are returned, too.
    Raises ScatterXError if its assumptions contradict each other.
    """
    with command_budget(model, settings), fresh_symbols():
        job = tried(model, settings, whole=whole)
        return records_of(job), job.violations
