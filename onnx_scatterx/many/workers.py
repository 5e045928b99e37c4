"""Workers: tasks that are run in an executor or in processes, and outlive those that die."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.many.summary import Outcome


@dataclass(frozen=True)
class Task:
    """One model: where it is, where it goes, and what ``optimize`` and ``verify`` are told."""

    source: Path
    output: Path
    options: Mapping[str, Any]
    verify: Mapping[str, Any] | None


def run_in_executor(executor: Executor, tasks: list[Task], note: Callable[[Outcome], None]) -> None:
    """Run tasks in an executor; ``note`` is told what became of each."""
    for task in _finish(*_submit(executor, tasks, run_task), note):
        note(_failed(task, "its worker died"))


_Submitted = dict["Future[Outcome]", Task]


def _submit(
    executor: Executor, tasks: list[Task], run: Callable[[Task], Outcome]
) -> tuple[_Submitted, list[Task]]:
    """Hand tasks to an executor; return their futures, and those that were lost with a worker."""
    futures: _Submitted = {}
    lost: list[Task] = []
    for task in tasks:
        try:
            futures[executor.submit(run, task)] = task
        except BrokenExecutor:
            lost.append(task)
    return futures, lost


def _finish(
    futures: _Submitted, lost: list[Task], note: Callable[[Outcome], None]
) -> Iterator[Task]:
    """Wait for tasks; yield those that were lost with a worker."""
    yield from lost
    for future in as_completed(futures):
        error = future.exception()
        if error is None:
            note(future.result())
        elif isinstance(error, BrokenExecutor):
            yield futures[future]
        else:  # such as a Dask worker's death, or an option that cannot be sent to a process
            note(_failed(futures[future], f"could not be run: {one_line(error)}"))


def run_in_processes(tasks: list[Task], jobs: int | None, note: Callable[[Outcome], None]) -> None:
    """Run tasks in processes of their own; by default one per core."""
    workers = min(jobs or os.cpu_count() or 1, max(1, len(tasks)))
    with _processes(workers) as pool:
        lost = list(_finish(*_begin(pool, tasks), note))
    # A dead process takes the whole pool along, and it is not known whose fault it was.
    for task in lost:
        with _processes(1) as pool:
            for dead in _finish(*_begin(pool, [task]), note):
                note(_failed(dead, "its process died, perhaps for want of memory"))


def _begin(pool: ProcessPoolExecutor, tasks: list[Task]) -> tuple[_Submitted, list[Task]]:
    """Hand tasks to processes, which start now, and with Ctrl-C put off until they can end."""
    with _uninterrupted():
        return _submit(pool, tasks, _run_or_leave)


@contextlib.contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    # A forked copy of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with _uninterrupted():  # what Python starts for its first pool lets Ctrl-C through afterwards
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_die_quietly)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C nothing more is begun


def _die_quietly() -> None:
    """Let Ctrl-C end a worker without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))


def _run_or_leave(task: Task) -> Outcome:
    """Run a task; after Ctrl-C, when what is half-written has been undone, leave the process."""
    try:
        return run_task(task)
    except SystemExit:
        os._exit(130)  # a worker of the pool would go on with the next task


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off in this thread and in what it starts meanwhile; then as it was before."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_task(task: Task) -> Outcome:
    """Optimize one model; whatever goes wrong is in the outcome."""
    from onnx_scatterx.api import optimize
    from onnx_scatterx.model.save import place_of
    from onnx_scatterx.verification import verify

    start = time.perf_counter()
    try:
        task.output.parent.mkdir(parents=True, exist_ok=True)
        place_of(task.output, task.source)
        result = optimize(task.source, **task.options)
        same = proof = None
        if task.verify is not None:
            verification = verify(task.source, result.model, **task.verify)
            same = verification.same
            proof = None if verification.proof is None else verification.proof.kind
            if not same and not verification.conclusive:
                reason = next(iter(verification.rejections), "no input was drawn")
                return _failed(task, f"not compared, as it ran on no input: {reason}")
        if same is not False:
            result.save(task.output)
    except ScatterXError as error:
        return _failed(task, one_line(error))
    except OSError as error:
        return _failed(task, f"{error.filename or task.output}: {error.strerror or error}")
    except Exception as error:  # one model that shows a bug must not stop the others
        return _failed(task, f"a bug, please report it: {type(error).__name__}: {one_line(error)}")
    seconds = time.perf_counter() - start
    return Outcome(task.source, task.output, result.report, same, None, seconds, proof)


def _failed(task: Task, error: str) -> Outcome:
    if not error.startswith(str(task.source)):
        error = f"{task.source}: {error}"
    return Outcome(task.source, task.output, None, None, error, 0.0)
