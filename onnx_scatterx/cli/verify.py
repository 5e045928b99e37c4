"""The command `verify`: two models are run and compared."""

from __future__ import annotations

import argparse

from onnx_scatterx.cli.arguments import add_assume, add_distrust, add_draws, add_json
from onnx_scatterx.cli.exit_status import answer, verified
from onnx_scatterx.cli.models import given_models
from onnx_scatterx.cli.output import show, show_text


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `verify` takes."""
    command.add_argument("before", metavar="A", help="the original, or - for stdin")
    command.add_argument("after", metavar="B", help="the new model, or - for stdin")
    add_draws(command)
    add_assume(command)
    add_distrust(command)
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Compare two models, and say whether they are the same."""
    from onnx_scatterx.text.visible import as_json

    verification = verified(args, *given_models(args.before, args.after))
    if args.json:
        show_text(as_json(verification.to_dict()))
    else:
        show(verification)
    return answer(verification)
