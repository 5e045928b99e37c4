"""The command `check`, and `--check-with` of `optimize`: the answers of device compilers."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onnx_scatterx.doors.cli.arguments import (
    Arguments,
    add,
    add_inputs,
    add_json,
    add_model,
    add_sizes,
    input_arguments,
    reject_unused,
)
from onnx_scatterx.doors.cli.output import DONE, NO, print_error, show, show_text
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.options import above_zero, count, listed_names
from onnx_scatterx.text import as_json

if TYPE_CHECKING:
    from onnx_scatterx.lab import Check, Consumer


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `check`."""
    add_model(command)
    add(
        command,
        "--with A,B",
        "compilers that are installed, such as opencv, or an adapter of yours (.py)",
        listed_names,
        dest="consumers",
        required=True,
    )
    add_python(command)
    add(
        command,
        "--timeout SECONDS",
        "time limit for each run of a compiler (default: 300)",
        above_zero,
    )
    inputs = command.add_argument_group("inputs")
    add_inputs(inputs)
    add(inputs, "--samples N", "sets of inputs to compare on (default: 1)", count)
    add_sizes(inputs)
    add_json(command)


def add_check_with(command: Arguments) -> None:
    """Add --check-with."""
    add(
        command,
        "--check-with A,B",
        "run the result with these compilers, as check does; exit with 1 if one refuses it",
        listed_names,
    )
    add_python(command)


def add_python(command: Arguments) -> None:
    """Add --python."""
    add(
        command,
        "--python [NAME=]PATH",
        "the Python in which the compilers are installed, or the named one (default: this Python)",
        action="append",
        default=[],
    )


def run(args: argparse.Namespace) -> int:
    """Give a model to each consumer, and print the answers."""
    feeds = None
    if args.input:
        reject_unused(args, "with --input", "samples", "size", "seed")
        feeds = [input_arguments(args, args.model)]
    options = {
        "feeds": feeds,
        "samples": args.samples or 1,
        "sizes": dict(args.size),
        "seed": args.seed or 0,
    }
    chosen = chosen_consumers(args.consumers, args.python)
    if not args.json:
        return answers(args.model, chosen, show, args.timeout, **options)
    checks: list[Check] = []
    status = answers(args.model, chosen, checks.append, args.timeout, **options)
    show_text(as_json(checks))
    return status


def chosen_consumers(names: list[str], pythons: list[str]) -> list[tuple[Consumer, str | None]]:
    """Return the consumers of these names, each with the interpreter that runs it."""
    from onnx_scatterx.lab import consumer_of

    consumers = [consumer_of(name) for name in names]
    interpreters = _pythons(pythons, consumers)
    return [(each, interpreters.get(each.name, interpreters.get(""))) for each in consumers]


def require_consumers(consumers: list[tuple[Consumer, str | None]]) -> None:
    """Raise MissingConsumerError if one of the consumers is not installed."""
    from onnx_scatterx.lab import ConsumerProcess

    for consumer, python in consumers:
        ConsumerProcess(consumer, python).close()


def answers(
    model: Any,
    consumers: list[tuple[Consumer, str | None]],
    tell: Callable[[Check], object],
    timeout: float | None = None,
    **options: Any,
) -> int:
    """Give a model to each consumer, tell each answer as it comes, and return the exit status."""
    from onnx_scatterx.lab import reference_runs

    if not consumers:
        return DONE
    failed = []
    with reference_runs(model, **options) as asked:
        for consumer, python in consumers:
            one = asked.check(consumer, python, timeout)
            tell(one)
            if not one:
                failed.append(one.consumer)
    if not failed:
        return DONE
    return print_error(f"refused or computed wrongly by {', '.join(failed)}", NO)


def _pythons(texts: list[str], consumers: list[Consumer]) -> dict[str, str]:
    """Return the interpreter of each consumer in ``--python``; "" is the key of the default."""
    names = {consumer.name for consumer in consumers}
    interpreters: dict[str, str] = {}
    for text in texts:
        name, sign, path = text.partition("=")
        if sign and "/" not in name and "\\" not in name:
            if name not in names:
                raise ScatterXError(f"--python {text}: {name} is not among {', '.join(names)}")
            interpreters[name] = path
        else:
            interpreters[""] = text
    return interpreters
