"""A child process that answers messages. If it dies or is late, the answer is a `NoReply`.

The child leads a process group, so the processes that it started end with it. If the child has a
folder, it works there, with its temporary files and caches. On Linux, processes with this folder
end, too, even if they left the group. ``serving.py`` is the program of the child.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, Self

from onnx_scatterx.errors import one_line
from onnx_scatterx.observer import Counted
from onnx_scatterx.processes.interrupts import postponed
from onnx_scatterx.processes.scratch_folders import MARK, end_all
from onnx_scatterx.processes.serving import RawTensor, receive, send


class Closing(ABC):
    """Closes itself at the end of its context, whatever happens in it.

    >>> class Door(Closing):
    ...     def close(self) -> None:
    ...         print("closed")
    >>> with Door():
    ...     print("open")
    open
    closed
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close the object."""


_NO_MEMORY = re.compile(
    r"(?i)failed to allocate memory|unable to allocate|cannot allocate memory|bad[ _]alloc"
    r"|out of memory|MemoryError|killed by SIGKILL"
)
_SAID = 4000  # the last bytes of the child's output, which are read
_LINES = 3  # the last lines in a message: a panic of Rust ends with two useless ones
_SCRATCH = ("TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME")  # variables for temporary files and caches


@dataclass(frozen=True)
class NoReply:
    """Why there is no answer: an error, the death of the process, or a timeout."""

    kind: Literal["error", "crash", "timeout"]
    reason: str

    @property
    def is_of_memory(self) -> bool:
        """Whether memory was short. A system may then kill a process by SIGKILL, too.

        >>> NoReply("error", "Expand: Failed to allocate memory for a buffer").is_of_memory
        True
        """
        return self.kind != "timeout" and _NO_MEMORY.search(self.reason) is not None


@dataclass(frozen=True)
class Reply:
    """The answer of the process."""

    content: Mapping[str, Any]
    tensors: list[RawTensor]


def started(
    command: Sequence[str], log: IO[bytes], folder: Path | None, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a process with pipes for requests and answers; its stderr goes to ``log``."""
    if folder is not None:
        environment = {**environment, **dict.fromkeys((*_SCRATCH, MARK), str(folder))}
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd=folder,
        env=os.environ | environment,
        start_new_session=True,
    )


class Child(Closing):
    """A process that ends with its parent.

    Args:
        command: the program and its arguments.
        folder: a working directory in which the process may write; by default the parent's.
        environment: variables that are added to those of the parent.
        grace: seconds that the process has to undo unfinished writes before it is killed.

    Raises ``OSError`` if the process cannot be started.

    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        grace: float = 0.0,
    ) -> None:
        self._folder, self._grace = folder, grace
        self._is_told = False
        with contextlib.ExitStack() as stack:
            self._log = stack.enter_context(tempfile.TemporaryFile())
            with postponed():
                self._process = started(command, self._log, folder, environment or {})
            stack.pop_all()

    @property
    def id(self) -> int:
        """The number that the system gave the process."""
        return self._process.pid

    def close(self) -> None:
        """End the process, and all processes that it started."""
        with postponed():
            self.kill()
            if self._folder is not None:
                end_all(str(self._folder))
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._log.close()

    def stop(self) -> None:
        """Tell the process to undo unfinished writes, and to end.

        It is told once: a second signal would interrupt it.
        """
        if not self._is_told:
            self._is_told = True
            self._process.terminate()

    def kill(self) -> None:
        """End the process and its group, after the grace period."""
        if self._grace:
            self.stop()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(self._grace)
        self._process.kill()
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def ask(
        self,
        request: Mapping[str, Any],
        tensors: Iterable[RawTensor] = (),
        *,
        timeout: float | None = None,
        progress: Counted | None = None,
    ) -> Reply | NoReply:
        """Send a request, and return its answer, or a NoReply after ``timeout`` seconds."""
        self.send(request, tensors)
        return self.receive(timeout, progress)

    def send(self, request: Mapping[str, Any], tensors: Iterable[RawTensor] = ()) -> None:
        """Send a request."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # the process ended: `receive` will return this
            send(self._process.stdin, dict(request), tensors)

    def receive(
        self, timeout: float | None = None, progress: Counted | None = None
    ) -> Reply | NoReply:
        """Return the answer to the earliest unanswered request."""
        late = threading.Event()

        def give_up() -> None:
            late.set()
            self.kill()

        timer = None if timeout is None else threading.Timer(timeout, give_up)
        try:
            if timer is not None:
                timer.daemon = True  # so Ctrl-C does not wait for the timer
                timer.start()
            assert self._process.stdout is not None
            content, tensors = receive(self._process.stdout)
            while "progress" in content:
                if progress is not None:
                    progress(*content["progress"])
                content, tensors = receive(self._process.stdout)
        except EOFError:
            if late.is_set():
                return NoReply("timeout", f"no answer within {timeout:g} s")
            return NoReply("crash", self._last_words(self._process.wait()))
        finally:
            if timer is not None:
                timer.cancel()
        if "error" in content:
            return NoReply("error", one_line(content["error"]))
        return Reply(content, tensors)

    def _last_words(self, status: int) -> str:
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - _SAID))
        lines = self._log.read().decode(errors="replace").split("\n")
        words = "; ".join([line.strip() for line in lines if line.strip()][-_LINES:])
        how = f"exit status {status}"
        if status < 0:
            how = f"killed by {signal.Signals(-status).name}"
        return one_line(f"the process died ({how}){': ' if words else ''}{words}", 1000)


class PythonChild(Child):
    """A process of this Python that runs a program, and imports what this process can import."""

    def __init__(self, program: str, *, grace: float = 0.0) -> None:
        paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
        # -P: nothing in the current directory is imported
        command = [sys.executable, "-P", "-c", program]
        super().__init__(command, environment={"PYTHONPATH": paths}, grace=grace)
