"""The command `targets`: lists the targets, describes one, or prints the schema of profiles."""

from __future__ import annotations

import argparse

from onnx_scatterx.doors.cli.arguments import add, add_json
from onnx_scatterx.doors.cli.output import show, show_text
from onnx_scatterx.errors import ScatterXError


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `targets`."""
    command.add_argument("name", metavar="NAME", nargs="?", help="a target, or a profile.toml")
    add_json(command)
    add(command, "--schema", "print the JSON Schema of a profile, for an editor")


def run(args: argparse.Namespace) -> int:
    """List the targets, describe one, or print the schema of profiles."""
    from onnx_scatterx.doors.cli.target_text import described
    from onnx_scatterx.targets import all_targets, profile_schema, target_of
    from onnx_scatterx.text import as_json

    if args.schema:
        if args.name is not None or args.json:
            raise ScatterXError("--schema prints the schema of all profiles; give it alone")
        show_text(profile_schema().rstrip("\n"))
        return 0
    targets = all_targets() if args.name is None else [target_of(args.name)]
    if args.json:
        show_text(as_json(targets if args.name is None else targets[0]))
    elif args.name is not None:
        show_text(described(targets[0]))
    else:
        width = max(10, *(len(target.name) + 2 for target in targets))
        for target in targets:
            show(f"{target.name:<{width}}{target.description}")
            if target.source:
                show(f"{'':<{width}}{target.source}")
        show("if a chip is not listed (with --fixed-sizes if it takes only numbers as sizes):")
        show("  onnx-scatterx target new NAME --operators 'Add, Concat, ...'")
    return 0
