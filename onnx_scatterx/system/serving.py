"""The program of a child process: it answers one message after the other, see ``child.py``.

Only messages are written to standard output: what libraries print goes to standard error. If
standard input ends, the parent has ended. Then the process ends at once, with its group and with
all that has its folder for temporary files. Only the standard library is needed.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from typing import IO, Any, Protocol

from onnx_scatterx.system.marked import MARK, end_all
from onnx_scatterx.system.messages import RawTensor, receive, send

Message = tuple[dict[str, Any], list[RawTensor]]
Answering = Callable[[dict[str, Any], list[RawTensor]], Message]


class Tell(Protocol):
    """Sends a message to the parent."""

    def __call__(self, content: dict[str, Any], tensors: Iterable[RawTensor] = ()) -> None: ...


def serve(begin: Callable[[Tell], Answering | None]) -> None:
    """Answer messages with what ``begin`` returns, if it returns anything.

    An exception is an answer, too: ``{"error": text}``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the parent, which ends this process
    requests: queue.SimpleQueue[Message] = queue.SimpleQueue()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()

    def tell(content: dict[str, Any], tensors: Iterable[RawTensor] = ()) -> None:
        send(replies, content, tensors)

    answer = begin(tell)
    while answer is not None:
        try:
            reply, tensors = answer(*requests.get())
        except Exception as error:
            reply, tensors = {"error": f"{error}" or type(error).__name__}, []
        tell(reply, tensors)


def _listen(stream: IO[bytes], requests: queue.SimpleQueue[Message]) -> None:
    try:
        while True:
            requests.put(receive(stream))
    finally:
        if folder := os.environ.get(MARK):
            end_all(folder)
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(0)
