"""Many models at once: each is read, optimized and written by a worker, and is a line of a summary.

Only paths and reports travel to workers and back, so that any executor of ``concurrent.futures``
will do, also one whose workers are on other machines with the same files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NoReturn

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.many.summary import Outcome, Summary
from onnx_scatterx.many.workers import Task, run_in_executor, run_in_processes

SUFFIXES = (".onnx", ".onnxtxt")

Progress = Callable[[int, int], None]


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
    others. Raises ScatterXError where there is nothing to read or nowhere to write, and where the
    target, the rules, the operator set or the form of an assumption are wrong for any model.

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
    tasks = _tasks(paths, Path(output), _checked(options), checks)
    start = time.perf_counter()
    done: dict[Path, Outcome] = {}

    def note(outcome: Outcome) -> None:
        done[outcome.source] = outcome
        if progress is not None:
            progress(len(done), len(tasks))

    if executor is not None:
        run_in_executor(executor, tasks, note)
    else:
        run_in_processes(tasks, jobs, note)
    return Summary(tuple(done[t.source] for t in tasks), time.perf_counter() - start)


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of ``optimize`` with the target read; raise where no model can take them.

    So they are looked at once, and not by each worker for each model.
    """
    from onnx_scatterx.model.opset import check_known
    from onnx_scatterx.settings import Settings
    from onnx_scatterx.targets import target_of

    found = {**options, "target": target_of(options.get("target", "scatterx"))}
    Settings.of(
        found["target"], found.get("rules"), bool(found.get("distrust_dims")), found.get("assume")
    )
    if found.get("opset") is not None:
        check_known(found["opset"])
    return found


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
