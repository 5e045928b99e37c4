"""Finds the adapter of a consumer, and runs the consumer in a process.

An adapter is a file in `consumers`, or a file of yours. The process may crash, hang and write
files. It works in a scratch directory, which is removed and has its temporary files and caches.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnx

from onnx_scatterx.errors import (
    MissingConsumerError,
    ModelError,
    ScatterXError,
    did_you_mean,
    no_such_file,
    one_line,
)
from onnx_scatterx.files import as_bytes, locations
from onnx_scatterx.lab.devices import child
from onnx_scatterx.lab.devices.adapter import Adapter, Answer, Outputs
from onnx_scatterx.processes import Child, Closing, NoReply, Reply, scratch

_CONSUMERS = Path(__file__).resolve().parent / "consumers"

LIMIT = 300.0
"""Seconds that a consumer has for one model, by default."""

_START = 120.0  # seconds to import a consumer


@dataclass(frozen=True)
class Consumer:
    """An adapter and its file."""

    adapter: Adapter
    path: Path

    @property
    def name(self) -> str:
        """The name of the consumer on the command line."""
        return self.adapter.name

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that pip installs for the consumer."""
        return tuple(self.adapter.packages)


def consumer_names() -> list[str]:
    """Return the names of the consumers in the package.

    >>> "opencv" in consumer_names()
    True
    """
    return sorted(path.stem for path in _CONSUMERS.glob("*.py") if path.stem != "__init__")


def consumer_of(name: str) -> Consumer:
    """Return a consumer by its name, or by the path of a file that ends with ``adapter = ...``.

    >>> consumer_of("opencv").packages
    ('opencv-python-headless',)
    """
    if name.endswith(".py"):
        return _own(Path(name))
    known = consumer_names()
    if name.endswith(".toml"):
        raise ScatterXError(
            f"{name} is a profile, not a consumer; `onnx-scatterx inspect --target {name}` uses it"
        )
    if name not in known:
        near = did_you_mean(name, known) or f"; there are {', '.join(known)}, and files .py"
        raise ScatterXError(f"no compiler is called {name!r}{near}")
    path = _CONSUMERS / f"{name}.py"
    return Consumer(child.load(str(path)), path)


def _own(path: Path) -> Consumer:
    if not path.is_file():
        raise ScatterXError(no_such_file(path))
    try:
        adapter = child.load(str(path.resolve()))
    except Exception as error:  # a user's module may raise any exception
        raise ScatterXError(f"{path}: no adapter: {one_line(error)}") from error
    if not re.fullmatch(r"[\w.-]+", str(getattr(adapter, "name", ""))):
        raise ScatterXError(f"{path}: the adapter has no name")
    return Consumer(adapter, path.resolve())


class ConsumerProcess(Closing):
    """A process of one consumer that runs many models. If the process dies, another one is started.

    Args:
        consumer: the consumer whose adapter is run.
        python: the interpreter of the environment that has the consumer; this one by default.
        limit: seconds for one model.

    Raises `MissingConsumerError` if the consumer is not installed in that environment.

    """

    def __init__(self, consumer: Consumer, python: str | None = None, limit: float = LIMIT) -> None:
        self._consumer, self._limit = consumer, limit
        self._python = python or sys.executable
        if os.path.dirname(self._python):  # the process starts in another directory
            self._python = os.path.abspath(self._python)  # a venv is found by the link itself
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
        """End the process and all processes that it started, and remove its files."""
        self._end()
        self._stack.close()

    def run(self, model: Path, feeds: Mapping[str, np.ndarray]) -> Answer:
        """Return the consumer's answer; a crash is a refusal.

        The answer says if time or memory was not enough.
        """
        if self._process is None:
            self._start()
        assert self._process is not None
        with scratch(self._directory) as directory:
            types, tensors = child.as_messages(feeds)
            try:
                model = _whole(model, self._directory) if self._consumer.adapter.one_file else model
            except ModelError as error:
                why = f"it reads no weights beside the file, and {error}"
                return Answer("refused", message=why, version=self.version)
            job = {"model": str(model.absolute()), "directory": str(directory), "types": types}
            reply = self._process.ask(job, tensors, timeout=self._limit)
            answered = self._answered(reply)
        if isinstance(reply, NoReply):
            return Answer(
                "refused", message=reply.reason, version=self.version, out_of=_out_of(reply)
            )
        outputs: Outputs | None = None
        if answered["types"] is not None:
            arrays = child.as_arrays(answered["types"], reply.tensors)
            outputs = arrays if answered["named"] else list(arrays.values())
        return Answer(
            answered["kind"],
            outputs,
            one_line(answered["message"], 1000),
            answered["node"],
            tuple(answered["on_host"]),
            answered["version"] or self.version,
            answered["out_of"] or _out_of(NoReply("error", answered["message"])),
        )

    def _start(self) -> None:
        folder = self._directory / "scratch"
        folder.mkdir(exist_ok=True)
        command = [self._python, child.__file__, str(self._consumer.path)]
        silent = {"PYTHONDONTWRITEBYTECODE": "1"}
        try:
            self._process = Child(command, folder=folder, environment=silent)
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
        """Return the content of an answer; if the process ended, the reason as ``error``."""
        if isinstance(answer, NoReply):
            self._end()
            return {"error": answer.reason}
        return answer.content

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()


def _whole(model: Path, directory: Path) -> Path:
    """Return a file that holds all weights of a model: its own, or a new one in a directory."""
    message = onnx.load(model, load_external_data=False)
    if not locations(message):
        return model
    whole = directory / "whole.onnx"
    whole.write_bytes(as_bytes(message, model.parent)[0])
    return whole


def _out_of(reply: NoReply) -> Literal["time", "memory"] | None:
    if reply.kind == "timeout" or "killed by SIGXCPU" in reply.reason:
        return "time"
    return "memory" if reply.is_of_memory else None
