"""The command `run`: a model in ONNX Runtime, and a table of the arrays that it returns."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onnx_scatterx.doors.cli.arguments import (
    add,
    add_inputs,
    add_json,
    add_model,
    add_session,
    add_sizes,
    given_model,
    reject_unused,
)
from onnx_scatterx.doors.cli.output import show, show_text
from onnx_scatterx.optimizer.reports.rendering import ShownInTables, table
from onnx_scatterx.system.writing import Writing
from onnx_scatterx.text.option_values import count
from onnx_scatterx.text.visible import as_json

if TYPE_CHECKING:
    import onnx

    from onnx_scatterx.optimizer.reports.rendering import Table


_SHOWN = 4  # elements
_TEXT_SHOWN = 20  # characters


@dataclass(frozen=True)
class ArrayTable(ShownInTables):
    """Arrays by name: their types, shapes, least and greatest elements, and first elements."""

    arrays: Mapping[str, np.ndarray]
    title: str = ""

    def shown(self) -> Table:
        """Return the arrays as a table, for a terminal or a pipe."""
        columns = ("output", "type", "shape", "least", "greatest", "first elements")
        rows = ((name, *describe(array)) for name, array in self.arrays.items())
        return table(self.title, columns, rows, names=["output"])

    def to_dict(self) -> dict[str, object]:
        """Return the same as plain data; numbers are the texts of the table."""
        keys = ("type", "shape", "least", "greatest", "first")
        found = {
            name: {**dict(zip(keys, describe(array), strict=True)), "shape": list(array.shape)}
            for name, array in self.arrays.items()
        }
        return {"title": self.title, "outputs": found}


def describe(array: np.ndarray) -> tuple[str, str, str, str, str]:
    """Return the type, shape, least, greatest and first elements; the text names NaN, too.

    >>> describe(np.float32([[0.5, np.nan], [2, -1]]))
    ('float32', '2 x 2', '-1', '2 and NaN', '0.5, nan, 2, -1')
    >>> describe(np.array(["a", "b"], object)), describe(np.zeros((0, 3), np.int64))
    (('string', '2', '', '', "'a', 'b'"), ('int64', '0 x 3', '', '', ''))
    """
    shape = " x ".join(map(str, array.shape)) or "scalar"
    first = array.ravel()[:_SHOWN]
    more = ", ..." if array.size > _SHOWN else ""
    if array.dtype.kind in "OUT":
        words = (repr(str(word)[:_TEXT_SHOWN]) for word in first)
        return "string", shape, "", "", ", ".join(words) + more
    shown = ", ".join(map(_number, first)) + more
    if array.dtype.kind == "c" or not array.size:
        return str(array.dtype), shape, "", "", shown
    # Some types of ml_dtypes lack isnan and minimum.
    plain = array if array.dtype.kind in "biuf" else array.astype(np.float32)
    nans = np.isnan(plain) if plain.dtype.kind == "f" else np.zeros(plain.shape, bool)
    numbers = plain[~nans]
    ends = (_number(numbers.min()), _number(numbers.max())) if numbers.size else ("", "")
    greatest = " and ".join(filter(None, (ends[1], "NaN" if nans.any() else "")))
    return str(array.dtype), shape, ends[0], greatest, shown


def _number(value: np.generic) -> str:
    if value.dtype.kind in "biu":
        return str(value.item())
    return f"{complex(value):.6g}" if value.dtype.kind == "c" else f"{float(value):.6g}"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `run` takes."""
    add_model(command, "an ONNX model, or - for stdin")
    inputs = command.add_argument_group("inputs")
    add_inputs(inputs)
    add(command, "--output OUT", "save the outputs: a .npz, or a directory for .npy files")
    command.add_argument("--samples", type=count, metavar="N", help="how many inputs to draw (1)")
    add_sizes(inputs)
    add_session(command, threads=0)
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """Run a model, print its outputs and save them."""
    from onnx_scatterx.runtime.array_files import claim_output, output_place, save_arrays

    if args.input:
        reject_unused(args, "with --input", "samples", "size", "seed")
    place = None if args.output is None else output_place(args.output)
    with Writing() as writing:
        if place is not None:
            claim_output(place, writing)
        saved = _run(args, writing)
        if place is not None:
            save_arrays(saved, place, writing)
    return 0


def _run(args: argparse.Namespace, writing: Writing) -> list[dict[str, np.ndarray]]:
    """Run the model, print its outputs, and return the arrays to save."""
    from onnx_scatterx.doors.cli.run import ArrayTable
    from onnx_scatterx.runtime.array_files import read_arrays
    from onnx_scatterx.runtime.opened import opened_model

    saved: list[dict[str, np.ndarray]] = []
    tables: list[dict[str, object]] = []
    model = given_model(args.model)
    with opened_model(model, threads=args.threads, library=args.library) as opened:
        given = read_arrays(args.input, {i.name for i in (*opened.inputs, *opened.overridable)})
        writing.check()  # now all files are known that are read
        if not opened.inputs:
            reject_unused(args, "on a model without inputs", "samples", "size", "seed")
        drawn = bool(opened.inputs) and not args.input
        for title, feeds in _drawn(args, model) if drawn else [("", given)]:
            outputs = opened.run(feeds)
            table = ArrayTable(outputs, title)
            tables.append(table.to_dict())
            if not args.json:
                show(table)
            # What was drawn is saved too: an output alone would say little.
            saved.append(feeds | outputs if drawn else outputs)
    if args.json:
        show_text(as_json(tables))
    return saved


def _drawn(
    args: argparse.Namespace, model: str | onnx.ModelProto
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    from onnx_scatterx.judges.verification.sample_source import valid_draws
    from onnx_scatterx.runtime.session import library_path

    library = str(library_path()) if args.library else None
    seed = args.seed or 0
    draws = valid_draws(model, args.samples or 1, sizes=dict(args.size), seed=seed, library=library)
    for number, draw in enumerate(draws):
        sizes = "".join(f", {name} = {size}" for name, size in draw.sizes.items())
        yield f"drawn inputs {number}, seed {seed}{sizes}", dict(draw.feeds)
