"""The command `extract`: the part that one scatter needs, as a model that can be sent."""

from __future__ import annotations

import argparse
import contextlib
import sys

from onnx_scatterx.doors.cli.arguments import (
    STREAM,
    add,
    add_json,
    add_model,
    add_options,
    given_model,
    require_stream,
    settings,
    write_model,
)
from onnx_scatterx.doors.cli.output import show_result
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.system.reading import note_read
from onnx_scatterx.system.writing import Writing


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `extract` takes."""
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
    from onnx_scatterx.doors.extraction import extract
    from onnx_scatterx.ir.save import as_bytes, stage

    stream = None
    if args.output == STREAM:
        require_stream()
        stream = sys.stdout
    with Writing() as writing, contextlib.redirect_stdout(sys.stderr if stream else sys.stdout):
        if args.model != STREAM:
            note_read(args.model, "the input")
        if stream is None:
            writing.claim(args.output, "the output")
        model = given_model(args.model)
        with stages() as tell:
            part = extract(model, args.node, on_progress=tell, **settings(args))
        writing.check()
        if stream is None:
            stage(part.model, args.output, writing, source_path=part.source_path)
        else:
            directory = part.source_path.parent if part.source_path else None
            write_model(as_bytes(part.model, directory)[0], stream)
        show_result(part, json=args.json)
    return 0
