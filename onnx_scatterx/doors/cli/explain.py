"""The command `explain`: what is done with each scatter, and why a scatter is kept."""

from __future__ import annotations

import argparse

from onnx_scatterx.doors.cli.arguments import (
    add,
    add_json,
    add_model,
    add_options,
    model_argument,
    read_target,
    settings,
)
from onnx_scatterx.doors.cli.inspect import command_of
from onnx_scatterx.doors.cli.output import show_text, terminal_width
from onnx_scatterx.doors.cli.progress import stages

_WIDTH = 100  # letters of a line that can be read well


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `explain`."""
    add_model(command, "an ONNX model, or - for stdin")
    command.add_argument("node", metavar="NODE", nargs="?", help="one scatter or gather")
    add_options(command.add_argument_group("what may be written"))
    add(command, "--theory", "add the equation of the scatter, and whether slices can do its work")
    add(command, "--moves", "add the strided copies that do its work")
    add(command, "--where", "add the files of the rules, or the line of code that refused")
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Explain the scatters of a model."""
    from onnx_scatterx.tell import explain, explanations
    from onnx_scatterx.text import as_json

    read_target(args)
    model, width = model_argument(args.model), min(terminal_width(), _WIDTH)
    with stages() as tell:
        options = {
            "on_progress": tell,
            "theory": args.theory,
            "moves": args.moves,
            "where": args.where,
            "command": command_of(args),
            **settings(args),
        }
        if args.json:
            text = as_json(explanations(model, args.node, **options))
        else:
            text = explain(model, args.node, width=width, **options)
    show_text(text)
    return 0
