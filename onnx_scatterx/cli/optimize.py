"""The command `optimize`: one model here, directories in ``cli.many``."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from onnx_scatterx.cli.answers import answer, hint, strictly, verified
from onnx_scatterx.cli.arguments import (
    add_draws,
    add_model,
    add_reads,
    add_strict,
    add_target,
    count,
    refuse_idle,
    rule_names,
    settings,
    settle_target,
    size,
)
from onnx_scatterx.cli.output import in_whole, report_place, show
from onnx_scatterx.errors import ScatterXError

if TYPE_CHECKING:
    from onnx_scatterx.verification import Verification


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `optimize` takes."""
    add_model(command, "an ONNX model, or a directory of models")
    command.add_argument("-o", "--output", metavar="OUT", required=True, help="where to write it")
    command.add_argument(
        "--jobs", type=count, metavar="N", help="processes for a directory (one per core)"
    )
    add_target(command)
    add_reads(command, "rewrite gathers too, where slices are no dearer")
    add_strict(command)
    command.add_argument("--rules", type=rule_names, metavar="A,B", help="use these rules only")
    command.add_argument(
        "--opset", type=count, metavar="N", help="raise the model to this operator set first"
    )
    command.add_argument(
        "--size",
        type=size,
        action="append",
        default=[],
        metavar="S=N",
        help="a symbolic size is usually N: what ort-cpu weighs plans by",
    )
    command.add_argument(
        "--verify", action="store_true", help="run both models first, and write only if they agree"
    )
    add_draws(command)
    command.add_argument("--report", metavar="R", help="write a report too, .json or .html")
    command.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def run(args: argparse.Namespace) -> int:
    """Optimize a model or a directory of models, and write what came of it."""
    if not os.path.exists(args.model):
        raise ScatterXError(f"{args.model}: no such file")
    if args.output == "-":
        raise ScatterXError("-o -: a model is written to a file; name one")
    args.verify = args.verify or args.prove
    if not args.verify:
        refuse_idle(args, "without --verify", "samples", "seed")
    if os.path.isdir(args.model):
        from onnx_scatterx.cli.many import optimize_directory

        return optimize_directory(args)
    from onnx_scatterx.api import optimize
    from onnx_scatterx.model.save import place_of

    refuse_idle(args, "on one model: it takes one process", "jobs")
    place_of(args.output, args.model)
    settle_target(args)
    report = report_place(args.report, (args.model, args.output))
    result = optimize(
        args.model, rules=args.rules, sizes=dict(args.size), opset=args.opset, **settings(args)
    )
    if result.report.opset_kept is not None:
        refuse_idle(args, f"on a model of operator set {result.report.opset_kept}", "opset")
    verification = verified(args, args.model, result.model) if args.verify else None
    if verification is None or verification.same:
        with in_whole(report, lambda: _report_text(report.suffix, result, verification)):
            result.save(args.output)
    if not args.quiet:
        show(result.report)
        if verification is not None:
            show(verification)
        hint(args, result.report)
    status = answer(verification, f"; {args.output} is not written")
    return status or strictly(args, result.report)


def _report_text(suffix: str, result: Any, verification: Verification | None) -> str:
    write = result.report.to_html if suffix == ".html" else result.report.to_json
    return str(write(verification))
