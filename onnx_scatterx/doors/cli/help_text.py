"""The help of a command: on one screen the options that most users need, or all of them.

``COMMAND --help`` prints the first, ``COMMAND --help all`` the second. Both are made from the
arguments that the command has.
"""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from onnx_scatterx.doors.cli.output import show_text

_ALL = "all"


def help_text(
    parser: argparse.ArgumentParser, first: Collection[str], example: str, *, whole: bool
) -> str:
    """Return the help of a command; if not the ``whole``, with the options ``first`` only.

    An option of ``first`` is as it is typed, with two dashes. Lines are as wide as the terminal.

    >>> parser = argparse.ArgumentParser("tool look", description="look at a model", add_help=False)
    >>> for flag in "--target", "--effort", "--opset":
    ...     _ = parser.add_argument(flag, metavar="X", help="what may be written")
    >>> print(help_text(parser, ["--target"], "tool look m.onnx", whole=False))
    usage: tool look [options]
    <BLANKLINE>
    look at a model
    <BLANKLINE>
    options:
      --target X  what may be written
    <BLANKLINE>
    2 more options: tool look --help all
    example:
      tool look m.onnx
    """
    made = argparse.HelpFormatter(parser.prog)
    made.add_usage(_usage(parser), parser._actions, (), "usage: ")
    made.add_text(parser.description)
    positional, *others = parser._action_groups
    left = 0
    if whole:
        for group in (positional, *others):
            _section(made, str(group.title), group._group_actions)
    else:
        options = [a for group in others for a in group._group_actions if not isinstance(a, Help)]
        shown = [a for a in options if not a.option_strings or a.option_strings[-1] in first]
        _section(made, "options", [*positional._group_actions, *shown])
        left = len(options) - len(shown)
    more = f"{left} more options: {parser.prog} --help {_ALL}\n" if left else ""
    return f"{made.format_help()}\n{more}example:\n  {example}"


def overview(
    parser: argparse.ArgumentParser, commands: Sequence[argparse.Action], more: str
) -> str:
    """Return the help of the program: what it is for, its commands, and ``more`` lines."""
    made = argparse.HelpFormatter(parser.prog)
    made.add_text(parser.description)
    _section(made, "commands", commands)
    return f"{made.format_help()}\n{more}"


def _usage(parser: argparse.ArgumentParser) -> str:
    """Return how a command is typed: its required options, and what it is about."""
    required = [a for a in parser._actions if a.option_strings and a.required]
    words = [parser.prog, "[options]", *(f"{a.option_strings[0]} {a.metavar}" for a in required)]
    return " ".join([*words, *_names(a for a in parser._actions if not a.option_strings)])


def _names(actions: Iterator[argparse.Action]) -> Iterator[str]:
    for action in actions:
        name = str(action.metavar)
        yield {"+": f"{name} [{name} ...]", "?": f"[{name}]"}.get(str(action.nargs), name)


def _section(made: argparse.HelpFormatter, title: str, actions: Sequence[argparse.Action]) -> None:
    made.start_section(title)
    made.add_arguments(actions)
    made.end_section()


class Help(argparse.Action):
    """Print the help of a command, on one screen or ``all`` of it, and end."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        self.first: Collection[str] = options.pop("first")
        self.example: str = options.pop("example")
        super().__init__(
            option_strings,
            argparse.SUPPRESS,
            nargs="?",
            default=argparse.SUPPRESS,
            metavar=_ALL,
            help=f"print the options that most users need, or {_ALL} of them",
        )

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        _namespace: argparse.Namespace,
        word: Any,
        _typed: str | None = None,
    ) -> None:
        """End with status 0, or with an error if there is another word than ``all``."""
        if word not in (None, _ALL):
            parser.error(f"--help takes the word {_ALL} or none, not {word!r}")
        show_text(help_text(parser, self.first, self.example, whole=word == _ALL))
        raise SystemExit(0)
