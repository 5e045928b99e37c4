"""What the command line prints and writes besides models."""

from __future__ import annotations

import contextlib
import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from onnx_scatterx.errors import ScatterXError, one_line


def show(content: object) -> None:
    """Print to stdout: in color on a terminal, else as text that any encoding can hold."""
    if sys.stdout is None:  # closed by the shell
        return
    if sys.stdout.isatty():
        from rich.console import Console

        console = Console(markup=False, highlight=False, soft_wrap=not hasattr(content, "__rich__"))
        console.print(content if hasattr(content, "__rich__") else str(content))
        return
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(f"{content}\n".encode(encoding, "backslashreplace").decode(encoding))


def complain(message: object, status: int) -> int:
    """Print one line to stderr and return the exit status."""
    if sys.stderr is not None:  # closed by the shell; print would take stdout for it
        print(f"onnx-scatterx: {one_line(message, 1000)}", file=sys.stderr)
    return status


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function to tell (done, wanted) to, which shows on a terminal; else None."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, wanted: bar.update(task, completed=done, total=wanted)


def report_place(report: str | None, others: Sequence[str]) -> Path:
    """Return the path of a report; ScatterXError where it is no place for one.

    With no report, that is the null device.
    """
    if report is None:
        return Path(os.devnull)
    path = Path(report)
    if path.suffix not in (".json", ".html"):
        raise ScatterXError(f"{report}: a report is .json or .html")
    if any(os.path.realpath(path) == os.path.realpath(other) for other in others):
        raise ScatterXError(f"{report}: is the model; choose another path for the report")
    if path.is_dir():
        raise ScatterXError(f"{report}: is a directory; name a file in it")
    if not path.parent.is_dir():
        raise ScatterXError(f"{report}: the directory {path.parent} does not exist")
    return path


@contextlib.contextmanager
def in_whole(path: Path, text: Callable[[], str]) -> Iterator[None]:
    """Write a text file, which appears when the block ends, or not if the block fails."""
    if path == Path(os.devnull):
        yield
        return
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        try:
            temporary.write_text(text(), encoding="utf-8")
        except OSError as error:
            raise ScatterXError(f"{path}: cannot be written: {error.strerror or error}") from error
        yield
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
