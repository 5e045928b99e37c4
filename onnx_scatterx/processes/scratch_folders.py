"""Temporary directories, which are removed even after a crash, and the processes that use them.

A process that creates a temporary directory holds a lock on a file in it. The system releases the
lock when the process ends in any way. If another process creates a temporary directory in the same
place, it first removes those that are not locked. This may happen between any two of these steps:

    make the directory, open and lock its lock file     if a step fails: begin with another name
    check that the lock file is still in its place      if not: begin with another name

A child process has its folder in a variable of its environment. The processes that it starts
inherit this variable, unless they clear their environment. Linux shows the environment.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from onnx_scatterx.processes.interrupts import postponed

_ROUNDS = 100  # the most searches for processes, which may start more processes meanwhile
_MOMENTS, _MOMENT = 10, 0.01  # repetitions and seconds between them, if a process just begins
MARK = "ONNX_SCATTERX_FOLDER"
"""The environment variable that has the folder of a child process."""


def end_all(folder: str) -> None:
    """Kill all other processes that have this folder in their environment.

    A process that has just begun to run a program seems to have no environment in Linux. So the
    search is repeated for a moment.
    """
    mark = os.fsencode(f"{MARK}={folder}")
    moments = _MOMENTS
    for _ in range(_ROUNDS):
        others = {n: _environment(n) for n in _processes() if n != os.getpid()}
        numbers = [n for n, environment in others.items() if mark in environment]
        for number in numbers:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not numbers:
            if not moments or all(any(e) or not _has_program(n) for n, e in others.items()):
                return
            moments -= 1
            time.sleep(_MOMENT)


def _processes() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return []


def _has_program(process: int) -> bool:
    """Return whether this process may see a process's program; the kernel's have no program."""
    with contextlib.suppress(OSError):
        return bool(os.readlink(f"/proc/{process}/exe"))
    return False


def _environment(process: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return []


_NAME = re.compile(r"\.onnx-scatterx-[0-9a-f]{32}")
_LOCK = "lock"
_IS_WINDOWS = sys.platform == "win32"
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextlib.contextmanager
def scratch(parent: Path | None = None) -> Iterator[Path]:
    """Create an empty directory in `parent`, which is removed when the block ends.

    By default, `parent` is the system's directory for temporary files. Temporary directories of
    processes that have ended are removed first. Raises OSError if the directory cannot be created.

    >>> with scratch() as directory:
    ...     _ = (directory / "file").write_text("text")
    >>> directory.exists()
    False
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    clear(parent)
    with contextlib.ExitStack() as undo:
        with postponed():
            directory, lock = _make(parent)
            undo.callback(_remove, directory, lock)
        yield directory / "files"


def clear(parent: Path) -> None:
    """Remove the temporary directories in `parent` that no running process holds."""
    try:
        with os.scandir(parent) as entries:
            ours = [e for e in entries if is_scratch(e.name)]
            left = [Path(e.path) for e in ours if e.is_dir(follow_symlinks=False)]
    except OSError:  # the directory cannot be listed
        return
    for directory in left:
        with contextlib.suppress(OSError):  # another process removed it, or owns it
            lock = _open_lock(directory)
            if _is_locked_now(lock):
                _remove(directory, lock)
            else:
                os.close(lock)


def is_scratch(name: str) -> bool:
    """Return whether a file name is that of a temporary directory."""
    return _NAME.fullmatch(name) is not None


def _new_name(parent: Path) -> Path:
    return parent / f".onnx-scatterx-{uuid.uuid4().hex}"


def _make(parent: Path) -> tuple[Path, int]:
    while True:
        directory = _new_name(parent)
        directory.mkdir(mode=0o700)
        try:
            lock = _open_lock(directory)
        except FileNotFoundError:
            continue
        with contextlib.suppress(FileNotFoundError):
            if _is_locked_now(lock) is not False:
                there = os.stat(directory / _LOCK)
                if os.path.samestat(there, os.fstat(lock)):
                    (directory / "files").mkdir()
                    return directory, lock
        os.close(lock)


def _open_lock(directory: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    return os.open(directory / _LOCK, flags, 0o600)


def _is_locked_now(file: int) -> bool | None:
    """Lock a file; return False if another process holds the lock, None if there are no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError) as error:  # a browser's Python has no fcntl
        return False if isinstance(error, OSError) and error.errno in _BUSY else None
    return True


def _remove(directory: Path, lock: int) -> None:
    """Remove a directory whose lock is held.

    The directory is renamed first: another process that has just created it, and gets the lock,
    must notice that the directory is gone. Windows does not rename a directory in which a file is
    open: then the directory of the other process stays.
    """
    gone = _new_name(directory.parent)
    with postponed():
        if _IS_WINDOWS:
            os.close(lock)
        with contextlib.suppress(OSError):
            directory.rename(gone)
        if not _IS_WINDOWS:
            os.close(lock)
        shutil.rmtree(gone, ignore_errors=True)
