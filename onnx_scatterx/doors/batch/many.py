"""Optimizes or inspects many models at once, and returns a summary with a line for each model.

Only paths are sent to workers, and only reports come back. So any executor of
``concurrent.futures`` works, even if its workers are on other machines with the same files.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn, Unpack

from onnx_scatterx.doors.batch.fixes import note_lacking
from onnx_scatterx.doors.batch.gate import Gate
from onnx_scatterx.doors.batch.summary import ModelOutcome, Summary
from onnx_scatterx.doors.batch.workers import Task, run_in_executor, run_in_processes
from onnx_scatterx.engine.passes import Settings, as_it_is
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import known_reads, recorded
from onnx_scatterx.observer import Observer, Progress
from onnx_scatterx.options import Options, comparison
from onnx_scatterx.processes import is_scratch

SUFFIXES = (".onnx", ".onnxtxt")
_NAMED = 3  # the most models whose names the progress shows


def models_in(directory: Path) -> list[Path]:
    """Return the models in a directory at any depth, in the order of their names."""
    models = []
    for folder, below, names in os.walk(directory, onerror=_unread):
        below[:] = (name for name in below if not is_scratch(name))  # a running command's files
        models += [Path(folder, n) for n in names if n.endswith(SUFFIXES) and n[0] != "."]
    return sorted(path for path in models if path.is_file())


def _unread(error: OSError) -> NoReturn:
    raise ScatterXError(f"{error.filename}: cannot be read: {error.strerror}") from error


def sources_of(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> tuple[Path, list[Path]]:
    """Return the models, and the deepest directory that they share."""
    if isinstance(paths, str | os.PathLike):
        root = Path(paths)
        if not root.is_dir():
            raise ScatterXError(f"{root}: is not a directory; give a list of files, or a directory")
        sources = models_in(root)
        if not sources:
            raise ScatterXError(f"{root}: is a directory without models ({', '.join(SUFFIXES)})")
        return root, sources
    sources = list(dict.fromkeys(Path(p) for p in paths))
    if not sources:
        raise ScatterXError("no model was given")
    return Path(os.path.commonpath([os.path.abspath(p.parent) for p in sources])), sources


def pairs_of(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], output: Path
) -> list[tuple[Path, Path]]:
    """Return each model and its output path."""
    root, sources = sources_of(paths)
    if output.exists() and not output.is_dir():
        raise ScatterXError(f"{output}: is not a directory; many models are written to one")
    if output.exists() and output.samefile(root):
        raise ScatterXError(f"{output}: the output is the input; choose another directory")
    outputs = [output / os.path.relpath(os.path.abspath(p), os.path.abspath(root)) for p in sources]
    if len({os.path.realpath(path) for path in outputs}) < len(outputs):
        raise ScatterXError("two paths name the same model, or would be written to the same place")
    # The output of an earlier run in a folder of the input is not a model to optimize.
    inside = os.path.realpath(output) + os.sep
    pairs = zip(sources, outputs, strict=True)
    kept = [(s, p) for s, p in pairs if not os.path.realpath(s).startswith(inside)]
    if not kept:
        raise ScatterXError(f"{root}: holds no model outside of {output}")
    return kept


def read_elsewhere(pairs: list[tuple[Path, Path]]) -> dict[Path, dict[Path, str]]:
    """Return for each output directory the files in it that this call reads, with their roles.

    The models are opened, for the names of their data, only if an output directory has files.
    """
    folders = {output_path.parent for _, output_path in pairs}
    there = {folder: files for folder in folders if (files := _files_in(folder))}
    if there:
        from onnx_scatterx.files import note_model

        for source, _ in pairs:
            note_model(source)
    read = known_reads()
    return {
        folder: {file: what for file in files if (what := read.find(file)) is not None}
        for folder, files in there.items()
    }


def _files_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_file()]
    except OSError:  # the folder does not exist yet, or the task reports the error
        return []


def optimize_many(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    verify: bool | Mapping[str, Any] = False,
    timeout: float | None = None,
    advice: bool = False,
    on_progress: Progress | None = None,
    external_data: bool = False,
    **options: Unpack[Options],
) -> Summary:
    """Optimize many models, and write them to a directory.

    If a model cannot be read, optimized or written in time, the summary has the error, and the
    other models are still processed. No file that the call reads is replaced.

    Args:
        paths: files, or one directory that is searched for ``.onnx`` and ``.onnxtxt`` at any depth.
        output: a directory, which is made if it is missing. The models stand in it as they stand
            in the deepest directory that has all of them.
        executor: any executor of ``concurrent.futures`` (a Dask client's ``get_executor()``, too).
            Without an executor, processes are started, and a script needs the usual
            ``if __name__ == "__main__"``.
        jobs: how many processes; one per core by default.
        verify: run each model before and after, and write a result only if the outputs are the
            same. A mapping has the arguments of ``onnx_scatterx.verify``.
        timeout: how many seconds one model may take. A process that takes longer is ended, and the
            model is not written. A worker of an ``executor`` cannot be ended: it checks the time
            between its steps, and stays busy until its step is done.
        advice: let the reports say what to do next, as ``advise`` does, and which options give a
            smaller result.
        on_progress: is called each time that a model begins or ends:
            ``on_progress("optimizing: a.onnx, b.onnx", done, total)``. The stage has the names of
            at most three models at work. With an ``executor``, the stage is ``"optimizing"``.
        external_data: write the weights of each model to a file beside it.
        **options: the options of ``optimize``. A name of ``fix`` that a model lacks is left out for
            this model, and the summary says so. If no model has it, the log says so, too.

    Returns:
        The outcome of each model, in the order in which they were given.

    Raises:
        ScatterXError: there is no model, the models cannot be written to the directory, or an
            option is wrong for every model, such as an unknown target.

    Example:
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
    return optimize_for(
        Gate(),
        paths,
        output,
        executor=executor,
        jobs=jobs,
        verify=verify,
        timeout=timeout,
        advice=advice,
        on_progress=on_progress,
        external_data=external_data,
        **options,
    )


def optimize_for(
    gate: Gate,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    verify: bool | Mapping[str, Any] = False,
    timeout: float | None = None,
    advice: bool = False,
    on_progress: Progress | None = None,
    external_data: bool = False,
    **options: Unpack[Options],
) -> Summary:
    """Optimize many models as `optimize_many` does, for a gate.

    The commands in the reports ask for what the gate asks for, and the summary has the gate.
    """
    _check_limits(jobs, timeout)
    checks = comparison(verify, options)
    with recorded():
        checked = _checked(options)
        pairs = pairs_of(paths, Path(output))
        note_lacking((source for source, _ in pairs), checked.get("fix"))
        read = read_elsewhere(pairs)
    tasks = [
        Task(
            source,
            output_path,
            checked,
            checks,
            timeout,
            read.get(output_path.parent, {}),
            advice,
            external_data,
            gate.strict,
        )
        for source, output_path in pairs
    ]
    summary = _run(tasks, executor, jobs, Observer(on_progress), "optimizing")
    return replace(summary, gate=gate)


def inspect_many(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    timeout: float | None = None,
    as_is: bool = False,
    on_progress: Progress | None = None,
    **options: Unpack[Options],
) -> Summary:
    """Inspect many models; nothing is written.

    The arguments and the errors are those of ``optimize_many``, and ``as_is`` is that of
    ``inspect``. A model that cannot be read is a
    line in the summary, and never stops the other models.

    Returns:
        The planned outcome of each model, in the order in which they were given.

    Example:
        >>> import tempfile
        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as threads:
        ...     head = '<ir_version: 8, opset_import: ["": 18]> g (float x) => (float y)'
        ...     _ = Path(folder, "neg.onnxtxt").write_text(head + "{ y = Neg(x) }")
        ...     summary = inspect_many(folder, executor=threads)
        >>> [outcome.done for outcome in summary.outcomes]
        ['no scatter in this model']

    """
    _check_limits(jobs, timeout)
    with recorded():
        checked = _checked(as_it_is(options) if as_is else options)
        _, sources = sources_of(paths)
        note_lacking(sources, checked.get("fix"))
    tasks = [Task(source, None, checked, None, timeout) for source in sources]
    return _run(tasks, executor, jobs, Observer(on_progress), "inspecting")


def _check_limits(jobs: int | None, timeout: float | None) -> None:
    if jobs is not None and jobs < 1:
        raise ScatterXError(f"jobs is {jobs}, and must be 1 or more")
    if timeout is not None and not 0 < timeout < math.inf:
        raise ScatterXError(f"timeout is {timeout}, and must be a number of seconds above 0")


def _run(
    tasks: list[Task],
    executor: Executor | None,
    jobs: int | None,
    observer: Observer,
    stage: str,
) -> Summary:
    """Run tasks, and report the progress: how many tasks are done, and which models are at work."""
    start = time.perf_counter()
    done: dict[Path, ModelOutcome] = {}
    at_work: dict[Path, None] = {}
    events = run_in_processes(tasks, jobs) if executor is None else run_in_executor(executor, tasks)
    with contextlib.closing(events):
        for event in events:
            if isinstance(event, ModelOutcome):
                done[event.source] = event
                at_work.pop(event.source, None)
            else:
                at_work[event.source] = None
            names = [path.name for path in at_work]
            if len(names) > _NAMED:
                names[_NAMED:] = ["..."]
            working = f"{stage}: {', '.join(names)}" if names else stage
            observer.stage(working, len(done), len(tasks))
    return Summary(tuple(done[t.source] for t in tasks), time.perf_counter() - start)


def _checked(options: Options) -> dict[str, Any]:
    """Return the options with the target as a `Target`; ScatterXError if one is always wrong.

    So the options are checked once, and not by each worker for each model.
    """
    return {**options, "target": Settings.of(**options).target}
