"""Workers of ONNX Runtime, and of many models, that are forked copies of the test process.

A fork takes milliseconds. A start of Python takes a second, in which it imports what is there here.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import IO, Any

from onnx_scatterx.doors.batch import pool
from onnx_scatterx.processes import child
from onnx_scatterx.runtime import worker, worker_client

_started = child.started
_DESCRIPTORS = 1 << 12


def started(command: Sequence[str], log: IO[bytes], *place: Any) -> subprocess.Popen[bytes]:
    """Start a child process; those of ONNX Runtime and of many models are forks."""
    for program, main in (worker_client.PROGRAM, worker.main), (pool.PROGRAM, pool.main):
        if program in command:
            return ForkedWorker(log, main)
    return _started(command, log, *place)


class ForkedWorker(subprocess.Popen[bytes]):
    """A process as `subprocess` starts it, which calls a function instead of a program."""

    def __init__(self, log: IO[bytes], main: Callable[[], None]) -> None:
        self._main = main
        super().__init__(
            "worker", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.fileno()
        )

    def _execute_child(self, *others: Any) -> None:
        """Fork. `others[10:16]` are both ends of the three pipes, or -1."""
        requests, _, _, answers, _, errors = others[10:16]
        self.pid = os.fork()
        if self.pid == 0:
            _work(requests, answers, errors, self._main)
        self._child_created = True
        os.close(requests)
        os.close(answers)


def _work(requests: int, answers: int, errors: int, main: Callable[[], None]) -> None:
    try:
        gc.freeze()  # a file of the parent that is collected here would close a file of ours
        for handled in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(handled, signal.SIG_DFL)
        for descriptor, stream in (requests, 0), (answers, 1), (errors, 2):
            os.dup2(descriptor, stream)
        os.closerange(3, _DESCRIPTORS)  # those of other workers, which end when theirs are closed
        # In a fork of a fork a thread that is gone may hold their locks, and they own 0 to 2.
        held = sys.stdin, sys.stdout, sys.stderr
        sys.stdin = os.fdopen(0)
        sys.stdout = os.fdopen(1, "w")
        sys.stderr = os.fdopen(2, "w")
        main()
        del held
    finally:
        os._exit(1)
