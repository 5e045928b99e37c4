"""``calibrate`` on the command line: measure the machine, and keep what was measured."""

from __future__ import annotations

import argparse
from pathlib import Path

from onnx_scatterx.cli.output import progress, show, show_text
from onnx_scatterx.system.writing import Writing


def calibrate_machine(args: argparse.Namespace) -> int:
    """Measure the machine, write its constants, and show them."""
    from onnx_scatterx.benchmarking.calibrate import calibrate
    from onnx_scatterx.targets.cost_model.machine import place

    path = place() if args.output is None else Path(args.output)
    with Writing() as writing:
        if args.output is None:
            writing.make_directory(path.parent)
        writing.claim(path, "the output")
        with progress("measuring") as tell:
            machine = calibrate(threads=args.threads, progress=tell)
        writing.text(path, machine.to_toml(), "the output")
    show_text(machine.to_toml())
    show(f"written to {path}; target ort-cpu reads it from {place()}")
    return 0
