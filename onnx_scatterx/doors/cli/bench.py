"""The command `bench`: models timed against each other, or one model under several targets."""

from __future__ import annotations

import argparse

from onnx_scatterx.doors.cli.arguments import (
    add,
    add_inputs,
    add_json,
    add_session,
    add_sizes,
    input_arguments,
    model_arguments,
    reject_unused,
)
from onnx_scatterx.doors.cli.output import show_result
from onnx_scatterx.doors.cli.progress import stages
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.options import count


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `bench`."""
    command.add_argument(
        "models", metavar="MODEL", nargs="+", help="ONNX models; all run on the same inputs"
    )
    add(
        command,
        "--target A,B",
        "optimize the one model for these targets, and time the results, too",
    )
    inputs = command.add_argument_group("inputs")
    add_inputs(inputs)
    add_sizes(inputs)
    add_session(command, threads=1)
    add(
        command,
        "--rounds N",
        "how often to time each model (default: as often as fits into 10 s)",
        count,
    )
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Time models and print the results."""
    from onnx_scatterx.lab import bench

    models = model_arguments(*args.models)
    apart = len(set(args.models)) == len(models)  # else equal names are numbered
    targets = args.target.split(",") if args.target else []
    inputs = None
    if args.input:
        reject_unused(args, "with --input", "size", "seed")
        inputs = input_arguments(args, models[0])
    if len(args.models) == 1 and not targets:
        raise ScatterXError("one model cannot be compared; add another one, or --target")
    with stages() as tell:
        benchmark = bench(
            dict(zip(args.models, models, strict=True)) if apart else models,
            targets=targets,
            sizes=dict(args.size),
            inputs=inputs,
            threads=args.threads,
            rounds=args.rounds,
            seed=args.seed or 0,
            library=args.library,
            on_progress=tell,
        )
    show_result(benchmark, json=args.json)
    return 0
