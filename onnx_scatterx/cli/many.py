"""``optimize`` on the command line for a directory of models."""

from __future__ import annotations

import argparse

from onnx_scatterx.cli.arguments import checks, settings, settle_target
from onnx_scatterx.cli.output import complain, in_whole, progress, report_place, show
from onnx_scatterx.errors import ScatterXError


def optimize_directory(args: argparse.Namespace) -> int:
    """Optimize the models of a directory; return 1 if some differ, else 2 if some failed."""
    from onnx_scatterx.many import optimize_many

    report = report_place(args.report, ())
    if report.suffix == ".html":
        raise ScatterXError(f"{args.report}: the summary of a directory is .json")
    settle_target(args)
    with progress("optimizing") as tell:
        summary = optimize_many(
            args.model,
            args.output,
            jobs=args.jobs,
            verify=checks(args) if args.verify else False,
            progress=tell,
            rules=args.rules,
            sizes=dict(args.size),
            opset=args.opset,
            **settings(args),
        )
    with in_whole(report, summary.to_json):
        pass
    if not args.quiet:
        show(summary)
    if summary.differing:
        return complain(f"{len(summary.differing)} models differ, and are not written", 1)
    if summary.failed:
        rest = len(summary.failed) - 1
        return complain(f"{summary.failed[0].error}" + (f"; {rest} more failed" if rest else ""), 2)
    if summary.unproven:
        return complain(f"{len(summary.unproven)} of {len(summary.outcomes)} are not proven", 1)
    violating = [o for o in summary.outcomes if o.report is not None and o.report.violations]
    if args.strict and violating:
        count = f"{len(violating)} of {len(summary.outcomes)} models"
        return complain(f"the target {args.target.name} does not take all of {count}", 1)
    return 0
