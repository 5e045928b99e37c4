"""The command `target`: writes the profile of a device that is not listed."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

from onnx_scatterx.doors.cli.arguments import add, add_json
from onnx_scatterx.doors.cli.output import show, show_text
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import Writing
from onnx_scatterx.options import listed_names
from onnx_scatterx.text import as_json


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `target`."""
    command.add_argument("action", metavar="new", type=_new, help="write a new profile")
    command.add_argument("name", metavar="NAME", help="its name; the file is NAME.toml")
    add(
        command,
        "--operators A,B",
        "the operators that the device has: 'Add, Concat, ...'",
        _operators,
        default=[],
    )
    add(command, "--like MODEL", "a model that its compiler takes")
    add(command, "--fixed-sizes", "its compiler takes only models whose sizes are all numbers")
    add_json(command)


def _new(word: str) -> str:
    """Return the word "new"; for another word, name the commands that may be meant."""
    from onnx_scatterx.targets import all_targets

    if word == "new":
        return word
    name = word.removesuffix(".toml")
    shown = name if name in {target.name for target in all_targets()} else f"{name}.toml"
    name = name if _is_name(name) else "NAME"
    raise argparse.ArgumentError(
        None,
        f"{word!r} is not the word new; {shlex.join(['onnx-scatterx', 'targets', shown])} shows a "
        f"profile, {shlex.join(['onnx-scatterx', 'target', 'new', name])} writes one",
    )


def _operators(text: str) -> list[str]:
    """Return the operators that a text lists; a limit of one belongs into the profile."""
    if limited := re.search(r"(\w+)\s*\(", text):
        raise argparse.ArgumentTypeError(
            f"write names alone; limits of an operator stand in the profile, such as "
            f"[limits.{limited[1]}] steps = false"
        )
    return listed_names(text)


def _is_name(text: str) -> bool:
    """Return whether a text can be the name of a target, and of its file."""
    return re.fullmatch(r"\w[\w.-]*", text) is not None


def run(args: argparse.Namespace) -> int:
    """Write a profile, and print a command that uses it."""
    from onnx_scatterx.doors.cli.profile_draft import lacks_constant, new_profile, not_stated
    from onnx_scatterx.files import load
    from onnx_scatterx.targets import all_targets

    if not args.operators and args.like is None:
        raise ScatterXError("give --operators 'Add, Concat, ...', or --like a model that compiled")
    args.name = args.name.removesuffix(".toml")
    path = Path(f"{args.name}.toml")
    if path.name != str(path) or path.exists():
        used = f"it exists; use it as --target {path}, or remove it"
        why = used if path.exists() else "give a name without a folder"
        raise ScatterXError(f"{path}: not written: {why}")
    if not _is_name(args.name):
        raise ScatterXError(f"{args.name!r} is not a name: use letters, digits, and . _ - inside")
    if args.name.lower() in {target.name for target in all_targets()}:
        raise ScatterXError(f"{args.name} is listed: take another name for one of your own")
    with Writing() as writing:
        like = None if args.like is None else load(args.like)
        text = new_profile(args.name, args.operators, like, fixed_sizes=args.fixed_sizes)
        writing.text(path, text, "the profile")
    command = ["onnx-scatterx", "inspect", args.like or "MODEL.onnx", "--target", str(path)]
    left = not_stated(text)
    if args.json:
        show_text(as_json({"file": str(path), "next": shlex.join(command), "not_stated": left}))
    else:
        show(f"{path} is written: complete it from the vendor's documents")
        if lacks_constant(args.operators, like):
            show("Constant is added, as models store numbers by it; remove it if it is not taken")
        show("next:")
        show(f"  {shlex.join(command)}")
        if left:
            show(f"not stated yet: {left}; if you know it, remove the # before it in {path}")
    return 0
