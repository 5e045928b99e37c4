"""`optimize` and `inspect` of several models: files, and all files of directories."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_scatterx.doors.cli.arguments import STREAM, checks, paths_of, read_target, settings
from onnx_scatterx.doors.cli.output import (
    print_error,
    report_path,
    show_missing_library,
    show_result,
)
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.doors.cli.strict import show_unmet
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import Writing

if TYPE_CHECKING:
    from onnx_scatterx.doors.batch.summary import Summary


def optimize_directory(args: argparse.Namespace) -> int:
    """Optimize several models; return the exit status of `batch_status`."""
    from onnx_scatterx.doors.batch import optimize_many
    from onnx_scatterx.doors.batch.many import models_in
    from onnx_scatterx.files import note_model

    if args.output == STREAM:
        raise ScatterXError("-o -: several models are written to a directory; name one")
    if len(args.models) > 1 and args.output.endswith(".onnx") and not Path(args.output).is_dir():
        raise ScatterXError(f"-o {args.output}: several models are written to a directory")
    with Writing() as writing:
        if args.report is not None and _is_beneath(args.report, args.output):
            writing.make_directory(Path(args.report).parent)
        report = report_path(args.report, writing)
        is_page = report is not None and report.suffix == ".html"
        read_target(args)
        paths = paths_of(args.models)
        if report is not None and report.exists():
            for model in models_in(Path(paths)) if isinstance(paths, str) else paths:
                note_model(model)
            writing.check()
        with stages(quiet=args.quiet) as progress:
            summary = optimize_many(
                paths,
                args.output,
                jobs=args.jobs,
                verify=checks(args) if args.verify else False,
                timeout=args.timeout,
                external_data=args.save_as_external_data,
                advice=args.advice or (is_page and not args.no_advice),
                on_progress=progress,
                **settings(args),
            )
        if args.json or not args.quiet:
            show_result(summary, json=args.json)
        if not (args.json or args.quiet):
            show_missing_library([o.report for o in summary.outcomes if o.report and o.is_written])
        if report is not None:
            for outcome in summary.outcomes:
                for file in outcome.files:
                    writing.keep(file, "an optimized model or its data")
            name = Path(paths).resolve().name if isinstance(paths, str) else "models"
            text = summary.to_html(name) if is_page else summary.to_json()
            writing.text(report, text, "the report")
    return batch_status(args, summary)


def _is_beneath(path: str, directory: str) -> bool:
    """Return whether a file is beneath a directory that does not exist yet."""
    file, root = os.path.realpath(path), os.path.realpath(directory)
    return not os.path.exists(root) and file.startswith(root + os.sep)


def batch_status(args: argparse.Namespace, summary: Summary) -> int:
    """Return the exit status; if it is not 0, print a line to stderr, after what is not met."""
    show_unmet(args, summary)
    if summary.differing:
        return print_error(f"{len(summary.differing)} models differ, and are not written", 1)
    if summary.failed:
        rest = len(summary.failed) - 1
        return print_error(
            f"{summary.failed[0].error}" + (f"; {rest} more failed" if rest else ""), 2
        )
    if unmet := summary.unmet(args.strict):
        count = f"{len(unmet)} of {len(summary.outcomes)} models"
        named = [f"{model}: {head.rstrip(':')}" for model, (head, *_) in unmet.items()]
        written = "; they are written anyway" if "output" in args else ""
        return print_error(f"{count} do not meet --strict; {'; '.join(named)}{written}", 1)
    if summary.unproven:
        return print_error(f"{len(summary.unproven)} of {len(summary.outcomes)} are not proven", 3)
    return 0
