"""``optimize`` on the command line for a directory of models."""

from __future__ import annotations

import argparse
from pathlib import Path

from onnx_scatterx.cli.arguments import checks, settings, settle_target
from onnx_scatterx.cli.output import print_error, progress, report_place, show
from onnx_scatterx.system.writing import Writing


def optimize_directory(args: argparse.Namespace) -> int:
    """Optimize the models of a directory; return 1 if some differ, else 2 if some failed."""
    from onnx_scatterx.batch import models_in, optimize_many
    from onnx_scatterx.ir.io import note_model

    with Writing() as writing:
        report = report_place(args.report, writing)
        settle_target(args)
        if report is not None and report.exists():
            for model in models_in(Path(args.model)):
                note_model(model)
            writing.check()
        with progress("optimizing") as tell:
            summary = optimize_many(
                args.model,
                args.output,
                jobs=args.jobs,
                verify=checks(args) if args.verify else False,
                timeout=args.timeout,
                progress=tell,
                rules=args.rules,
                sizes=dict(args.size),
                opset=args.opset,
                advice=report is not None and report.suffix == ".html",
                **settings(args),
            )
        if not args.quiet:
            show(summary)
        if report is not None:
            for outcome in summary.outcomes:
                for file in outcome.files:
                    writing.keep(file, "an optimized model or its data")
            is_page = report.suffix == ".html"
            name = Path(args.model).resolve().name or "models"
            text = summary.to_html(name) if is_page else summary.to_json()
            writing.text(report, text, "the report")
    if summary.differing:
        return print_error(f"{len(summary.differing)} models differ, and are not written", 1)
    if summary.failed:
        rest = len(summary.failed) - 1
        return print_error(
            f"{summary.failed[0].error}" + (f"; {rest} more failed" if rest else ""), 2
        )
    if summary.unproven:
        return print_error(f"{len(summary.unproven)} of {len(summary.outcomes)} are not proven", 1)
    violating = [o for o in summary.outcomes if o.report is not None and o.report.violations]
    if args.strict and violating:
        count = f"{len(violating)} of {len(summary.outcomes)} models"
        return print_error(f"the target {args.target.name} does not take all of {count}", 1)
    return 0
