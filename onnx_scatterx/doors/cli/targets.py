"""The command `targets`: a list of the targets, and what one of them takes."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from onnx_scatterx.doors.cli.arguments import add_json
from onnx_scatterx.doors.cli.output import show, show_text

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.targets.target import Target


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
        contents = [_plain_target(target) for target in found]
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


def _plain_target(target: Target) -> dict[str, Any]:
    return {field.name: _plain(getattr(target, field.name)) for field in dataclasses.fields(target)}


def _plain(value: Any) -> Any:
    """Return a value as plain data: sets as sorted lists, infinite numbers as text."""
    if isinstance(value, (set, frozenset)):
        return sorted(map(_plain, value))
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return value if isinstance(value, float) and abs(value) != float("inf") else str(value)
