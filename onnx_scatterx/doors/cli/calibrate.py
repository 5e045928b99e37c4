"""The command `calibrate`: measure the machine, and write the result to a file."""

from __future__ import annotations

import argparse
from pathlib import Path

from onnx_scatterx.doors.cli.arguments import add, add_json
from onnx_scatterx.doors.cli.output import show, show_text
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.system.writing import Writing
from onnx_scatterx.text.option_values import count
from onnx_scatterx.text.visible import as_json, plain


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `calibrate`."""
    add(command, "-o --output OUT", "the file to write (one in the user's configuration)")
    add(command, "--threads N", "threads for one node (1)", count, default=1)
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Measure the machine, write its constants, and show them."""
    from onnx_scatterx.doors.benchmarking.calibrate import calibrate
    from onnx_scatterx.optimizer.targets.costs import calibration_file

    path = calibration_file() if args.output is None else Path(args.output)
    with Writing() as writing:
        if args.output is None:
            writing.make_directory(path.parent)
        writing.claim(path, "the output")
        with stages() as tell:
            machine = calibrate(threads=args.threads, on_progress=tell)
        writing.text(path, machine.to_toml(), "the output")
    if args.json:
        show_text(as_json({"file": str(path), **plain(machine)}))
        return 0
    show_text(machine.to_toml())
    show(f"written to {path}; target ort-cpu reads it from {calibration_file()}")
    return 0
