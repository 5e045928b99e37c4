"""A consumer in a process of its own, which may crash, hang and write files; all is cleaned up.

The process leads a group of its own, so all processes that it started end with it; on Linux also
those in other groups and sessions, unless their environment was emptied. It works in a scratch
directory, which also has its temporary files and caches.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from onnx_scatterx.devices import child
from onnx_scatterx.devices.adapter import Answer
from onnx_scatterx.errors import MissingConsumerError, one_line
from onnx_scatterx.system.closing import Closing
from onnx_scatterx.system.interrupts import postponed
from onnx_scatterx.system.scratch import scratch

LIMIT = 300.0
"""Seconds that a consumer has for one model, by default."""

_START = 120.0  # seconds to import a consumer
_SAID = 4000  # bytes of its output that are read
_LINES = 3  # of these, that a message shows: a panic of Rust ends with two useless lines


class Described(Protocol):
    """The parts of a consumer that are needed to start it: see `registry.Consumer`."""

    @property
    def name(self) -> str: ...
    @property
    def place(self) -> Path: ...
    @property
    def packages(self) -> tuple[str, ...]: ...


class ConsumerProcess(Closing):
    """One consumer for many questions, which is started again after it died.

    Args:
        consumer: whose adapter is run.
        python: the interpreter of the environment that it is installed in; this one by default.
        limit: seconds for one model.

    Raises `MissingConsumerError` if the consumer is not installed there.

    """

    def __init__(
        self, consumer: Described, python: str | None = None, limit: float = LIMIT
    ) -> None:
        self._consumer, self._limit = consumer, limit
        self._python = python or sys.executable
        self._stack = contextlib.ExitStack()
        self._process: subprocess.Popen[str] | None = None
        self.version = ""
        try:
            self._directory = self._stack.enter_context(scratch())
            self._jobs = 0
            self._start()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the process and all that it started, and remove its files."""
        self._end()
        self._stack.close()

    def run(self, model: Path, feeds: Mapping[str, np.ndarray]) -> Answer:
        """Return the consumer's answer; a crash or no answer in time is a refusal."""
        if self._process is None:
            self._start()
        self._jobs += 1
        with scratch(self._directory) as directory:
            given, made = directory / "feeds.npz", directory / "outputs.npz"
            work = directory / "work"
            work.mkdir()
            np.savez(given, **{f"{n}": array for n, array in enumerate(feeds.values())})  # type: ignore[arg-type]
            job = {
                "model": str(model.absolute()),
                "feeds": str(given),
                "names": json.dumps(list(feeds)),
                "outputs": str(made),
                "directory": str(work),
            }
            reply = self._ask(json.dumps(job) + "\n", self._limit)
            if isinstance(reply, str):
                return Answer("refused", message=reply, version=self.version)
            return self._answer(reply, made)

    def _answer(self, reply: Mapping[str, Any], made: Path) -> Answer:
        outputs: Any = None
        if "outputs" in reply:
            with np.load(made, allow_pickle=False) as file:
                outputs = [file[f"{number}"] for number in range(reply["count"])]
            if reply["outputs"] is not None:
                outputs = dict(zip(reply["outputs"], outputs, strict=True))
        return Answer(
            reply["kind"],
            outputs,
            one_line(reply["message"], 1000),
            reply.get("node", ""),
            tuple(reply.get("on_host", ())),
            reply.get("version") or self.version,
        )

    def _start(self) -> None:
        place = self._directory / "scratch"
        place.mkdir(exist_ok=True)
        caches = dict.fromkeys(("TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME"), str(place))
        self._log = open(self._directory / "log", "w+b")  # noqa: SIM115 - closed by _end
        try:
            with postponed():
                self._process = subprocess.Popen(
                    [self._python, child.__file__, str(self._consumer.place)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._log,
                    encoding="utf-8",
                    cwd=place,
                    env=os.environ | caches | {"PYTHONDONTWRITEBYTECODE": "1"},
                    start_new_session=True,
                )
        except OSError as error:
            self._log.close()
            raise MissingConsumerError(f"{self._python}: {error.strerror or error}") from error
        reply = self._ask("", _START)
        name, packages = self._consumer.name, " ".join(self._consumer.packages)
        if isinstance(reply, str):
            raise MissingConsumerError(f"{name} cannot be started: {reply}")
        if "missing" in reply:
            where = "" if self._python == sys.executable else f" for {self._python}"
            raise MissingConsumerError(f"{name} is not installed{where}: pip install {packages}")
        if "broken" in reply:
            raise MissingConsumerError(f"{name} cannot be imported: {one_line(reply['broken'])}")
        self.version = reply["version"]

    def _ask(self, text: str, limit: float) -> dict[str, Any] | str:
        """Send a line and return the reply; if the process ended, return why."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def give_up() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(limit, give_up)
        timer.daemon = True
        timer.start()
        try:
            with contextlib.suppress(BrokenPipeError):  # it ended: reading the reply finds out
                process.stdin.write(text)
                process.stdin.flush()
            line = process.stdout.readline()
        finally:
            timer.cancel()
        if line.endswith("\n"):
            reply: dict[str, Any] = json.loads(line)
            return reply
        status = process.wait()
        words = self._last_words()
        self._end()
        if late.is_set():
            return f"no answer within {limit:g} s"
        how = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return one_line(f"it crashed ({how}){': ' if words else ''}{words}", 1000)

    def _last_words(self) -> str:
        self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, self._log.tell() - _SAID))
        lines = self._log.read().decode(errors="replace").split("\n")
        return "; ".join([line.strip() for line in lines if line.strip()][-_LINES:])

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with postponed():
                _kill(process)
                child.end_all(str(self._directory / "scratch"))
                with contextlib.suppress(BrokenPipeError):
                    process.communicate()
                self._log.close()


def _kill(process: subprocess.Popen[str]) -> None:
    if sys.platform == "win32":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
