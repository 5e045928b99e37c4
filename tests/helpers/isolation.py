"""Running the command line in a forked copy of this process, with limits, and outliving it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onnx_scatterx.doors.cli import supervised

MEMORY = 6 << 30  # bytes of addresses: ONNX Runtime reserves more than it uses
_PATIENCE = 120.0  # seconds of waiting, in which a busy machine gives a process its CPU seconds
_SOON = 0.002


@dataclass(frozen=True)
class Ended:
    """How a command ended: its status (that of a signal is negative), and what it printed.

    `sent` is what it printed to stdout, as bytes.
    """

    status: int
    out: str
    err: str
    seconds: float
    sent: bytes = b""


def run(
    arguments: Sequence[str], directory: Path, environment: Mapping[str, str], cpu_seconds: int
) -> Ended:
    """Run a command in a directory; one that takes too long is killed with all that it started."""
    out, err = directory.parent / "stdout", directory.parent / "stderr"
    start = time.monotonic()
    process = os.fork()
    if process == 0:
        _child(arguments, directory, environment, cpu_seconds, (out, err))
    deadline = start + _PATIENCE + cpu_seconds
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
            break
        time.sleep(_SOON)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)  # workers that were left behind
    texts = [path.read_text(encoding="utf-8", errors="surrogateescape") for path in (out, err)]
    seconds = time.monotonic() - start
    return Ended(os.waitstatus_to_exitcode(status), texts[0], texts[1], seconds, out.read_bytes())


def _child(
    arguments: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    cpu_seconds: int,
    outputs: tuple[Path, Path],
) -> None:
    status = 70
    try:
        os.setsid()
        os.chdir(directory)
        os.environ.update(environment)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, path in enumerate(outputs, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        status = supervised.run(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        os.write(2, traceback.format_exc().encode(errors="backslashreplace"))
    finally:
        os._exit(status & 0xFF)
