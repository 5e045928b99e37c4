"""A consumer in a process of its own, which may crash, hang and write files; all is cleaned up.

It works in a scratch directory, which also has its temporary files and caches.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from onnx_scatterx.doors.devices import child
from onnx_scatterx.doors.devices.adapter import Answer
from onnx_scatterx.errors import MissingConsumerError, one_line
from onnx_scatterx.system.child import Child, Closing, Failure, Reply
from onnx_scatterx.system.scratch import scratch

LIMIT = 300.0
"""Seconds that a consumer has for one model, by default."""

_START = 120.0  # seconds to import a consumer


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
        if os.path.dirname(self._python):  # it is started in another directory
            self._python = os.path.abspath(self._python)  # a venv is found by the link: it stays
        self._stack = contextlib.ExitStack()
        self._process: Child | None = None
        self.version = ""
        try:
            self._directory = self._stack.enter_context(scratch())
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
        assert self._process is not None
        with scratch(self._directory) as directory:
            given, made = directory / "feeds.npz", directory / "outputs.npz"
            work = directory / "work"
            work.mkdir()
            np.savez(given, **{f"{n}": array for n, array in enumerate(feeds.values())})  # type: ignore[arg-type]
            job = {
                "model": str(model.absolute()),
                "feeds": str(given),
                "names": list(feeds),
                "outputs": str(made),
                "directory": str(work),
            }
            reply = self._answered(self._process.ask(job, timeout=self._limit))
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
        command = [self._python, child.__file__, str(self._consumer.place)]
        silent = {"PYTHONDONTWRITEBYTECODE": "1"}
        try:
            self._process = Child(command, folder=place, environment=silent)
        except OSError as error:
            raise MissingConsumerError(f"{self._python}: {error.strerror or error}") from error
        first = self._answered(self._process.receive(_START))
        name, packages = self._consumer.name, " ".join(self._consumer.packages)
        if isinstance(first, str):
            raise MissingConsumerError(f"{name} cannot be started: {first}")
        if "missing" in first:
            where = "" if self._python == sys.executable else f" for {self._python}"
            raise MissingConsumerError(f"{name} is not installed{where}: pip install {packages}")
        if "broken" in first:
            raise MissingConsumerError(f"{name} cannot be imported: {one_line(first['broken'])}")
        self.version = first["version"]

    def _answered(self, answer: Reply | Failure) -> Mapping[str, Any] | str:
        """Return the content of an answer; if the process ended, why."""
        if isinstance(answer, Failure):
            self._end()
            return answer.reason
        return answer.content

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
