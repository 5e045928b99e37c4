"""Gives the models of a directory to all consumers that are installed, and prints a table.

    just devices models [--only NAME,NAME] [--python PATTERN] [--list FILE] [--json FILE]

Every model is run in three forms: the original, optimized for `standard`, and optimized for the
consumer's own profile. Each is compared with ONNX Runtime. PATTERN is the interpreter of a
consumer, with {} for its name, such as `build/{}/bin/python`: many consumers want a virtual
environment of their own. FILE of --list names the models to run, one in each line; by default, all
models with fixed sizes are run. --page writes the table into a page, between its marks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import onnx

from onnx_scatterx.errors import MissingConsumerError
from onnx_scatterx.lab.devices.consumer import (
    Consumer,
    ConsumerProcess,
    consumer_names,
    consumer_of,
)

sys.path.append(str(Path(__file__).parents[1]))

from benchmarks.device_table import device_table

BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("directory", type=Path, help="of models")
    parser.add_argument("--only", help="these consumers, by name, or adapters (.py)")
    parser.add_argument("--python", help="the interpreter of a consumer, with {} for its name")
    parser.add_argument("--list", type=Path, help="a file with the names of the models to take")
    parser.add_argument("--dynamic", action="store_true", help="take dynamic models too, fixed")
    parser.add_argument("--record", type=Path, help="keep the answers here, and go on from them")
    parser.add_argument("--json", type=Path, help="write all answers here")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for a model (300)")
    args = parser.parse_args(arguments)
    names = args.only.split(",") if args.only else consumer_names()
    consumers = _installed(names, args.python)
    models = _models(args.directory, args.list, args.dynamic)
    if not models or not consumers:
        print("no models" if consumers else "no consumer is installed", file=sys.stderr)
        return 2
    table = device_table(
        models, consumers, record=args.record, timeout=args.timeout, tell=_progress
    )
    if args.json is not None:
        args.json.write_text(table.to_json(), encoding="utf-8")
    text = table.to_markdown()
    print(text)
    if args.page is not None:
        page = args.page.read_text(encoding="utf-8")
        head, rest = page.split(BEGIN)
        tail = rest.split(END)[1]
        args.page.write_text(f"{head}{BEGIN}\n\n{text}\n{END}{tail}", encoding="utf-8")
    return 0


def _installed(names: Sequence[str], pattern: str | None) -> list[tuple[Consumer, str | None]]:
    """Return the consumers that are installed, each with its interpreter; tell of the others."""
    found = []
    for name in names:
        consumer = consumer_of(name)
        python = pattern.format(consumer.name) if pattern else None
        try:
            ConsumerProcess(consumer, python).close()
        except MissingConsumerError as error:
            print(error, file=sys.stderr)
        else:
            found.append((consumer, python))
    return found


def _models(directory: Path, listed: Path | None, dynamic: bool) -> list[Path]:
    if listed is not None:
        names = listed.read_text(encoding="utf-8").split()
        return [directory / f"{name.removesuffix('.onnx')}.onnx" for name in names]
    return [path for path in sorted(directory.glob("*.onnx")) if dynamic or _is_static(path)]


def _is_static(path: Path) -> bool:
    graph = onnx.load(path, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = [value for value in graph.input if value.name not in constants]
    return all(d.HasField("dim_value") for v in inputs for d in v.type.tensor_type.shape.dim)


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{text:<78}", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
