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
    from onnx_scatterx.doors.batch.gate import Gate
    from onnx_scatterx.doors.batch.summary import ModelOutcome
    from onnx_scatterx.engine.passes import Settings
    from onnx_scatterx.tell import Command, Inquiry, NodeRecord, Report


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
    from onnx_scatterx.doors.batch.fixes import leave_out_at_numbers
    from onnx_scatterx.observer import Observer
    from onnx_scatterx.tell import Inquiry, settled

    args.model = args.models[0]
    start = time.perf_counter()
    with Writing() as writing:
        if args.model != STREAM:
            note_read(args.model, "the input")
        reports = report_paths(args.report, writing)
        model = model_argument(args.model)
        shown = [path.suffix for path in reports if path.suffix in (PAGE, TABLE)]
        with (
            stages(quiet=args.quiet) as tell,
            Inquiry.about(model, chosen, Observer(tell)) as asked,
        ):
            left_out = leave_out_at_numbers(asked)
            report, records = asked.inspected
            if args.advice or shown or not (args.json or args.quiet):
                report = with_advice(args, asked, report, records)
            report = settled(report, details=True) if PAGE in shown else report
        said = report if args.advice or not args.json else replace(report, advice=())
        outcome = replace(outcome_of(args.model, said, start), left_out=left_out)
        texts: Texts = {
            PAGE: report.to_html,
            JSON: partial(json_of, outcome, args.gate),
            TABLE: lambda: markdown([replace(outcome, report=report)], args.gate),
        }
        write_reports(reports, writing, texts)
    if args.json:
        show_text(json_of(outcome, args.gate))
    elif not args.quiet:
        show_report(report, verbose=args.verbose, command=_next(args, report))
    return strict_status(args, report)


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


def json_of(outcome: ModelOutcome, gate: Gate, verification: Verification | None = None) -> str:
    """Return the JSON of one model, which has the keys that each of several models has."""
    content = None if outcome.report is None else outcome.report.to_dict()
    if content is not None and verification is not None:
        content["verification"] = verification.to_dict()
    return as_json(outcome.told(content, gate))


def outcome_of(
    source: str,
    report: Report,
    start: float,
    output: str | None = None,
    verification: Verification | None = None,
) -> ModelOutcome:
    """Return what was done with one model, on which work began at the time ``start``."""
    from onnx_scatterx.doors.batch.summary import ModelOutcome

    agrees = proof = None
    if verification is not None:
        agrees = verification.agrees
        proof = None if verification.proof is None else verification.proof.to_dict()
    return ModelOutcome(
        Path(source),
        None if output is None else Path(output),
        report,
        agrees,
        None,
        time.perf_counter() - start,
        proof=proof,
    )


def with_advice(
    args: argparse.Namespace,
    asked: Inquiry,
    report: Report,
    records: Sequence[NodeRecord],
    output: str = "OUT.onnx",
) -> Report:
    """Return the report with advice, unless the user wants none: each command in it was tried."""
    if args.no_advice:
        return report
    from onnx_scatterx.tell import advised

    return advised(asked, report, records, command_of(args, output))


def command_of(args: argparse.Namespace, output: str = "OUT.onnx") -> Command:
    """Return the command that the user typed, with all options that decide about the outcome."""
    from onnx_scatterx.tell import Command

    said = command_words({**settings(args), "target": "scatterx"})
    names = ("strict", "verify", "prove", "strict_zeros", "samples", "seed")
    checks = check_words(**{name: getattr(args, name) for name in names if name in args})
    return Command(args.model, output, args.target.text, tuple(chain.from_iterable(said)), checks)
