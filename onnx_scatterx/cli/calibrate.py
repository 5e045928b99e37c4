"""``calibrate`` on the command line: measure the machine, and keep what was measured."""

from __future__ import annotations

import argparse
from pathlib import Path

from onnx_scatterx.cli.output import in_whole, progress, show, show_text
from onnx_scatterx.errors import ScatterXError


def calibrate_machine(args: argparse.Namespace) -> int:
    """Measure the machine, write its constants, and show them."""
    from onnx_scatterx.weighing.calibrate import calibrate
    from onnx_scatterx.weighing.machine import place

    path = place() if args.output is None else Path(args.output)
    if path.is_dir():
        raise ScatterXError(f"{path}: is a directory; name a file in it")
    with progress("measuring") as tell:
        machine = calibrate(threads=args.threads, progress=tell)
    if args.output is None:
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.parent.is_dir():
        raise ScatterXError(f"{path}: the directory {path.parent} does not exist")
    with in_whole(path, machine.to_toml):
        show_text(machine.to_toml())
        show(f"written to {path}; target ort-cpu reads it from {place()}")
    return 0
