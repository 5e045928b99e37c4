"""A pool of processes that run tasks, each task within a time limit.

A process is a `Child`: it gets a pickled call, and answers with the pickled result. A thread waits
for each process. If a process dies or is late, only its task is lost. If the parent dies, a process
removes its unfinished files, and ends.
"""

from __future__ import annotations

import multiprocessing.spawn
import pickle
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.processes import (
    GRACE,
    Message,
    NoReply,
    PythonChild,
    RawTensor,
    postponed,
    serve,
    unless_stopped,
)

T = TypeVar("T")
R = TypeVar("R")

PROGRAM = "from onnx_scatterx.doors.batch.pool import main; main()"
"""The program of a process."""


def main() -> None:
    """Answer calls: a message is a function and its argument, pickled."""
    serve(lambda _: _called, undoes=True)


def _called(_: dict[str, Any], tensors: list[RawTensor]) -> Message:
    function, argument = pickle.loads(tensors[0].data)
    result = function(argument)
    unless_stopped()
    return {}, [_pickled(result)]


_importing: list[str] = []  # not empty while the parent's script is imported


def _import_script(script: dict[str, Any]) -> None:
    """Import the parent's script, whose classes the tasks may have."""
    _importing.append("script")
    try:
        multiprocessing.spawn.prepare(script)
    finally:
        _importing.clear()


def _pickled(content: object) -> RawTensor:
    return RawTensor("", 0, (), pickle.dumps(content))


def _call(
    child: PythonChild, function: Callable[[Any], Any], argument: object, limit: float | None = None
) -> Any:
    """Return the result of a call in a process, or the reason why the call has no result."""
    try:
        call = _pickled((function, argument))
    except Exception as error:  # pickling an object of the caller may raise any exception
        return NoReply("error", one_line(error))
    answer = child.ask({}, [call], timeout=limit)
    return answer if isinstance(answer, NoReply) else pickle.loads(answer.tensors[0].data)


def run_tasks(
    run: Callable[[T], R],
    tasks: Sequence[T],
    processes: int,
    *,
    prepare: Callable[[Any], object] = bool,
    limit: float | None = None,
) -> Generator[tuple[T, R | NoReply | None], None, None]:
    """Yield each task with None when it begins, and with its result when it ends.

    The functions must be importable by their names. Each process calls ``prepare`` first. A task
    may take ``limit`` seconds. If the iterator is closed, processes that are at work are stopped.
    """
    if _importing:  # otherwise each process would start more processes
        raise ScatterXError('many models are a task of a script under if __name__ == "__main__"')
    waiting = deque(tasks)
    events: SimpleQueue[tuple[T, R | NoReply | None, bool] | BaseException] = SimpleQueue()
    children: list[PythonChild] = []

    def work() -> None:
        try:
            while waiting:
                with PythonChild(PROGRAM, grace=GRACE) as child:
                    children.append(child)
                    _run_in(child)
                    children.remove(child)
        except (
            BaseException
        ) as error:  # such as a process that cannot be started: `run_tasks` raises the error
            events.put(error)

    def _run_in(child: PythonChild) -> None:
        """Run tasks in a process until it dies."""
        script = multiprocessing.spawn.get_preparation_data("worker")
        del script["authkey"]
        _call(child, _import_script, script)
        _call(child, prepare, None)
        is_alive = True
        while is_alive:
            try:
                task = waiting.popleft()
            except IndexError:  # another process has taken the last task
                return
            events.put((task, None, False))
            result = _call(child, run, task, limit)
            events.put((task, result, True))
            is_alive = not isinstance(result, NoReply) or result.kind == "error"

    threads: list[threading.Thread] = []
    left = len(tasks)
    try:
        while len(threads) < processes:
            with postponed():
                thread = threading.Thread(target=work, daemon=True)
                thread.start()
                threads.append(thread)
        while left:
            event = events.get()
            if isinstance(event, BaseException):
                raise event
            task, result, is_done = event
            left -= is_done
            yield task, result
    finally:
        with postponed():
            waiting.clear()
            for child in list(children):
                child.stop()
            for child in list(children):
                child.kill()
            for thread in threads:
                thread.join()
