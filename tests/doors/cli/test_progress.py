"""Long work shows itself on a terminal, and nowhere else."""

import contextlib
import io
import os
import re
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from onnx_scatterx.doors.cli import progress as shown
from onnx_scatterx.doors.cli import supervised
from onnx_scatterx.doors.cli.progress import stages
from tests.helpers.commands import KV

pytestmark = pytest.mark.sampled(2)

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def text_of(terminal: Terminal) -> str:
    return ESCAPES.sub("", terminal.getvalue())


def test_a_stage_is_shown_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(shown, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    with stages() as tell:
        assert tell is not None
        tell("reading", 0, 0)
        wait_for(terminal, "reading")
        tell("planning", 3, 12)
        wait_for(terminal, "planning 3 of 12")
        tell("a\x1b[2Jb", 0, 0)
        wait_for(terminal, r"a\x1b[2Jb")
        tell("verifying", 7, 40)
        wait_for(terminal, "verifying 7 of 40")


def wait_for(terminal: Terminal, text: str) -> None:
    for _ in range(1000):
        if text in text_of(terminal):
            return
        time.sleep(0.01)
    raise AssertionError((text, text_of(terminal)))


def test_fast_commands_show_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(shown, "PATIENCE", 60.0)
    with stages() as tell:
        assert tell is not None
        tell("reading", 0, 0)
    assert terminal.getvalue() == ""


def test_without_a_terminal_no_progress_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with stages() as tell:
        assert tell is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    with stages(quiet=True) as tell:
        assert tell is None
    monkeypatch.setattr(sys, "stderr", None)
    with stages() as tell:
        assert tell is None


def test_the_remaining_time_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a number of steps there is none."""
    seconds = 0.0
    monkeypatch.setattr("rich.console.monotonic", lambda: seconds)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setattr(shown, "PATIENCE", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with stages() as tell:
        assert tell is not None
        tell("optimizing", 0, 0)
        wait_for(terminal, "optimizing")
        assert "eta" not in text_of(terminal)
        for done in range(1, 4):
            tell("optimizing: a.onnx, b.onnx", done, 900)
            seconds += 2.0
        wait_for(terminal, "optimizing 3 of 900: a.onnx, b.onnx eta 0:29:54")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no such terminals")
def test_a_real_terminal_and_quiet(tmp_path: Path) -> None:
    """The line is removed at the end, and ``--quiet`` prints nothing."""
    import pty

    for quiet in ([], ["--quiet"]):
        process, leader = pty.fork()
        if process == 0:
            _on_the_terminal(["optimize", KV, "-o", "out.onnx", "--verify", *quiet], tmp_path)
        seen = b""
        with contextlib.suppress(OSError):  # as Linux reports that the writer closed it
            while part := os.read(leader, 1 << 16):
                seen += part
        os.close(leader)
        assert os.waitpid(process, 0)[1] == 0, seen
        text = seen.decode()
        assert (text == "") == bool(quiet)
        assert quiet or "the same, bit for bit" in ESCAPES.sub("", text)


def _on_the_terminal(arguments: list[str], directory: Path) -> NoReturn:
    """Run a command in a copy of this process, whose streams are a terminal."""
    status = 70
    try:
        os.chdir(directory)
        sys.stdin = os.fdopen(0, closefd=False)  # workers that are forked replace it
        sys.stdout, sys.stderr = (os.fdopen(n, "w", closefd=False) for n in (1, 2))
        status = supervised.run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)
