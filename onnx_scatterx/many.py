"""Many models at once: each is read, optimized and written by a worker, and is a line of a summary.

Only paths and reports travel to workers and back, so that any executor of ``concurrent.futures``
will do, also one whose workers are on other machines with the same files.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.many_summary import Outcome, Summary

SUFFIXES = (".onnx", ".onnxtxt")

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Task:
    """One model: where it is, where it goes, and what ``optimize`` and ``verify`` are told."""

    source: Path
    output: Path
    options: Mapping[str, Any]
    verify: Mapping[str, Any] | None


def optimize_many(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    verify: bool | Mapping[str, Any] = False,
    progress: Progress | None = None,
    **options: Any,
) -> Summary:
    """Optimize many models, and write them to a directory.

    ``paths`` are files, or one directory that is searched for ``.onnx`` and ``.onnxtxt`` at any
    depth; ``output`` gets the same folders beneath the deepest one that they share. ``executor`` is
    any of ``concurrent.futures`` (a Dask client's ``get_executor()``, too); without one, ``jobs``
    processes are started, one per core by default, and a script needs the usual
    ``if __name__ == "__main__"``. ``verify`` runs each model before and after, and writes only what
    is the same; it may hold the arguments of ``onnx_scatterx.verify``. The other ``options`` are
    those of ``optimize``. ``progress(done, total)`` is called after each model.

    A model that cannot be read, optimized or written is a line in the summary, and never stops the
    others. Raises ScatterXError where there is nothing to read or nowhere to write.

    >>> import tempfile
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as threads:
    ...     head = '<ir_version: 8, opset_import: ["": 18]> g (float x) => (float y)'
    ...     for name, op in ("good", "Neg"), ("bad", "Nothing"):
    ...         _ = Path(folder, f"{name}.onnxtxt").write_text(f"{head} {{y = {op}(x)}}")
    ...     summary = optimize_many(folder, Path(folder, "out"), executor=threads)
    >>> [(outcome.source.name, outcome.error is None) for outcome in summary.outcomes]
    [('bad.onnxtxt', False), ('good.onnxtxt', True)]
    """
    if jobs is not None and jobs < 1:
        raise ScatterXError(f"jobs is {jobs}, and must be 1 or more")
    checks: Mapping[str, Any] | None = None
    if verify is not False:
        checks = {} if verify is True else dict(verify)
    tasks = _tasks(paths, Path(output), options, checks)
    start = time.perf_counter()
    done: dict[Path, Outcome] = {}

    def note(outcome: Outcome) -> None:
        done[outcome.source] = outcome
        if progress is not None:
            progress(len(done), len(tasks))

    if executor is not None:
        lost = _submit(executor, tasks, note, run_task)
        for task in lost:
            note(_failed(task, "its worker died"))
    else:
        _run_processes(tasks, jobs, note)
    return Summary(tuple(done[t.source] for t in tasks), time.perf_counter() - start)


def models_in(directory: Path) -> list[Path]:
    """Return the models in a directory at any depth, in the order of their names."""
    found = (Path(d, name) for d, _, names in os.walk(directory, onerror=_unread) for name in names)
    models = (p for p in found if p.suffix in SUFFIXES and p.is_file())
    return sorted(p for p in models if not p.name.startswith("."))


def _unread(error: OSError) -> NoReturn:
    raise ScatterXError(f"{error.filename}: cannot be read: {error.strerror}") from error


def _tasks(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: Path,
    options: Mapping[str, Any],
    verify: Mapping[str, Any] | None,
) -> list[Task]:
    if isinstance(paths, str | os.PathLike):
        root = Path(paths)
        if not root.is_dir():
            raise ScatterXError(f"{root}: is not a directory; give a list of files, or a directory")
        sources = models_in(root)
        if not sources:
            raise ScatterXError(f"{root}: is a directory without models ({', '.join(SUFFIXES)})")
    else:
        sources = list(dict.fromkeys(Path(p) for p in paths))
        if not sources:
            raise ScatterXError("no model was given")
        root = Path(os.path.commonpath([os.path.abspath(p.parent) for p in sources]))
    if output.exists() and not output.is_dir():
        raise ScatterXError(f"{output}: is not a directory; many models are written to one")
    if output.exists() and output.samefile(root):
        raise ScatterXError(f"{output}: the output is the input; choose another directory")
    places = [output / os.path.relpath(os.path.abspath(p), os.path.abspath(root)) for p in sources]
    if len(set(places)) < len(places):
        raise ScatterXError("two paths name the same model")
    # What an earlier run wrote into a folder of the input is no model to optimize.
    inside = os.path.realpath(output) + os.sep
    pairs = zip(sources, places, strict=True)
    kept = [(s, p) for s, p in pairs if not os.path.realpath(s).startswith(inside)]
    if not kept:
        raise ScatterXError(f"{root}: holds no model outside of {output}")
    return [Task(source, place, options, verify) for source, place in kept]


def _submit(
    executor: Executor,
    tasks: list[Task],
    note: Callable[[Outcome], None],
    run: Callable[[Task], Outcome],
) -> list[Task]:
    """Run tasks in an executor; return those that were lost with a worker."""
    futures: dict[Future[Outcome], Task] = {}
    lost: list[Task] = []
    with _uninterrupted():
        for task in tasks:
            try:
                futures[executor.submit(run, task)] = task
            except BrokenExecutor:
                lost.append(task)
    for future in as_completed(futures):
        error = future.exception()
        if error is None:
            note(future.result())
        elif isinstance(error, BrokenExecutor):
            lost.append(futures[future])
        else:  # such as a Dask worker's death, or an option that cannot be sent to a process
            note(_failed(futures[future], f"could not be run: {one_line(error)}"))
    return lost


def _run_processes(tasks: list[Task], jobs: int | None, note: Callable[[Outcome], None]) -> None:
    workers = min(jobs or os.cpu_count() or 1, max(1, len(tasks)))
    with _processes(workers) as pool:
        lost = _submit(pool, tasks, note, _run_or_leave)
    # A dead process takes the whole pool along, and it is not known whose fault it was.
    for task in lost:
        with _processes(1) as pool:
            for dead in _submit(pool, [task], note, _run_or_leave):
                note(_failed(dead, "its process died, perhaps for want of memory"))


@contextlib.contextmanager
def _processes(workers: int) -> Iterator[ProcessPoolExecutor]:
    # A forked copy of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_die_quietly)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)  # after Ctrl-C nothing more is begun


def _die_quietly() -> None:
    """Let Ctrl-C end a worker without a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _mask_interrupts(signal.SIG_UNBLOCK)
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))


