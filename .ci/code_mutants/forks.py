"""Forks of this process: what is done in one is not seen here, and it may take only so long."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterable
from math import inf

BROKEN = 99  # the status of a fork that raised an exception
GIGABYTES = 12


def start(run: Callable[[], int]) -> int:
    """Start a fork that runs this and prints nothing, and return its number."""
    child = os.fork()
    if child:
        return child
    status = BROKEN
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
        status = run()
    finally:
        os._exit(status)


def wait(child: int, seconds: float = inf) -> int:
    """Return the exit status of a fork; as systems do, -9 if it takes longer than the seconds."""
    end = time.monotonic() + seconds
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
            end = inf
        time.sleep(0.02)
    return os.waitstatus_to_exitcode(done[1])


def run_all(runs: Iterable[Callable[[], int]]) -> None:
    """Run each in a fork, all at the same time."""
    for child in [start(run) for run in runs]:
        wait(child)
