"""The command `extract`: writes the part of a model that one scatter needs, without weights."""

from __future__ import annotations

import argparse

from onnx_scatterx.doors.cli.arguments import (
    STREAM,
    add,
    add_json,
    add_model,
    add_options,
    destination,
    model_argument,
    settings,
)
from onnx_scatterx.doors.cli.output import show_result
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.files import Writing, note_read


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `extract`."""
    add_model(command, "an ONNX model, or - for stdin")
    command.add_argument("node", metavar="NODE", help="a scatter or gather")
    add(
        command,
        "-o --output OUT",
        "where to write the part: a file, or - for stdout",
        required=True,
    )
    add_options(command.add_argument_group("what may be written"))
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Cut a scatter out of a model, and write it."""
    from onnx_scatterx.tell import extract

    with destination(args.output) as output, Writing() as writing:
        if args.model != STREAM:
            note_read(args.model, "the input")
        output.claim(writing)
        model = model_argument(args.model)
        with stages() as tell:
            part = extract(model, args.node, on_progress=tell, **settings(args))
        writing.check()
        output.write(part.model, writing, part.source_path)
        show_result(part, json=args.json)
    return 0
