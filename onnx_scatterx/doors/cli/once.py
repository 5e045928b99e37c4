"""Options that may be given once: a second value is an error, and replaces nothing silently."""

from __future__ import annotations

import argparse
from typing import Any

_GIVEN = "given_once"


class Once(argparse.Action):
    """Store the value of an option that may be given once.

    The namespace holds which options were given, so a parser may read several command lines.

    >>> command = argparse.ArgumentParser(exit_on_error=False)
    >>> _ = command.add_argument("--jobs", type=int, action=Once)
    >>> command.parse_args(["--jobs", "2", "--jobs", "3"])
    Traceback (most recent call last):
        ...
    argparse.ArgumentError: --jobs is given twice, as 2 and as 3: give it once
    """

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        value: Any,
        typed: str | None = None,
    ) -> None:
        """Store the first value, and raise an error for a second one."""
        given: frozenset[str] = getattr(namespace, _GIVEN, frozenset())
        if self.dest in given:
            first = getattr(namespace, self.dest)
            raise argparse.ArgumentError(
                None, f"{typed} is given twice, as {first} and as {value}: give it once"
            )
        setattr(namespace, _GIVEN, given | {self.dest})
        setattr(namespace, self.dest, value)


class OneStrict(argparse.Action):
    """Store what --strict asks for; two values of it contradict each other."""

    def __call__(
        self,
        _parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        _value: Any,
        typed: str | None = None,
    ) -> None:
        """Store the value, and raise an error if there is another one."""
        given = getattr(namespace, self.dest)
        if given not in (False, None, self.const):
            first = "--strict" if given is True else f"--strict={given}"
            raise argparse.ArgumentError(None, f"{first} and {typed} are given: give one of them")
        setattr(namespace, self.dest, self.const)
