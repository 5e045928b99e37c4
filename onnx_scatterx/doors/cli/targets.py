"""The command `targets`: lists the targets, or describes one target."""

from __future__ import annotations

import argparse

from onnx_scatterx.doors.cli.arguments import add_json
from onnx_scatterx.doors.cli.output import show, show_text


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `targets`."""
    command.add_argument("name", metavar="NAME", nargs="?", help="a target, or a profile.toml")
    add_json(command)


def run(args: argparse.Namespace) -> int:
    """List the targets, or describe one."""
    from onnx_scatterx.doors.cli.target_text import described
    from onnx_scatterx.targets.catalogue import all_targets, target_of
    from onnx_scatterx.text.visible_text import as_json

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
        show("if a chip is not listed:")
        show("  onnx-scatterx target new NAME --operators 'Add, Concat, ...'")
    return 0
