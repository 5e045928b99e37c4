"""Output that is taken for a terminal, and the escapes in it."""

import re
import sys

import pytest

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def as_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take stdout for a terminal, from inside of a test that captures it."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
