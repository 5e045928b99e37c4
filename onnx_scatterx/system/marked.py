"""All processes that a child process started, in whatever group or session they are.

The child has its folder in its environment, and so have they, unless they emptied theirs. Linux
shows it.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_ROUNDS = 100  # of looking for processes, which may start others meanwhile
MARK = "ONNX_SCATTERX_FOLDER"
"""The variable of the environment that has the folder."""


def end_all(folder: str) -> None:
    """Kill all other processes that have this folder."""
    mark = os.fsencode(f"{MARK}={folder}")
    for _ in range(_ROUNDS):
        found = [n for n in _processes() if n != os.getpid() and mark in _environment(n)]
        for number in found:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not found:
            return


def _processes() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return []


def _environment(process: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return []
