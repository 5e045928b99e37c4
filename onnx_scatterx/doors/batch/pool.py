"""Processes that run tasks one after the other, each within a time limit, and may die.

A process is a spawned Python, since a forked copy of a process with threads may hang. It reports
when its imports are complete, and then gets one task at a time, so that its death or its delay
concerns only one task. If its parent dies, it stops its work and ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, Literal, TypeVar

from onnx_scatterx.errors import one_line
from onnx_scatterx.system.observer import Stopped, postponed, stoppable, unless_stopped

T = TypeVar("T")
R = TypeVar("R")

CONTEXT = multiprocessing.get_context("spawn")  # how a process is started
_GRACE = 3.0  # seconds that a process has to undo unfinished writes before it is killed


@dataclass(frozen=True)
class Lost:
    """Why a task failed: its process died, took too long, or the task cannot be sent to it."""

    kind: Literal["died", "late", "unsent"]
    reason: str = ""


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """The work of processes: first `prepare`, then `run` for each task, at most ``limit`` seconds.

    Both functions must be importable by their names.
    """

    prepare: Callable[[], object]
    run: Callable[[T], R]
    limit: float | None = None


def run_tasks(
    work: Work[T, R],
    tasks: Iterable[T],
    processes: int,
    begun: Callable[[T], None] = lambda _: None,
) -> Generator[tuple[T, R | Lost], None, None]:
    """Yield each task and its result, in the order in which they end; ``begun`` reports each start.

    When the iterator is closed, processes that are still at work are stopped.
    """
    with _interrupts_blocked():
        _start_tracker()
    waiting = deque(tasks)
    workers: list[_Worker[T, R]] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < processes:
                with postponed():
                    workers.append(_Worker(work, waiting.popleft(), begun))
            _wait(workers)
            for worker in list(workers):
                found = worker.result()
                if found is None:
                    continue
                task, (result,) = worker.task, found
                if waiting and not worker.is_lost:
                    worker.give(waiting.popleft())
                else:
                    with postponed():
                        workers.remove(worker)
                        worker.end()
                yield task, result
    finally:
        with postponed():
            for worker in workers:
                worker.stop()
            for worker in workers:
                worker.end()


def _wait(workers: list[_Worker[T, R]]) -> None:
    """Wait until a worker has a result or is late."""
    if any(worker.has_result for worker in workers):
        return
    deadlines = [w.deadline for w in workers if w.deadline is not None]
    timeout = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
    wait([worker.connection for worker in workers], timeout)


class _Worker(Generic[T, R]):
    """One process, and its task."""

    def __init__(self, work: Work[T, R], task: T, begun: Callable[[T], None]) -> None:
        self.task = task
        self.deadline: float | None = None  # of the task, on the clock of time.monotonic
        self.is_lost = False
        self._result: tuple[R | Lost] | None = None
        self._limit = work.limit
        self._begun = begun
        self.connection, theirs = CONTEXT.Pipe()
        self._process = CONTEXT.Process(target=serve, args=(theirs, work), daemon=True)
        with _interrupts_blocked():
            self._process.start()
        theirs.close()

    @property
    def has_result(self) -> bool:
        """Whether the result of the task is known without waiting."""
        return self._result is not None

    def give(self, task: T) -> None:
        """Begin with the next task."""
        self.task = task
        self._result = None
        self._send()

    def result(self) -> tuple[R | Lost] | None:
        """Return the outcome of the task, alone in a tuple, or None if it is still running."""
        try:
            if self._result is None and self.connection.poll():
                kind, answer = self.connection.recv()
                if kind == "ready":
                    self._send()
                else:
                    self._result = (Lost("unsent", answer) if kind == "unsent" else answer,)
        except (EOFError, OSError):
            self._lose("died")
        late = self.deadline is not None and time.monotonic() >= self.deadline
        if self._result is None and late:
            self.stop()
            self._lose("late")
        return self._result

    def _send(self) -> None:
        self._begun(self.task)
        if self._limit is not None:
            self.deadline = time.monotonic() + self._limit
        try:
            self.connection.send(self.task)
        except OSError:
            self._lose("died")
        except Exception as error:  # pickling a caller's object may raise any exception
            self._result = (Lost("unsent", one_line(error)),)

    def _lose(self, kind: Literal["died", "late"]) -> None:
        self._result = (Lost(kind),)
        self.is_lost = True

    def stop(self) -> None:
        """Tell the process to stop its work."""
        self._process.terminate()

    def end(self) -> None:
        """Let the process end, and kill it if it does not."""
        self.connection.close()  # by which an idle one ends
        self._process.join(_GRACE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def serve(connection: Connection, work: Work[Any, Any]) -> None:
    """Run the tasks that arrive, until the parent closes the connection or a signal comes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # after a crash there is no reply
    try:
        with stoppable():
            threading.Thread(target=_end_with_parent, daemon=True).start()
            if sys.platform != "win32":
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            work.prepare()
            unless_stopped()
            connection.send(("ready", None))
            while True:
                answer = _answer(connection, work)
                unless_stopped()
                connection.send(answer)
    except (EOFError, BrokenPipeError):
        return
    except KeyboardInterrupt as stop:  # in silence: the parent says what happened
        os._exit(128 + (stop.number if isinstance(stop, Stopped) else signal.SIGINT))


def _answer(connection: Connection, work: Work[Any, Any]) -> tuple[str, Any]:
    try:
        task = connection.recv()
    except EOFError:
        raise
    except Exception as error:  # unpickling a caller's object may raise any exception
        return "unsent", one_line(error)
    return "done", work.run(task)


def _end_with_parent() -> None:
    """Wait until the parent ends; then undo the work begun and end this process."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    if sys.platform != "win32":
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
        time.sleep(_GRACE)
    os._exit(1)


def _start_tracker() -> None:
    """Start what Python starts before its first spawned process, which ends with the last one."""
    if os.name == "posix":
        multiprocessing.resource_tracker.ensure_running()


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread, and permanently in processes that it starts meanwhile."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
