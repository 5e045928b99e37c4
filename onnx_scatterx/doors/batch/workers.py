"""Runs tasks in an executor or in processes. If a worker dies, its task has an error."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from collections.abc import Generator, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, as_completed
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onnx_scatterx.doors.batch.fixes import leave_out
from onnx_scatterx.doors.batch.pool import run_tasks
from onnx_scatterx.doors.batch.summary import ModelOutcome, failed_outcome
from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.files import Files, Writing, note_read, recorded
from onnx_scatterx.options import Strict, check_words
from onnx_scatterx.processes import NoReply, clear

if TYPE_CHECKING:
    from onnx_scatterx.tell import Command, Report

_CHECKS = ("prove", "strict_zeros", "samples", "seed")  # arguments of a comparison
_SLACK = 0.5  # seconds in which a late task may end itself, before its process is ended


@dataclass(frozen=True)
class Task:
    """One model: its path, its output, and the options of ``optimize`` and ``verify``.

    Without an ``output``, the model is only inspected. With ``external_data``, the weights are
    written beside the output. ``limit`` is how many seconds the task may take. ``read`` are files
    that any task reads: this task must not overwrite them. With ``advice``, the report says what to
    do next, by commands that ask for ``strict``.
    """

    source: Path
    output: Path | None
    options: Mapping[str, Any]
    verify: Mapping[str, Any] | None
    limit: float | None = None
    read: Files = field(default_factory=dict)
    advice: bool = False
    external_data: bool = False
    strict: Strict = False


Events = Generator[Task | ModelOutcome, None, None]
"""A task when it begins, and its outcome when it ends. An executor gives only outcomes."""


def run_in_executor(executor: Executor, tasks: list[Task]) -> Events:
    """Run tasks in an executor."""
    futures: dict[Future[ModelOutcome], Task] = {}
    for task in tasks:
        try:
            futures[executor.submit(run_task, task)] = task
        except BrokenExecutor:
            yield failed(task, "its worker died")
    for future in as_completed(futures):
        error = future.exception()
        if error is None:
            yield future.result()
        elif isinstance(error, BrokenExecutor):
            yield failed(futures[future], "its worker died")
        else:  # such as a Dask worker's death, or an option that cannot be sent to a process
            yield failed(futures[future], f"could not be run: {one_line(error)}")


def run_in_processes(tasks: list[Task], jobs: int | None) -> Events:
    """Run tasks in processes of their own; by default one per core."""
    limit = tasks[0].limit if tasks else None
    limit = None if limit is None else limit + _SLACK
    processes = min(jobs or os.cpu_count() or 1, max(1, len(tasks)))
    results = run_tasks(run_task, tasks, processes, prepare=prepare, limit=limit)
    with contextlib.closing(results):
        for task, result in results:
            if isinstance(result, NoReply) and task.output is not None:
                clear(task.output.parent)
            match result:
                case None:
                    yield task
                case ModelOutcome():
                    yield result
                case NoReply("timeout"):
                    yield _late(task)
                case NoReply("crash"):
                    yield failed(task, "its process died, perhaps because memory was short")
                case NoReply(reason=reason):
                    yield failed(task, f"could not be run: {reason}")


def prepare(_: object) -> None:
    """Import what `run_task` needs; the first task reports a missing module."""
    with contextlib.suppress(ImportError):
        from onnx_scatterx.compare import verify  # noqa: F401 - imported early
        from onnx_scatterx.doors.one_model import made  # noqa: F401 - imported early


def run_task(task: Task) -> ModelOutcome:
    """Optimize or inspect one model; an error becomes a part of the outcome."""
    from onnx_scatterx.compare import verify
    from onnx_scatterx.doors.one_model import made
    from onnx_scatterx.engine.passes import Settings
    from onnx_scatterx.files import MESSAGE_LIMIT, stage

    start = time.perf_counter()

    def left() -> float | None:
        """Return how many seconds remain for the task."""
        if task.limit is None:
            return None
        rest = task.limit - (time.perf_counter() - start)
        if rest <= 0:
            raise _LateError
        return rest

    try:
        with recorded(), Writing(task.read) as writing:
            if task.output is not None:
                note_read(task.source, "the input")
                writing.make_directory(task.output.parent)
                writing.claim(task.output, "the output")
            chosen = Settings.of(**task.options)
            done = made(
                task.source,
                chosen,
                writes=task.output is not None,
                details=True,
                leave_out=leave_out,
                command=partial(_command, task) if task.advice else None,
            )
            left()
            if task.output is None:
                return done.outcome(task.source, None, start)
            staged = stage(
                done.model,
                task.output,
                writing,
                source_path=task.source,
                message_limit=0 if task.external_data else MESSAGE_LIMIT,
                one_file=chosen.target.one_file,
            )
            verification = None
            if task.verify is not None:
                checks = dict(task.verify)
                if (rest := left()) is not None:
                    checks["timeout"] = min(rest, checks.get("timeout", rest))
                verification = verify(task.source, staged.model(), **checks)
                if not verification.agrees:
                    writing.drop()
            left()
            if verification is not None and verification.answer == "not compared":
                return failed(task, verification.shortfall)
    except _LateError:
        return _late(task)
    except ScatterXError as error:
        return failed(task, one_line(error))
    except OSError as error:
        return failed(task, f"{error.filename or task.output}: {error.strerror or error}")
    except Exception as error:  # one model that shows a bug must not stop the others
        return failed(task, f"a bug, please report it: {type(error).__name__}: {one_line(error)}")
    return done.outcome(task.source, task.output, start, verification, staged.files)


def _command(task: Task, report: Report) -> Command:
    """Return the command that optimizes the model of a task alone, to a file of any name."""
    from onnx_scatterx.tell import Command

    options = () if report.about is None else report.about.options
    words = tuple(word for option in options for word in shlex.split(option))
    said = task.verify or {}
    named = {name: said[name] for name in _CHECKS if name in said}
    checks = check_words(strict=task.strict, verify=task.verify is not None, **named)
    return Command(str(task.source), "OUT.onnx", task.options["target"].text, words, checks)


class _LateError(Exception):
    """A task has exceeded its time limit."""


def _late(task: Task) -> ModelOutcome:
    limit = task.limit or 0.0
    written = "" if task.output is None else ", and is not written"
    return failed(task, f"took longer than {limit:g} s{written}", limit)


def failed(task: Task, error: str, seconds: float = 0.0) -> ModelOutcome:
    """Return the outcome of a task that failed: no file is written."""
    return failed_outcome(task.source, task.output, error, seconds)
