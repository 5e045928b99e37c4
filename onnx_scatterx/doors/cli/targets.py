"""The command `targets`: a list of the targets, and what one of them takes."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from onnx_scatterx.doors.cli.arguments import add_json
from onnx_scatterx.doors.cli.output import show, show_text


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what `targets` takes."""
    command.add_argument("name", metavar="NAME", nargs="?", help="a target, or a profile.toml")
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """List the targets, or describe one."""
    from onnx_scatterx.optimizer.targets.catalogue import all_targets, target_of
    from onnx_scatterx.optimizer.targets.wording import described
    from onnx_scatterx.text.visible import as_json

    found = all_targets() if args.name is None else [target_of(args.name)]
    if args.json:
        contents = [_plain(dataclasses.asdict(target)) for target in found]
        show_text(as_json(contents if args.name is None else contents[0]))
    elif args.name is not None:
        show_text(described(found[0]))
    else:
        width = max(10, *(len(target.name) + 2 for target in found))
        for target in found:
            show(f"{target.name:<{width}}{target.description}")
            if target.source:
                show(f"{'':<{width}}{target.source}")
        show("if a chip is not listed:")
        show("  onnx-scatterx target new NAME --operators 'Add, Concat, ...'")
    return 0


def _plain(value: Any) -> Any:
    """Return a value as plain data: sets as sorted lists, dates as text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (set, frozenset, list, tuple)):
        items = map(_plain, value)
        return list(items) if isinstance(value, (list, tuple)) else sorted(items)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
