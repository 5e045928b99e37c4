"""An adapter: a file that runs a model in one consumer of ONNX, and returns the answer.

An adapter is imported twice: in this process, for its name and packages, and in the process of the
consumer, whose Python (3.10 or newer) may have only NumPy and the consumer. So the file imports the
consumer inside its methods, and otherwise only the standard library, NumPy and this module. The
file ends with ``adapter = MyConsumer()``.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

Outputs = Mapping[str, np.ndarray] | Sequence[np.ndarray]
"""Outputs by name; or in the order of the model's outputs, if the consumer gives no names."""


@dataclass(frozen=True)
class Answer:
    """A consumer's answer about a model.

    >>> Answer("refused", message="unknown operator ScatterND", node="node_ScatterND_3").kind
    'refused'
    """

    kind: Literal["taken", "refused"]
    outputs: Outputs | None = None
    """The outputs; None if the model was refused."""
    message: str = ""
    """Why the model was refused, in the words of the consumer."""
    node: str = ""
    """The name of the refused node, if the consumer reports it."""
    on_host: tuple[str, ...] = ()
    """The operators, or nodes, that the compiler leaves to the host."""
    version: str = ""
    """The version of the consumer. If empty, the process of the adapter fills it in."""
    out_of: Literal["time", "memory"] | None = None
    """What was not enough for an answer; None if the consumer refused the model, or took it."""


class Adapter(Protocol):
    """One consumer. A subclass sets all attributes that have no default."""

    name: str
    """The consumer's name on the command line, which is the name of its file."""
    packages: tuple[str, ...]
    """What follows ``pip install`` to get the consumer: packages, and options if it needs any."""
    float16: bool = False
    """Whether it computes in float16: then it may choose another one of two near candidates."""

    one_file: bool = False
    """Whether it reads no weights beside the file: then it is given a file with all of them."""

    @property
    def profile(self) -> str:
        """The target that describes the consumer: its name, or the path of a profile."""
        return self.name

    def version(self) -> str:
        """Return the version of the consumer. Raises ImportError if it is not installed."""
        ...

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        """Compile a model and run it on these inputs.

        An exception is a refusal with the exception's text: catch it only to give another text.
        `directory` is empty, is the current directory, and is removed afterwards.
        """
        ...


@contextlib.contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """Collect the output to stdout and stderr, also of native code; yield a function to read it.

    All of it goes to stderr. In the process of a consumer it does so at once, so that what native
    code says before it ends the process is not lost; elsewhere, at the end.

    >>> with captured() as text:
    ...     _ = os.write(2, b"layer 3 on the CPU")
    ...     print(text().endswith("CPU"), file=sys.__stdout__)
    """
    with contextlib.ExitStack() as stack:
        file = 2 if _can_be_read(2) else stack.enter_context(tempfile.TemporaryFile()).fileno()
        _flush()
        start = os.fstat(file).st_size

        def text() -> str:
            _flush()
            size = os.fstat(file).st_size
            return _bytes_of(file, start, size).decode(errors="replace")

        saved = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(file, number)
        try:
            yield text
        finally:
            output = text()
            for number, old in zip((1, 2), saved, strict=True):
                os.dup2(old, number)
                os.close(old)
            if file != 2:
                os.write(2, output.encode())


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _can_be_read(file: int) -> bool:
    """Return whether a descriptor is that of a file which may be read at any place."""
    try:
        return stat.S_ISREG(os.fstat(file).st_mode) and os.pread(file, 0, 0) == b""
    except (OSError, AttributeError):  # Windows has no pread
        return False


def _bytes_of(file: int, start: int, end: int) -> bytes:
    """Return the bytes of a file between two places; the place at which it is written stays."""
    if hasattr(os, "pread"):
        return os.pread(file, end - start, start)
    os.lseek(file, start, os.SEEK_SET)
    return os.read(file, end - start)  # and so the place is the end


def run_program(
    command: Sequence[str], directory: Path | None = None, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, and write its output to stderr.

    The result has its stdout and stderr as one text. ``more`` are arguments of ``subprocess.run``.
    """
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    text = {"encoding": "utf-8", "errors": "replace"}
    done = subprocess.run(command, cwd=directory, check=False, **{**both, **text, **more})
    sys.stderr.write(done.stderr or done.stdout)
    return done


def reason_in(text: str, *signs: str, otherwise: str = "no reason given") -> str:
    r"""Return the first line of a text that contains one of ``signs``; or else its last line.

    >>> reason_in("start\nan error: no such layer\nend\n", "error"), reason_in("start\nend\n")
    ('an error: no such layer', 'end')
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if any(sign in line for sign in signs)]
    return (telling or lines[-1:] or [otherwise])[0]


def input_names(graph: Any) -> list[str]:
    """Return the names of the inputs of an ONNX graph that are not constants."""
    constants = {tensor.name for tensor in graph.initializer}
    return [value.name for value in graph.input if value.name not in constants]
