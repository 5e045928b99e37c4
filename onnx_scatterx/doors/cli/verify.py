"""The command `verify`: runs two models, compares their outputs, and prints the answer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from onnx_scatterx.doors.cli.arguments import (
    add,
    add_draws,
    add_inputs,
    add_json,
    add_options,
    checks,
    input_arguments,
    model_arguments,
    reject_unused,
)
from onnx_scatterx.doors.cli.output import DONE, FAILED, NO, print_error, show_result
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.options import from_zero

if TYPE_CHECKING:
    from onnx_scatterx.compare import Verification

_STATUS = {"same": DONE, "different": NO, "not compared": FAILED, "not proven": 3}


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `verify`."""
    command.add_argument("before", metavar="A", help="the original, or - for stdin")
    command.add_argument("after", metavar="B", help="the new model, or - for stdin")
    add_inputs(command, "others are drawn only if --samples is given, too")
    for name, what in (("rtol", "relative"), ("atol", "absolute")):
        text = f"the {what} tolerance of floats (without both, every bit counts)"
        add(command, f"--{name} X", text, from_zero)
    add_draws(command.add_argument_group("drawn inputs"))
    add_options(command, "assume", "distrust_dims", "effort")
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Compare two models, and say whether they are the same."""
    if args.effort != 1 and not args.prove:
        raise ScatterXError("--effort changes nothing unless --prove is given")
    before, after = model_arguments(args.before, args.after)
    more: dict[str, Any] = {"rtol": args.rtol, "atol": args.atol}
    if args.input:
        more["feeds"] = [input_arguments(args, before)]
        if args.samples is None:
            reject_unused(args, "with --input alone, without --samples", "seed")
            more["samples"] = 0
    verification = verified(args, before, after, **more)
    show_result(verification, json=args.json)
    return answer(verification)


def verified(args: argparse.Namespace, before: Any, after: Any, **more: Any) -> Verification:
    """Compare two models, with the arguments of the command and ``more``; show the progress."""
    from onnx_scatterx.compare import verify

    with stages(quiet=getattr(args, "quiet", False)) as tell:
        return verify(before, after, on_progress=tell, **{**checks(args), **more})


def answer(verification: Verification, consequence: str = "") -> int:
    """Return the exit status of a verification; if it is not 0, print a line to stderr.

    ``consequence`` ends this line if the models differ, or could not be compared.
    """
    status = _STATUS[verification.answer]
    if status == DONE:
        return status
    return print_error(verification.shortfall + consequence * (not verification.agrees), status)
