"""A call in progress: what it reports, to callers and the log, and signals that end it.

Stages are reported by their names, with how much is done of how much: 0 of 0 if that is unknown.

Python raises KeyboardInterrupt on Ctrl-C, so that every ``finally`` runs. Here SIGTERM and SIGHUP
do the same. Only the main thread runs handlers of signals.

A library in C++ may make another exception of it: an import that is interrupted raises ImportError.
So what cannot be undone asks `unless_stopped` first.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from onnx_scatterx.text.visible import visible

if TYPE_CHECKING:
    import onnx_ir as ir


Progress: TypeAlias = Callable[[str, int, int], None]
"""Is called with a stage's name, how much of it is done, and of how much (0 if unknown)."""

Counted: TypeAlias = Callable[[int, int], None]
"""Is called with how much of one thing is done, and of how much."""

Watch: TypeAlias = "Callable[[str, ir.Model], None]"
"""Is called after each pass, with its name and the changed model."""

LOG = logging.getLogger("onnx_scatterx")


@dataclass(frozen=True)
class Observer:
    """Reports stages and passes: a callback each, and the log ``onnx_scatterx``.

    The log has a line at INFO when a stage begins, and the rest at DEBUG.

    >>> stages = []
    >>> observer = Observer(lambda *stage: stages.append(stage))
    >>> observer.stage("reading")
    >>> observer.counted("verifying")(1, 40)
    >>> stages
    [('reading', 0, 0), ('verifying', 1, 40)]
    """

    progress: Progress | None = None
    watch: Watch | None = None

    def stage(self, name: str, done: int = 0, total: int = 0, what: object = "") -> None:
        """Report that a stage begins, or its progress; ``what`` is for the log."""
        level = logging.DEBUG if done else logging.INFO
        if LOG.isEnabledFor(level):
            of = f" {done} of {total}" if total else ""
            LOG.log(level, "%s%s%s", name, of, f": {visible(what)}" if what else "")
        if self.progress is not None:
            self.progress(name, done, total)

    def counted(self, name: str) -> Counted:
        """Return the callback for the progress of one stage."""
        return lambda done, total: self.stage(name, done, total)

    def passed(self, name: str, model: ir.Model) -> None:
        """Report that a pass has run."""
        LOG.debug("ran the pass %s", name)
        if self.watch is not None:
            self.watch(name, model)


NOBODY = Observer()
"""Reports to the log alone."""


# SIGHUP: the terminal was closed. SIGBREAK: Ctrl-Break on Windows.
_NAMES = ("SIGTERM", "SIGHUP", "SIGBREAK")
_ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))


_came: list[int] = []  # the signal that has told the process to end


class Stopped(KeyboardInterrupt):
    """A signal other than that of Ctrl-C ends the process."""

    def __init__(self, number: int) -> None:
        """Remember the number of the signal."""
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextlib.contextmanager
def stoppable() -> Iterator[None]:
    """Raise `Stopped` in this block if a signal tells the process to end.

    Signals that are ignored (``nohup``) or have a handler are not changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ours = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in ours:
            signal.signal(number, _stop)
        yield
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
        _came.clear()


def _stop(number: int, _: FrameType | None) -> NoReturn:
    _came.append(number)
    raise Stopped(number)


def unless_stopped() -> None:
    """Raise `Stopped` again if a signal has told the process to end."""
    if _came:
        raise Stopped(_came[0])


@contextlib.contextmanager
def postponed() -> Iterator[None]:
    """Delay Ctrl-C and the other signals that end a program until this block ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *_ENDING)}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    try:
        for number in handlers:
            signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)
