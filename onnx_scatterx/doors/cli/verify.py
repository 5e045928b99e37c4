"""The command `verify`: two models are run and compared."""

from __future__ import annotations

import argparse
from typing import Any

from onnx_scatterx.doors.cli.arguments import (
    add_draws,
    add_inputs,
    add_json,
    add_options,
    given_inputs,
    given_models,
    reject_unused,
)
from onnx_scatterx.doors.cli.exit_status import answer, verified
from onnx_scatterx.doors.cli.output import show_result
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.text.option_values import from_zero


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `verify` takes."""
    command.add_argument("before", metavar="A", help="the original, or - for stdin")
    command.add_argument("after", metavar="B", help="the new model, or - for stdin")
    add_inputs(command, "others are drawn only if --samples is given, too")
    for name, what in (("rtol", "relative"), ("atol", "absolute")):
        command.add_argument(
            f"--{name}",
            type=from_zero,
            metavar="X",
            help=f"the {what} tolerance of floats (without both, every bit counts)",
        )
    add_draws(command.add_argument_group("drawn inputs"))
    add_options(command, "assume", "distrust_dims", "effort")
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Compare two models, and say whether they are the same."""
    if args.effort != 1 and not args.prove:
        raise ScatterXError("--effort changes nothing unless --prove is given")
    before, after = given_models(args.before, args.after)
    more: dict[str, Any] = {"rtol": args.rtol, "atol": args.atol}
    if args.input:
        more["feeds"] = [given_inputs(args, before)]
        if args.samples is None:
            reject_unused(args, "with --input alone, without --samples", "seed")
            more["samples"] = 0
    verification = verified(args, before, after, **more)
    show_result(verification, json=args.json)
    return answer(verification)
