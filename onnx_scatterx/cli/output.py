"""What the command line prints and writes besides models."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.files.writing import Writing


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


def report_place(report: str | None, writing: Writing) -> Path | None:
    """Return the path of a report, if there is to be one; ScatterXError if it cannot be there."""
    if report is None:
        return None
    path = Path(report)
    if path.suffix not in (".json", ".html"):
        raise ScatterXError(f"{report}: a report is .json or .html")
    writing.claim(path, "the report")
    return path