def _run_or_leave(task: Task) -> Outcome:
    """Run a task; after Ctrl-C, when what is half-written has been undone, leave the process."""
    try:
        return run_task(task)
    except SystemExit:
        os._exit(130)  # a worker of the pool would go on with the next task


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off, also in the processes that are started meanwhile."""
    _mask_interrupts(signal.SIG_BLOCK)
    try:
        yield
    finally:
        _mask_interrupts(signal.SIG_UNBLOCK)


def _mask_interrupts(how: int) -> None:
    if hasattr(signal, "pthread_sigmask"):  # not on Windows
        signal.pthread_sigmask(how, {signal.SIGINT})


def run_task(task: Task) -> Outcome:
    """Optimize one model; whatever goes wrong is in the outcome."""
    from onnx_scatterx.api import optimize
    from onnx_scatterx.model_save import place_of
    from onnx_scatterx.verification import verify

    start = time.perf_counter()
    try:
        task.output.parent.mkdir(parents=True, exist_ok=True)
        place_of(task.output, task.source)
        result = optimize(task.source, **task.options)
        same = None
        if task.verify is not None:
            verification = verify(task.source, result.model, **task.verify)
            same = verification.same
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
    return Outcome(task.source, task.output, result.report, same, None, seconds)


def _failed(task: Task, error: str) -> Outcome:
    if not error.startswith(str(task.source)):
        error = f"{task.source}: {error}"
    return Outcome(task.source, task.output, None, None, error, 0.0)
