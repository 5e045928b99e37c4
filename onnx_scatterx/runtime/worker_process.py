"""A process that runs models in ONNX Runtime: its death is an answer, too."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Literal

from onnx_scatterx.errors import one_line
from onnx_scatterx.runtime.worker_protocol import RawTensor, receive, send
from onnx_scatterx.system.closing import Closing
from onnx_scatterx.system.interrupts import postponed

Progress = Callable[[int, int], None]

_NO_MEMORY = re.compile(
    r"(?i)failed to allocate memory|unable to allocate|cannot allocate memory|bad[ _]alloc"
    r"|out of memory|MemoryError|killed by SIGKILL"
)
_PROGRAM = "from onnx_scatterx.runtime.worker import main; main()"


@dataclass(frozen=True)
class Failure:
    """Why a model gave no outputs: an error, the death of its process, or a timeout."""

    kind: Literal["error", "crash", "timeout"]
    reason: str

    @property
    def is_of_memory(self) -> bool:
        """Whether memory was short: systems end a process by SIGKILL then, which this one is not.

        >>> Failure("error", "Expand: Failed to allocate memory for a buffer").is_of_memory
        True
        """
        return self.kind != "timeout" and _NO_MEMORY.search(self.reason) is not None


@dataclass(frozen=True)
class Answer:
    """What the process replied."""

    content: Mapping[str, Any]
    tensors: list[RawTensor]


def started(log: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a worker, of which the pipes take requests and give answers; errors go to a file."""
    paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _PROGRAM],  # -P: nothing in the current directory is imported
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=os.environ | {"PYTHONPATH": paths},
    )


class OrtProcess(Closing):
    """A worker process, which ends with its parent; ``worker.py`` lists its requests."""

    def __init__(self) -> None:
        """Start the process."""
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        with postponed():
            self._process = started(self._log)

    @property
    def id(self) -> int:
        """The number that the system gave the process."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        with postponed():
            self._process.kill()
            self._process.communicate()
            self._log.close()

    def ask(
        self,
        request: Mapping[str, Any],
        tensors: Iterable[RawTensor] = (),
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Answer | Failure:
        """Send a request, and return the answer to it, for which seconds may be limited."""
        self.send(request, tensors)
        return self.receive(timeout, progress)

    def send(self, request: Mapping[str, Any], tensors: Iterable[RawTensor] = ()) -> None:
        """Send a request."""
        assert self._process.stdin is not None
        try:
            send(self._process.stdin, dict(request), tensors)
        except OSError:  # the process ended: receiving will find out
            return

    def receive(
        self, timeout: float | None = None, progress: Progress | None = None
    ) -> Answer | Failure:
        """Return the answer to the earliest unanswered request."""
        late = threading.Event()
        process = self._process

        def give_up() -> None:
            late.set()
            process.kill()

        timer = None if timeout is None else threading.Timer(timeout, give_up)
        try:
            if timer is not None:
                timer.daemon = True  # Ctrl-C may come while it starts, and must not wait for it
                timer.start()
            assert process.stdout is not None
            content, tensors = receive(process.stdout)
            while "progress" in content:
                if progress is not None:
                    progress(*content["progress"])
                content, tensors = receive(process.stdout)
        except EOFError:
            if late.is_set():
                return Failure("timeout", f"no answer within {timeout:.0f} s")
            return Failure("crash", self._last_words(process.wait()))
        finally:
            if timer is not None:
                timer.cancel()
        if "error" in content:
            return Failure("error", one_line(content["error"]))
        return Answer(content, tensors)

    def _last_words(self, status: int) -> str:
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - 2000))
        lines = self._log.read().decode(errors="replace").split("\n")
        words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        how = f"exit status {status}"
        if status < 0:
            how = f"killed by {signal.Signals(-status).name}"
        return one_line(f"the process died ({how}){': ' if words else ''}{words}")
