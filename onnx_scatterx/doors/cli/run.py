"""The command `run`: runs a model in ONNX Runtime, on given or on drawn inputs."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from onnx_scatterx.doors.cli.arguments import (
    add,
    add_inputs,
    add_json,
    add_model,
    add_session,
    add_sizes,
    model_argument,
    reject_unused,
)
from onnx_scatterx.doors.cli.output import show, show_text
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import Writing
from onnx_scatterx.observer import LOG
from onnx_scatterx.options import count
from onnx_scatterx.text import as_json

if TYPE_CHECKING:
    import numpy as np
    import onnx


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_model(command, "an ONNX model, or - for stdin")
    inputs = command.add_argument_group("inputs")
    add_inputs(inputs)
    add(command, "--output OUT", "save the outputs: a .npz, or a directory for .npy files")
    add(command, "--samples N", "how many inputs to draw (default: 1)", count)
    add_sizes(inputs)
    add_session(command, threads=0)
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Run a model, print its outputs and save them."""
    from onnx_scatterx.runtime import output_path, save_arrays

    if args.input:
        reject_unused(args, "with --input", "samples", "size", "seed")
    with Writing() as writing:
        path = None if args.output is None else output_path(args.output, writing)
        saved = _run(args, writing)
        if path is not None:
            save_arrays(saved, path, writing)
    return 0


def _run(args: argparse.Namespace, writing: Writing) -> list[dict[str, np.ndarray]]:
    """Run the model, print its outputs, and return the arrays to save."""
    from onnx_scatterx.doors.cli.array_tables import ArrayTable
    from onnx_scatterx.runtime import opened_model, read_arrays

    saved: list[dict[str, np.ndarray]] = []
    tables: list[dict[str, object]] = []
    model = model_argument(args.model)
    with opened_model(model, threads=args.threads, library=args.library) as opened:
        arrays = read_arrays(args.input, {i.name for i in (*opened.inputs, *opened.overridable)})
        writing.check()  # all files that are read are known only now
        if not opened.inputs:
            reject_unused(args, "on a model without inputs", "samples", "size", "seed")
        drawn = bool(opened.inputs) and not args.input
        if args.input:
            _warn(model, arrays)
        for title, feeds in _drawn(args, model, opened.library) if drawn else [("", arrays)]:
            outputs = opened.run(feeds)
            table = ArrayTable(outputs, title)
            tables.append(table.to_dict())
            if not args.json:
                show(table)
            # Drawn inputs are saved, too, because an output alone would say little.
            saved.append(feeds | outputs if drawn else outputs)
    if args.json:
        show_text(as_json(tables))
    return saved


def _warn(model: str | onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> None:
    """Print a line for each promise that the model states and the given inputs break."""
    from onnx_scatterx.compare import stated_and_broken
    from onnx_scatterx.files import load

    with contextlib.suppress(ScatterXError):  # ONNX Runtime reads more models
        for promise in stated_and_broken(load(model), feeds):
            LOG.warning("warning: this input breaks the promise %r", promise)


def _drawn(
    args: argparse.Namespace, model: str | onnx.ModelProto, library: str | None
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    from onnx_scatterx.compare import valid_draws

    seed = args.seed or 0
    draws = valid_draws(model, args.samples or 1, sizes=dict(args.size), seed=seed, library=library)
    for number, draw in enumerate(draws):
        sizes = "".join(f", {name} = {size}" for name, size in draw.sizes.items())
        yield f"drawn inputs {number}, seed {seed}{sizes}", dict(draw.feeds)
