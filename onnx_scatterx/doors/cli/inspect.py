"""The command `inspect`: lists the scatters of a model, or counts those of many models."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from onnx_scatterx.doors.batch.markdown import markdown
from onnx_scatterx.doors.cli.arguments import (
    STREAM,
    add,
    add_jobs,
    add_json,
    add_models,
    add_options,
    add_quiet,
    add_report,
    add_strict,
    add_verbosity,
    is_one,
    model_argument,
    paths_of,
    read_target,
    reject_quiet,
    reject_unused,
    settings,
)
from onnx_scatterx.doors.cli.batch import batch_status, texts_of
from onnx_scatterx.doors.cli.output import show_report, show_result, show_text
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.doors.cli.reports import (
    JSON,
    PAGE,
    TABLE,
    Texts,
    failure_told,
    report_paths,
    write_reports,
)
from onnx_scatterx.doors.cli.strict import strict_status
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import Writing, note_read
from onnx_scatterx.options import OF_READING, OPTIONS, check_words, command_words
from onnx_scatterx.text import as_json

if TYPE_CHECKING:
    from onnx_scatterx.compare import Verification
    from onnx_scatterx.doors.one_model import Made
    from onnx_scatterx.engine.passes import Settings
    from onnx_scatterx.files import AnyModel
    from onnx_scatterx.observer import Watch
    from onnx_scatterx.tell import Command, Report


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `inspect`."""
    add_models(command, "ONNX models, directories of models, or - for stdin")
    add(command, "--as-is", "look at the model itself, not at what optimize would make of it")
    add_jobs(command.add_argument_group("several models"))
    add_options(command.add_argument_group("what may be written"))
    add_strict(command)
    add_report(command)
    add_json(command)
    add_verbosity(command)
    add_quiet(command)


def run(args: argparse.Namespace) -> int:
    """List the scatters of a model, or count those of many models."""
    one = is_one(args.models, args.jobs)
    if one:
        reject_unused(args, "on one model: it is for several", "jobs", "timeout")
    else:
        reject_unused(args, "on a directory: it is for one model", "verbose", "advice", "no_advice")
    if args.json:
        reject_unused(args, "with --json", "quiet", "verbose")
    reject_quiet(args)
    read_target(args)
    if args.as_is:
        _take_as_is(args)
    if not one:
        return _inspect_many(args)
    from onnx_scatterx.engine.passes import Settings

    chosen = Settings.of(**settings(args))
    with failure_told(args):
        return _inspect(args, chosen)


def _take_as_is(args: argparse.Namespace) -> None:
    """Have nothing rewritten; raise an error if an option says how to rewrite."""
    if not args.target.has_profile:
        raise ScatterXError(
            f"--as-is compares a model with a device, and {args.target.name} takes all operators: "
            "give --target"
        )
    others = [option.name for option in OPTIONS if option.name not in OF_READING]
    reject_unused(args, "with --as-is, which rewrites nothing", *others, "advice")
    args.passes, args.no_advice = ["CheckTarget"], True


def _inspect(args: argparse.Namespace, chosen: Settings) -> int:
    args.model = args.models[0]
    start = time.perf_counter()
    with Writing() as writing:
        if args.model != STREAM:
            note_read(args.model, "the input")
        reports = report_paths(args.report, writing)
        done = made_of(args, chosen, model_argument(args.model), reports)
        texts = texts_of_one(args, done, start)
        write_reports(reports, writing, texts)
    if args.json:
        show_text(texts[JSON]())
    elif not args.quiet:
        show_report(done.told, verbose=args.verbose, command=_next(args, done.told))
    return strict_status(args, done.report)


def _next(args: argparse.Namespace, report: Report) -> str:
    """Return the command that a user may want next; empty if there is nothing to do."""
    if args.as_is:
        promises = command_words({"assume": settings(args)["assume"]})
        told: str = args.gate.look_closer(args.model, map(shlex.join, promises))
        return told if report.violations else ""
    changed = report.removed or report.native or report.gathers_removed
    changed = changed or report.nodes_before != report.nodes_after
    return command_of(args).text(args.target.text, ["--verify"]) if changed else ""


def _inspect_many(args: argparse.Namespace) -> int:
    from onnx_scatterx.doors.batch import inspect_many

    paths = paths_of(args.models)
    with Writing() as writing:
        reports = report_paths(args.report, writing)
        with stages(quiet=args.quiet) as progress:
            summary = inspect_many(
                paths,
                jobs=args.jobs,
                timeout=args.timeout,
                on_progress=progress,
                **settings(args),
            )
        summary = replace(summary, gate=args.gate)
        write_reports(reports, writing, texts_of(summary, paths))
    if not args.quiet:
        show_result(summary, json=args.json)
    return batch_status(args, summary)


def made_of(
    args: argparse.Namespace,
    chosen: Settings,
    model: AnyModel,
    reports: Sequence[Path],
    after: Watch | None = None,
) -> Made:
    """Return what `optimize` or `inspect` makes of one model, for its reports and the screen.

    Unless the user wants no advice, the reports for people have some: each command in it was tried.
    ``after`` is called after each pass.
    """
    from onnx_scatterx.doors.batch.fixes import leave_out_at_numbers
    from onnx_scatterx.doors.one_model import made
    from onnx_scatterx.observer import Observer

    shown = [path.suffix for path in reports if path.suffix in (PAGE, TABLE)]
    advises = args.advice or shown or not (args.json or args.quiet)
    with stages(quiet=args.quiet) as tell:
        return made(
            model,
            chosen,
            Observer(tell, after),
            writes="output" in args,
            details=PAGE in shown or args.verbose,
            leave_out=leave_out_at_numbers,
            command=(lambda _: command_of(args)) if advises and not args.no_advice else None,
        )


def texts_of_one(
    args: argparse.Namespace, done: Made, start: float, verification: Verification | None = None
) -> Texts:
    """Return what makes the text of each kind of report about one model.

    Its JSON has the keys that each of several models has, and no advice unless it was asked for.
    """
    outcome = done.outcome(args.model, getattr(args, "output", None), start, verification)

    def json() -> str:
        report = done.told if args.advice else done.report
        content = report.to_dict()
        if verification is not None:
            content["verification"] = verification.to_dict()
        return as_json(replace(outcome, report=report).told(content, args.gate))

    return {
        PAGE: partial(done.told.to_html, verification),
        JSON: json,
        TABLE: lambda: markdown([outcome], args.gate),
    }


def command_of(args: argparse.Namespace) -> Command:
    """Return the command that the user typed, with all options that decide about the outcome."""
    from onnx_scatterx.tell import Command

    said = command_words({**settings(args), "target": "scatterx"})
    names = ("strict", "verify", "prove", "strict_zeros", "samples", "seed")
    checks = check_words(**{name: getattr(args, name) for name in names if name in args})
    output = getattr(args, "output", "OUT.onnx")
    return Command(args.model, output, args.target.text, tuple(chain.from_iterable(said)), checks)
