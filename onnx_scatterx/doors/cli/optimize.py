"""The command `optimize` of one model; ``cli.batch`` has that of several models."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from onnx_scatterx.doors.cli.arguments import (
    STREAM,
    Destination,
    add,
    add_draws,
    add_jobs,
    add_json,
    add_models,
    add_options,
    add_quiet,
    add_report,
    add_strict,
    add_verbosity,
    destination,
    is_one,
    model_argument,
    read_target,
    reject_quiet,
    reject_unused,
    settings,
)
from onnx_scatterx.doors.cli.check import (
    add_check_with,
    answers,
    chosen_consumers,
    require_consumers,
)
from onnx_scatterx.doors.cli.inspect import made_of, texts_of_one
from onnx_scatterx.doors.cli.output import (
    show,
    show_missing_library,
    show_report,
    show_text,
)
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.doors.cli.reports import (
    JSON,
    TABLE,
    failure_told,
    report_paths,
    write_reports,
)
from onnx_scatterx.doors.cli.strict import strict_status
from onnx_scatterx.doors.cli.verify import answer, verified
from onnx_scatterx.files import Writing, note_read

if TYPE_CHECKING:
    import onnx_ir as ir

    from onnx_scatterx.engine.passes import Settings
    from onnx_scatterx.lab import Consumer


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `optimize`."""
    add_models(command, "ONNX models, directories of models, or - for stdin")
    add(
        command,
        "-o --output OUT",
        "where to write the model: a file, - for stdout, or a directory for several models",
        required=True,
    )
    add_jobs(command.add_argument_group("several models"))
    written = command.add_argument_group("what may be written")
    add_options(written)
    checked = command.add_argument_group("checks")
    add_strict(checked, "; OUT is written anyway")
    add(
        checked,
        "--verify",
        "run both models first, and write the new one only if the outputs are the same",
    )
    add_draws(checked)
    add_check_with(checked)
    output = command.add_argument_group("output")
    add_report(output)
    add(
        output,
        "--print-after PASS",
        "print the model to stderr after this pass (all: after each), without weights",
        action="append",
        default=[],
    )
    add(output, "--save-as-external-data", "write the weights to OUT.data, beside the model")
    add_json(output)
    add_verbosity(output)
    add_quiet(output)


def run(args: argparse.Namespace) -> int:
    """Optimize a model or a directory of models, and write the results."""
    one = is_one(args.models, args.jobs)
    args.verify = args.verify or args.prove
    if not args.verify:
        reject_unused(args, "without --verify", "samples", "seed", "strict_zeros")
    if args.check_with is None:
        reject_unused(args, "without --check-with", "python")
    if args.json:
        reject_unused(args, "with --json", "quiet", "verbose", "check_with")
    reject_quiet(args)
    if not one:
        if not (args.json or args.report):
            reject_unused(args, "on a directory without --json or --report", "advice")
        reject_unused(
            args, "on a directory: it is for one model", "print_after", "check_with", "verbose"
        )
        from onnx_scatterx.doors.cli.batch import optimize_directory

        return optimize_directory(args)
    reject_unused(args, "on one model: it is for several", "jobs", "timeout")
    with destination(args.output) as output:
        if output.is_stream:
            alone = "json", "save_as_external_data", "check_with"
            reject_unused(args, "with -o -, which writes one stream", *alone)
        from onnx_scatterx.engine.passes import Settings

        args.model = args.models[0]
        consumers = chosen_consumers(args.check_with or [], args.python)
        require_consumers(consumers)
        read_target(args)
        chosen = Settings.of(**settings(args))
        with failure_told(args):
            return _optimize(args, chosen, output, consumers)


def _optimize(
    args: argparse.Namespace,
    chosen: Settings,
    output: Destination,
    consumers: list[tuple[Consumer, str | None]],
) -> int:
    """Optimize one model, and write it."""
    source = args.model
    start = time.perf_counter()
    with Writing() as writing:
        if source != STREAM:
            note_read(source, "the input")
        output.claim(writing)
        model = model_argument(source)
        reports = report_paths(args.report, writing)
        after = _printer(args.print_after) if args.print_after else None
        done = made_of(args, chosen, model, reports, after)
        writing.check()  # the external data of the input are known only now
        with stages(quiet=args.quiet) as tell:
            if tell is not None:
                tell("writing", 0, 0)
            outside = args.save_as_external_data
            how = {"outside": outside, "one_file": chosen.target.one_file}
            written = output.write(done.model, writing, done.source_path, **how)
        verification = verified(args, model, written) if args.verify else None
        texts = told = texts_of_one(args, done, start, verification)
        if verification is not None and not verification.agrees:
            writing.drop()
            output.content = None
            told = {TABLE: texts[TABLE]}  # it says so
        write_reports(reports, writing, told)
    if args.json:
        show_text(texts[JSON]())
    elif not args.quiet:
        more: dict[str, Any] = {}
        if verification is not None:
            more["answer"] = verification.lines(brief=not args.verbose)
            more["is_written"] = verification.agrees
        show_report(done.told, verbose=args.verbose, **more)
        if more.get("is_written", True):
            show_missing_library([done.told])
    status = 0
    if verification is not None:
        status = answer(verification, f"; {args.output} is not written")
        if not verification.agrees:
            return status
    say: Callable[[object], None] = (lambda _: None) if args.quiet else show
    refused = answers(args.output, consumers, say)
    written = "the model" if output.is_stream else args.output
    return strict_status(args, done.report, written) or refused or status


def _printer(wanted: Sequence[str]) -> Callable[[str, ir.Model], None]:
    """Return a function for ``on_pass`` that prints the model after the wanted passes."""
    from onnx_scatterx.pipeline import check_passes

    check_passes(wanted, "all")

    def after(name: str, model: ir.Model) -> None:
        if name in wanted or "all" in wanted:
            import onnx_ir as ir

            show_text(
                f"after {name}:\n{ir.to_onnx_text(model, exclude_initializers=True)}", err=True
            )

    return after
