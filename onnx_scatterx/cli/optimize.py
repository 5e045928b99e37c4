"""The command `optimize`: one model here, directories in ``cli.many``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from onnx_scatterx.cli.arguments import (
    add_draws,
    add_model,
    add_reads,
    add_strict,
    add_target,
    count,
    duration,
    reject_unused,
    rule_names,
    settings,
    settle_target,
    size,
)
from onnx_scatterx.cli.check import add_check_with, answers, chosen_consumers
from onnx_scatterx.cli.exit_status import advised, answer, strict_status, verified
from onnx_scatterx.cli.output import report_place, show, show_text
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.system.record import note_read
from onnx_scatterx.system.writing import Writing

if TYPE_CHECKING:
    import onnx_ir as ir

    from onnx_scatterx.reports.report import Report
    from onnx_scatterx.verification import Verification


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `optimize` takes."""
    add_model(command, "an ONNX model, or a directory of models")
    command.add_argument("-o", "--output", metavar="OUT", required=True, help="where to write it")
    command.add_argument(
        "--jobs", type=count, metavar="N", help="processes for a directory (one per core)"
    )
    command.add_argument(
        "--timeout", type=duration, metavar="SECONDS", help="for each model of a directory"
    )
    add_target(command)
    add_reads(command, "also rewrite gathers, if slices take no more nodes")
    add_strict(command)
    command.add_argument("--rules", type=rule_names, metavar="A,B", help="use these rules only")
    command.add_argument(
        "--opset", type=count, metavar="N", help="raise or lower the model to this set of operators"
    )
    command.add_argument(
        "--size",
        type=size,
        action="append",
        default=[],
        metavar="S=N",
        help="a hint: a symbolic size is usually N, by which ort-cpu weighs plans",
    )
    command.add_argument(
        "--verify", action="store_true", help="run both models first, and write only if they agree"
    )
    add_draws(command)
    add_check_with(command)
    command.add_argument("--report", metavar="R", help="write a report too, .json or .html")
    command.add_argument(
        "--print-after",
        action="append",
        default=[],
        metavar="PASS",
        help="print the model to stderr after this pass (all: after each), without weights",
    )
    command.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Optimize a model or a directory of models, and write what came of it."""
    if not os.path.exists(args.model):
        raise ScatterXError(f"{args.model}: no such file")
    if args.output == "-":
        raise ScatterXError("-o -: a model is written to a file; name one")
    args.verify = args.verify or args.prove
    if not args.verify:
        reject_unused(args, "without --verify", "samples", "seed", "strict_zeros")
    if args.check_with is None:
        reject_unused(args, "without --check-with", "python")
    if os.path.isdir(args.model):
        reject_unused(args, "on a directory: it is for one model", "print_after", "check_with")
        from onnx_scatterx.cli.batch import optimize_directory

        return optimize_directory(args)
    from onnx_scatterx.api import optimize
    from onnx_scatterx.ir.save import stage

    reject_unused(args, "on one model: it is for a directory", "jobs", "timeout")
    consumers = chosen_consumers(args.check_with or [], args.python)
    with Writing() as writing:
        note_read(args.model, "the input")
        writing.claim(args.output, "the output")
        settle_target(args)
        report = report_place(args.report, writing)
        result = optimize(
            args.model,
            rules=args.rules,
            sizes=dict(args.size),
            opset=args.opset,
            watch=_printer(args.print_after) if args.print_after else None,
            **settings(args),
        )
        told = result.report
        if not args.quiet or (report is not None and report.suffix == ".html"):
            told = advised(args, told, args.output)
        writing.check()  # now the external data of the input are known
        verification = verified(args, args.model, result.model) if args.verify else None
        if verification is None or verification.same:
            stage(result.model, args.output, writing, source_path=result.source_path)
            if report is not None:
                text = _report_text(report.suffix, result.report, told, verification)
                writing.text(report, text, "the report")
    if not args.quiet:
        show(told)
        if verification is not None:
            show(verification)
    status = answer(verification, f"; {args.output} is not written")
    if status:
        return status
    tell: Callable[[object], None] = (lambda _: None) if args.quiet else show
    status = answers(args.output, consumers, tell)
    return strict_status(args, result.report) or status


def _printer(wanted: Sequence[str]) -> Callable[[str, ir.Model], None]:
    """Return what prints a model after the passes that are wanted."""
    from onnx_scatterx.pipeline import PIPELINE

    known = [step.name for step in PIPELINE]
    for name in wanted:
        if name not in (*known, "all"):
            raise ScatterXError(f"no pass is called {name!r}; there are all, {', '.join(known)}")

    def after(name: str, model: ir.Model) -> None:
        if name in wanted or "all" in wanted:
            import onnx_ir as ir

            show_text(
                f"after {name}:\n{ir.to_onnx_text(model, exclude_initializers=True)}", err=True
            )

    return after


def _report_text(
    suffix: str, report: Report, told: Report, verification: Verification | None
) -> str:
    if suffix == ".html":
        return told.to_html(verification)
    return report.to_json(verification)
