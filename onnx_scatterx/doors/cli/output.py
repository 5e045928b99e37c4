"""Prints and writes everything that the command line shows besides models.

No other module of the package writes to stdout or stderr.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import traceback
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.observer import LOG
from onnx_scatterx.text import as_json, in_lines, visible

if TYPE_CHECKING:
    from onnx_scatterx.tell import Report


DONE, NO, FAILED, SIGNAL = 0, 1, 2, 128
"""The exit statuses. If a signal ends a process, its status is SIGNAL plus the signal's number."""


def show(content: object) -> None:
    """Print a line, or an object that has tables, to stdout.

    A terminal gets tables in colors, or without colors if NO_COLOR is set. A pipe gets lines with
    tabs between the cells, or what a terminal gets if FORCE_COLOR is set.
    """
    if sys.stdout is None:  # closed by the shell
        return
    if isinstance(content, str):
        _write(visible(content))
    elif hasattr(content, "plain") and (sys.stdout.isatty() or os.environ.get("FORCE_COLOR")):
        from rich.console import Console

        from onnx_scatterx.tell import laid_out

        console = Console(
            color_system=None if os.environ.get("NO_COLOR") else "auto",
            markup=False,
            highlight=False,
            emoji=False,
        )
        _write(laid_out(content, console).removesuffix("\n"))
    else:
        show_plain(content.plain() if hasattr(content, "plain") else str(content))


def show_result(result: Any, *, json: bool) -> None:
    """Print a result as `show` does, or as JSON by its ``to_dict``."""
    if json:
        show_text(as_json(result))
    else:
        show(result)


def show_report(report: Report, *, verbose: bool, **more: Any) -> None:
    """Print a report on one screen, or all of it; ``more`` are arguments of ``tell.screen``."""
    from onnx_scatterx.tell import screen

    show(screen(report, whole=verbose, **more))


def show_missing_library(reports: Iterable[Report]) -> None:
    """Print a line if a result has ScatterX nodes, and this installation no library for them."""
    if not any(report.ops_after.get("ScatterX") for report in reports):
        return
    from onnx_scatterx.runtime import missing_library

    try:
        missing = missing_library()
    except ScatterXError as error:
        missing = str(error)
    if missing is not None:
        show(f"here ScatterX runs as functions, which is slower: {missing}")


def terminal_width() -> int:
    """Return how many letters a line of stdout has; 100 if stdout is not a terminal."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 100
    return shutil.get_terminal_size((100, 0)).columns


def show_plain(text: str) -> None:
    """Print lines whose cells are separated by tabs."""
    _write("\n".join("\t".join(map(visible, line.split("\t"))) for line in text.split("\n")))


def show_text(text: str, *, err: bool = False) -> None:
    """Print a text whose line breaks are its own, such as JSON; with ``err`` to stderr."""
    (_to_stderr if err else _write)(in_lines(text.split("\n")))


def _write(text: str) -> None:
    if sys.stdout is not None:
        encoding = sys.stdout.encoding or "utf-8"  # may lack some characters of the text
        sys.stdout.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))


def print_error(message: object, status: int) -> int:
    """Print one line to stderr and return the exit status."""
    _to_stderr(f"onnx-scatterx: {one_line(message, 1000)}")
    return status


def end_line() -> None:
    """End the line of stderr if this is a terminal, which may have echoed a key."""
    if sys.stderr is not None and sys.stderr.isatty():
        _to_stderr("")


def report_bug(error: Exception, status: int) -> int:
    """Print the source of a bug, and ask the user to report it; return the exit status."""
    for part in traceback.format_exception(error):
        _to_stderr(in_lines(part.rstrip("\n").split("\n")))
    return print_error("this is a bug in onnx-scatterx, please report it", status)


def _to_stderr(text: str) -> None:
    if sys.stderr is not None:  # closed by the shell; print would take stdout for it
        print(text, file=sys.stderr)


@contextlib.contextmanager
def quiet_libraries(*, errors_only: bool = False) -> Iterator[None]:
    """Suppress the logs and warnings of libraries; our own warnings are a line each, or none."""
    nobody, ours = logging.NullHandler(), _Lines(logging.ERROR if errors_only else logging.WARNING)
    logging.getLogger().addHandler(nobody)
    LOG.addHandler(ours)
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("ignore")
            yield
    finally:
        LOG.removeHandler(ours)
        logging.getLogger().removeHandler(nobody)


class _Lines(logging.Handler):
    """Prints each record as one line to stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        print_error(record.getMessage(), DONE)
