"""The command `check`, and `--check-with` of `optimize`: what the compilers of devices say."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from onnx_scatterx.cli.arguments import (
    add_inputs,
    add_model,
    add_sizes,
    count,
    duration,
    reject_unused,
)
from onnx_scatterx.cli.output import print_error, show, show_text
from onnx_scatterx.errors import ScatterXError

if TYPE_CHECKING:
    from onnx_scatterx.devices import Check
    from onnx_scatterx.devices.registry import Consumer

_DONE, _NO = 0, 1


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `check` takes."""
    add_model(command)
    command.add_argument(
        "--with",
        dest="consumers",
        type=consumer_list,
        required=True,
        metavar="A,B",
        help="consumers that are installed, such as opencv, or an adapter of yours (.py)",
    )
    add_environment(command)
    add_inputs(command)
    command.add_argument(
        "--samples", type=count, metavar="N", help="sets of inputs to compare on (1)"
    )
    add_sizes(command)
    command.add_argument("--json", action="store_true", help="print JSON")


def add_environment(command: argparse.ArgumentParser) -> None:
    """Add --python and --timeout of consumers."""
    command.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="[NAME=]PATH",
        help="the Python of the environment that has the consumer, or that named (this one)",
    )
    command.add_argument(
        "--timeout", type=duration, metavar="SECONDS", help="for each run of a consumer (300)"
    )


def run(args: argparse.Namespace) -> int:
    """Give a model to each consumer, and print what they say."""
    from onnx_scatterx.ir.io import load
    from onnx_scatterx.runtime.array_files import read_arrays

    feeds = None
    if args.input:
        reject_unused(args, "with --input", "samples", "size", "seed")
        names = {value.name for value in load(args.model).graph.inputs if value.name}
        feeds = [read_arrays(args.input, names)]
    found = checked(args, args.model, args.consumers, feeds)
    if args.json:
        import json
        from dataclasses import asdict

        show_text(json.dumps([asdict(one) for one in found], indent=2))
    return status(found)


def checked(
    args: argparse.Namespace, model: Any, consumers: list[str], feeds: Any = None
) -> list[Check]:
    """Give a model to each consumer, and print a line for each as it comes, if not asked not to."""
    from onnx_scatterx.devices.checking import check
    from onnx_scatterx.devices.process import LIMIT

    chosen = named_consumers(consumers)
    pythons = _pythons(args.python, chosen)
    found = []
    for consumer in chosen:
        one = check(
            model,
            consumer,
            feeds=feeds,
            samples=args.samples or 1,
            sizes=dict(args.size),
            seed=args.seed or 0,
            python=pythons.get(consumer.name, pythons.get("")),
            timeout=args.timeout or LIMIT,
        )
        found.append(one)
        if not getattr(args, "json", False) and not getattr(args, "quiet", False):
            show(str(one))
    return found


def named_consumers(names: list[str]) -> list[Consumer]:
    """Return the consumers of these names; ScatterXError if there is none of a name."""
    from onnx_scatterx.devices.registry import consumer_of

    return [consumer_of(name) for name in names]


def status(found: list[Check]) -> int:
    """Return 1, with a line on stderr, if a consumer does not take the model or is wrong."""
    failed = [one.consumer for one in found if not one]
    if not failed:
        return _DONE
    return print_error(f"not taken and right by {', '.join(failed)}", _NO)


def consumer_list(text: str) -> list[str]:
    """Split names of consumers.

    >>> consumer_list("opencv, tract")
    ['opencv', 'tract']
    """
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not like 'opencv,tract'")
    return list(dict.fromkeys(names))


def _pythons(given: list[str], consumers: list[Consumer]) -> dict[str, str]:
    """Return the interpreter of each consumer that has one of its own, under "" that of others."""
    names = {consumer.name for consumer in consumers}
    found: dict[str, str] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if sign and "/" not in name and "\\" not in name:
            if name not in names:
                raise ScatterXError(f"--python {text}: {name} is not among {', '.join(names)}")
            found[name] = path
        else:
            found[""] = text
    return found
