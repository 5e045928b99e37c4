"""The parser of the commands: a mistake is reported in one line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from onnx_scatterx.cli.output import print_error, show
from onnx_scatterx.errors import did_you_mean


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line."""

    def error(self, message: str) -> NoReturn:
        """Print the error and end with status 2."""
        if message == "the following arguments are required: -o/--output":
            message = "give -o OUT to write the model, or use inspect to look at it"
        raise SystemExit(print_error(f"{message} (see {self.prog} --help)", 2))

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Name the nearest choice, where argparse would list them all."""
        if action.choices is not None and value not in action.choices:
            what = "command" if action.metavar == "COMMAND" else "choice"
            known = [str(choice) for choice in action.choices]
            near = did_you_mean(str(value), known) or f"; there is {', '.join(known)}"
            raise argparse.ArgumentError(None, f"no {what} is called {value!r}{near}")

    def refuse_unknown(self, unknown: Sequence[str]) -> NoReturn:
        """Say which arguments are not known, and which option may be meant."""
        first = next((word for word in unknown if word.startswith("-")), unknown[0])
        known = [name for name in self._option_string_actions if name.startswith("--")]
        near = did_you_mean(first.partition("=")[0], known)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{near}")


class Version(argparse.Action):
    """Print the version of the package that is installed, and end."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, nargs=0)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import onnx_scatterx

        show(getattr(onnx_scatterx, "__version__", "not installed: run from its source"))
        raise SystemExit(0)
