"""The messages between a process and its child, and the program of the child, which answers them.

Only messages are written to standard output: the output of libraries goes to standard error. If
standard input ends, the parent has ended. Then the child ends, with its process group and with all
processes that have its folder. Only the standard library is imported.

    message = length of header (4 bytes) + header + the bytes of each tensor in the header's order

A tensor's bytes are those of ONNX's raw data: little endian, 4-bit and 2-bit types packed. Strings
travel in the header.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import IO, Any, Protocol

from onnx_scatterx.processes.interrupts import end_soon, stoppable
from onnx_scatterx.processes.scratch_folders import MARK, end_all


@dataclass(frozen=True)
class RawTensor:
    """A tensor as bytes: its name, its `onnx.TensorProto` type number, its shape, its raw data."""

    name: str
    type: int
    shape: tuple[int, ...]
    data: bytes | memoryview = b""
    strings: tuple[str, ...] = ()


def send(stream: IO[bytes], header: dict[str, Any], tensors: Iterable[RawTensor] = ()) -> None:
    """Write one message."""
    tensors = list(tensors)
    header = header | {
        "tensors": [(t.name, t.type, t.shape, len(t.data), t.strings) for t in tensors]
    }
    text = json.dumps(header).encode()
    stream.write(struct.pack("<I", len(text)))
    stream.write(text)
    for tensor in tensors:
        stream.write(tensor.data)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[dict[str, Any], list[RawTensor]]:
    """Read one message; raise `EOFError` if the other process has ended."""
    (length,) = struct.unpack("<I", _read(stream, 4))
    header: dict[str, Any] = json.loads(_read(stream, length))
    tensors = [
        RawTensor(name, kind, tuple(shape), _read(stream, size), tuple(strings))
        for name, kind, shape, size, strings in header.pop("tensors")
    ]
    return header, tensors


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


Message = tuple[dict[str, Any], list[RawTensor]]
Answering = Callable[[dict[str, Any], list[RawTensor]], Message]


class Tell(Protocol):
    """Sends a message to the parent."""

    def __call__(self, content: dict[str, Any], tensors: Iterable[RawTensor] = ()) -> None: ...


def serve(begin: Callable[[Tell], Answering | None], *, undoes: bool = False) -> None:
    """Answer messages by the function that ``begin`` returns; end if ``begin`` returns None.

    If the function raises an exception, the answer is ``{"error": text}``. If ``undoes``, the
    process gets time to undo unfinished writes when a signal or its parent ends it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets Ctrl-C and ends this process
    with stoppable() if undoes else contextlib.nullcontext():
        try:
            _serve(begin, undoes)
        except KeyboardInterrupt:
            os._exit(1)


def _serve(begin: Callable[[Tell], Answering | None], undoes: bool) -> None:
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    listening = sys.stdin.buffer, requests, undoes
    threading.Thread(target=_listen, args=listening, daemon=True).start()

    def tell(content: dict[str, Any], tensors: Iterable[RawTensor] = ()) -> None:
        send(replies, content, tensors)

    answer = begin(tell)
    while answer is not None:
        try:
            reply, tensors = answer(*requests.get())
        except Exception as error:
            reply, tensors = {"error": f"{error}" or type(error).__name__}, []
        tell(reply, tensors)


def _listen(stream: IO[bytes], requests: queue.SimpleQueue[Message], undoes: bool) -> None:
    try:
        while True:
            requests.put(receive(stream))
    finally:
        if undoes:
            end_soon()
        if folder := os.environ.get(MARK):
            end_all(folder)
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(0)
