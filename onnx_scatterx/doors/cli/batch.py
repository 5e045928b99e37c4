"""`optimize` and `inspect` of several models: files, and all files of directories."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_scatterx.doors.cli.arguments import STREAM, checks, paths_of, read_target, settings
from onnx_scatterx.doors.cli.output import (
    print_error,
    show_missing_library,
    show_result,
)
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.doors.cli.reports import JSON, PAGE, TABLE, Texts, report_paths, write_reports
from onnx_scatterx.doors.cli.strict import show_unmet
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import Writing

if TYPE_CHECKING:
    from onnx_scatterx.doors.batch.summary import Summary


def optimize_directory(args: argparse.Namespace) -> int:
    """Optimize several models; return the exit status of `batch_status`."""
    from onnx_scatterx.doors.batch import optimize_for
    from onnx_scatterx.doors.batch.many import models_in
    from onnx_scatterx.files import note_model

    if args.output == STREAM:
        raise ScatterXError("-o -: several models are written to a directory; name one")
    if len(args.models) > 1 and args.output.endswith(".onnx") and not Path(args.output).is_dir():
        raise ScatterXError(f"-o {args.output}: several models are written to a directory")
    with Writing() as writing:
        for path in args.report:
            if _is_beneath(path, args.output):
                writing.make_directory(Path(path).parent)
        reports = report_paths(args.report, writing)
        advises = any(report.suffix in (PAGE, TABLE) for report in reports)
        read_target(args)
        paths = paths_of(args.models)
        if any(report.exists() for report in reports):
            for model in models_in(Path(paths)) if isinstance(paths, str) else paths:
                note_model(model)
            writing.check()
        with stages(quiet=args.quiet) as progress:
            summary = optimize_for(
                args.gate,
                paths,
                args.output,
                jobs=args.jobs,
                verify=checks(args) if args.verify else False,
                timeout=args.timeout,
                external_data=args.save_as_external_data,
                advice=args.advice or (advises and not args.no_advice),
                on_progress=progress,
                **settings(args),
            )
        if args.json or not args.quiet:
            show_result(summary, json=args.json)
        if not (args.json or args.quiet):
            show_missing_library([o.report for o in summary.outcomes if o.report and o.is_written])
        for outcome in summary.outcomes:
            for file in outcome.files if reports else ():
                writing.keep(file, "an optimized model or its data")
        write_reports(reports, writing, texts_of(summary, paths))
    return batch_status(args, summary)


def texts_of(summary: Summary, paths: str | list[Path]) -> Texts:
    """Return what makes the text of each kind of report about the models at ``paths``."""
    name = Path(paths).resolve().name if isinstance(paths, str) else "models"
    return {
        PAGE: lambda: summary.to_html(name),
        JSON: summary.to_json,
        TABLE: summary.to_markdown,
    }


def _is_beneath(path: str, directory: str) -> bool:
    """Return whether a file is beneath a directory that does not exist yet."""
    file, root = os.path.realpath(path), os.path.realpath(directory)
    return not os.path.exists(root) and file.startswith(root + os.sep)


def batch_status(args: argparse.Namespace, summary: Summary) -> int:
    """Return the exit status; if it is not 0, print a line to stderr, after what is not met."""
    show_unmet(summary, quiet=args.quiet)
    if summary.differing:
        return print_error(f"{len(summary.differing)} models differ, and are not written", 1)
    if summary.failed:
        for outcome in summary.failed:
            print_error(outcome.error, 2)
        return 2
    if unmet := args.gate.unmet(summary):
        count = f"{len(unmet)} of {len(summary.outcomes)} models"
        named = [f"{model}: {head.rstrip(':')}" for model, (head, *_) in unmet.items()]
        written = "; they are written anyway" if "output" in args else ""
        return print_error(f"{count} do not meet --strict; {'; '.join(named)}{written}", 1)
    if summary.unproven:
        return print_error(f"{len(summary.unproven)} of {len(summary.outcomes)} are not proven", 3)
    return 0
