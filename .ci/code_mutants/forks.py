"""Forks of this process: what is done in one is not seen here, and its means are limited."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import struct
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from math import ceil
from pathlib import Path

BROKEN = 99  # the status of a fork that raised an exception
GIGABYTES = 8
# linux/landlock.h: the numbers of the calls, all that changes a file or a folder, and signals.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_WRITES = sum(1 << bit for bit in (1, *range(4, 15)))
_SIGNALS = 1 << 1
_NO_NEW_PRIVILEGES = 38  # of prctl


def start(run: Callable[[], int], scratch: Path | None = None) -> int:
    """Start a fork that runs this and prints nothing, and return its number.

    With a scratch folder it writes nowhere else, and sends no signals to others.
    """
    child = os.fork()
    if child:
        os.setpgid(child, child)
        return child
    status = BROKEN
    try:
        os.setpgid(0, 0)  # so does the parent: neither can go on before it is done
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        if scratch is not None:
            limit_memory(GIGABYTES)
            write_only_in(scratch)
            os.dup2(nothing, 2)
        status = run()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def limit_memory(gigabytes: int) -> None:
    """Let this process, and each that it starts, have so much address space."""
    resource.setrlimit(resource.RLIMIT_AS, (gigabytes << 30, gigabytes << 30))


def limit_cpu(seconds: float) -> None:
    """End this process if it takes so many more seconds of a processor; and those it starts."""
    soft = ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def can_restrict_writes() -> bool:
    """Return whether this system has Landlock of version 3 or newer."""
    return sys.platform == "linux" and _landlock_version() >= 3


def write_only_in(scratch: Path) -> None:
    """Forbid this process, and all that it starts, to change files outside of a folder.

    The folder of devices stays writable: it has /dev/null, and memory that processes share. A
    system without Landlock forbids nothing: see `can_restrict_writes`.
    """
    if not can_restrict_writes():
        return
    libc = ctypes.CDLL(None, use_errno=True)
    scoped = _SIGNALS if _landlock_version() >= 6 else 0
    attributes = struct.pack("QQQ", _WRITES, 0, scoped)
    rules = _called(libc.syscall(_CREATE, attributes, len(attributes) if scoped else 8, 0))
    for folder in (str(scratch), "/dev"):
        opened = os.open(folder, os.O_PATH)
        rule = struct.pack("=Qi", _WRITES, opened)
        _called(libc.syscall(_ADD, rules, 1, rule, 0))
        os.close(opened)
    _called(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _called(libc.syscall(_RESTRICT, rules, 0))
    os.close(rules)


def _called(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _landlock_version() -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, 1))


def wait(child: int, is_stuck: Callable[[], bool] = lambda: False) -> tuple[int, float]:
    """Return the exit status of a fork, -9 if it was stuck, and the seconds of a processor."""
    while not (done := os.wait4(child, os.WNOHANG))[0]:
        if is_stuck():
            os.killpg(child, signal.SIGKILL)
            done = os.wait4(child, 0)
            break
        time.sleep(0.02)
    _, status, usage = done
    end_group(child)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def end_group(child: int) -> None:
    """End the processes that a fork started, and left behind."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
