"""Runs the command line in a second process, so that a crash becomes an error of one line.

The parsers and the shape inference of onnx are C++: some models crash them, and with them the whole
process. The system, too, ends a process if memory is short. The process that the user started only
waits, passes signals on, and prints the error. While C++ code runs, no signal reaches Python. So
the other process is killed if it still runs half a minute after the signal.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType

from onnx_scatterx.doors.cli.output import FAILED, SIGNAL, print_error
from onnx_scatterx.processes import end_soon

_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS")
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGCONT")
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_PATIENCE = 30.0  # seconds after a signal until the process is killed


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command, by default with the arguments of this process; return the exit status."""
    if sys.platform in ("win32", "emscripten"):
        return _work(argv)
    life, held = os.pipe()  # only this process keeps `held`: reading `life` ends with it
    passed_on = {getattr(signal, name) for name in _PASSED_ON} | {signal.SIGTSTP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)
    try:
        child = os.fork()
    except OSError:  # this Python starts no processes
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _work(argv)
    if child == 0:
        os.close(held)
        os.setpgid(0, 0)  # Ctrl-C reaches only the parent, which passes the signal on once
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # allow writing, also after `stty tostop`
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        threading.Thread(target=_end_with_parent, args=(life,), daemon=True).start()
        return _work(argv)
    os.close(life)
    came = _pass_on(child, passed_on)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if came and code == -signal.SIGKILL:
        return SIGNAL + came[0]
    return _as_exit_status(code)


def _work(argv: Sequence[str] | None) -> int:
    from onnx_scatterx.doors.cli import main

    # At its end, Python collects cycles twice. Without this, it visits every object of the imports.
    atexit.register(gc.freeze)
    return main(argv)


def _as_exit_status(status: int) -> int:
    """Return the exit status of the command; if a signal killed the process, print an error."""
    if status >= 0:
        return status
    name = signal.Signals(-status).name
    if name in _CRASHES:
        why = f"a library crashed ({name}), as onnx does on some broken models"
        return print_error(why, FAILED)
    if name == "SIGKILL":
        return print_error("the process was killed, perhaps because memory was short", FAILED)
    return SIGNAL - status


def _pass_on(child: int, numbers: set[signal.Signals]) -> list[int]:
    """Pass signals on to the child process; if the child is stopped, stop this process, too.

    Returns a list that gets the signals that told the child to end.
    """
    came: list[int] = []

    def passed(number: int, _: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGSTOP if number == signal.SIGTSTP else number)
        if number == signal.SIGTSTP:
            os.kill(os.getpid(), signal.SIGSTOP)
        if signal.Signals(number).name in _ENDING and not came:
            came.append(number)
            signal.signal(signal.SIGALRM, kill)
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE)

    def kill(_: int, __: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)

    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, passed)
    return came


def _end_with_parent(life: int) -> None:
    """Wait until the parent ends; then undo unfinished writes, and end this process."""
    os.read(life, 1)
    end_soon()
    os._exit(1)
