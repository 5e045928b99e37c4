"""Long limits of seconds, which a process exceeds soon if it says that it is stuck, or never."""

import contextlib
import os
import select
from pathlib import Path

import pytest

from onnx_scatterx.observer import Counted
from onnx_scatterx.processes.child import Child, NoReply, Reply

LATE = 0.5
"""The seconds of a process that is stuck, whatever its limit is."""


def end_what_is_stuck(note: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a process have few seconds for its answer when its number is in a file.

    So the limit of the others may be an hour, which no load of the machine makes too short.
    """
    receive = Child.receive

    def received(
        child: Child, timeout: float | None = None, progress: Counted | None = None
    ) -> Reply | NoReply:
        assert child._process.stdout is not None
        while timeout is not None and not select.select([child._process.stdout], [], [], 0.01)[0]:
            if str(child.id) in _words(note):
                return receive(child, LATE, progress)
        return receive(child, timeout, progress)

    monkeypatch.setattr(Child, "receive", received)


def _words(note: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return note.read_text().split()
    return []


def patient(folder: Path) -> dict[str, str]:
    """Return an environment in which a process has a minute to undo what it has begun.

    A loaded machine may pause it for the three seconds that it usually has.
    """
    program = "import onnx_scatterx.processes.interrupts as i; i.GRACE = 60.0"
    (folder / "sitecustomize.py").write_text(program)
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
