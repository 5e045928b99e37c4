"""Raises signals that end a program as exceptions, or delays them until a step is complete.

Python raises KeyboardInterrupt on Ctrl-C, so that every ``finally`` runs. Here SIGTERM and SIGHUP
raise an exception, too. Only the main thread runs handlers of signals.

A library in C++ may turn the exception into another one: an interrupted import raises ImportError.
So a step that cannot be undone calls `unless_stopped` first.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, NoReturn

# SIGHUP: the terminal was closed. SIGBREAK: Ctrl-Break on Windows.
_NAMES = ("SIGTERM", "SIGHUP", "SIGBREAK")
_ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))

GRACE = 3.0
"""Seconds that a process has to undo unfinished writes before it is killed."""
_came: list[int] = []  # the signal that has told the process to end


class Stopped(KeyboardInterrupt):
    """A signal that is not Ctrl-C ends the process."""

    def __init__(self, number: int) -> None:
        """Remember the number of the signal."""
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Raise `Stopped` in this block if a signal tells the process to end.

    A signal that is ignored (``nohup``) or has a handler is left alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    try:
        with _handled(ours, _stop):
            yield
    finally:
        _came.clear()


@contextlib.contextmanager
def _handled(
    numbers: Iterable[int], handler: Callable[[int, FrameType | None], Any]
) -> Iterator[None]:
    """Give signals a handler in this block."""
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _stop(number: int, _: FrameType | None) -> NoReturn:
    _came.append(number)
    raise Stopped(number)


def unless_stopped() -> None:
    """Raise `Stopped` again if a signal has told the process to end."""
    if _came:
        raise Stopped(_came[0])


def end_soon() -> None:
    """Tell this process to end, and return after the seconds of ``GRACE``."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Delay signals that end a program, such as Ctrl-C, until this block ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    ours = [n for n in (signal.SIGINT, *_ENDING) if callable(signal.getsignal(n))]
    try:
        with _handled(ours, lambda number, _: came.append(number)):
            yield
    finally:
        for number in came[:1]:
            signal.raise_signal(number)
