"""A consumer in a process of its own, which may crash, hang and write files; all is cleaned up.

It works in a scratch directory, which also has its temporary files and caches.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.doors.devices import child
from onnx_scatterx.doors.devices.adapter import Answer, Outputs
from onnx_scatterx.doors.devices.registry import Consumer
from onnx_scatterx.errors import MissingConsumerError, one_line
from onnx_scatterx.system.child import Child, Closing, NoReply, Reply
from onnx_scatterx.system.scratch import scratch

LIMIT = 300.0
"""Seconds that a consumer has for one model, by default."""

_START = 120.0  # seconds to import a consumer


class ConsumerProcess(Closing):
    """One consumer for many questions, which is started again after it died.

    Args:
        consumer: whose adapter is run.
        python: the interpreter of the environment that it is installed in; this one by default.
        limit: seconds for one model.

    Raises `MissingConsumerError` if the consumer is not installed there.

    """

    def __init__(self, consumer: Consumer, python: str | None = None, limit: float = LIMIT) -> None:
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
            types, tensors = child.as_messages(feeds)
            job = {"model": str(model.absolute()), "directory": str(directory), "types": types}
            reply = self._process.ask(job, tensors, timeout=self._limit)
            found = self._answered(reply)
        if isinstance(reply, NoReply):
            return Answer("refused", message=reply.reason, version=self.version)
        outputs: Outputs | None = None
        if found["types"] is not None:
            arrays = child.as_arrays(found["types"], reply.tensors)
            outputs = arrays if found["named"] else list(arrays.values())
        return Answer(
            found["kind"],
            outputs,
            one_line(found["message"], 1000),
            found["node"],
            tuple(found["on_host"]),
            found["version"] or self.version,
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
        if "error" in first:
            raise MissingConsumerError(f"{name} cannot be started: {first['error']}")
        if "missing" in first:
            where = "" if self._python == sys.executable else f" for {self._python}"
            raise MissingConsumerError(f"{name} is not installed{where}: pip install {packages}")
        if "broken" in first:
            raise MissingConsumerError(f"{name} cannot be imported: {one_line(first['broken'])}")
        self.version = first["version"]

    def _answered(self, answer: Reply | NoReply) -> Mapping[str, Any]:
        """Return the content of an answer; if the process ended, why, as ``error``."""
        if isinstance(answer, NoReply):
            self._end()
            return {"error": answer.reason}
        return answer.content

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
