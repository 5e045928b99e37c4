"""Shows the progress of a command on stderr, if stderr is a terminal, from half a second on.

A thread draws the line, so that a long step is shown while it runs.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from onnx_scatterx.text.visible_text import visible

if TYPE_CHECKING:
    import rich.progress

    from onnx_scatterx.observer import Progress

PATIENCE = 0.5  # seconds before the line is shown
_SPEED = 600.0  # the remaining time is estimated from the steps of so many seconds


@contextlib.contextmanager
def stages(*, quiet: bool = False) -> Iterator[Progress | None]:
    """Yield a function that shows (stage, done, total); None if stderr is no terminal."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    try:
        display = _Display()
    except RuntimeError:  # this Python starts no threads
        yield None
        return
    try:
        yield display.tell
    finally:
        display.close()


class _Display:
    """A line with the stage. A thread draws the line, from ``PATIENCE`` seconds on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._said = ("", 0, 0)
        self._bar: rich.progress.Progress | None = None
        self._timer = threading.Timer(PATIENCE, self._begin)
        self._timer.daemon = True
        self._timer.start()

    def tell(self, stage: str, done: int, total: int) -> None:
        """Show a stage, and how much of it is done."""
        with self._lock:
            self._said = (stage, done, total)
            self._show()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import (
            Progress,
            SpinnerColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.table import Column

        text = TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis"),
        )
        eta = TextColumn("{task.fields[eta]}"), TimeRemainingColumn()
        columns = SpinnerColumn(), TimeElapsedColumn(), text, *eta
        with self._lock:
            console = Console(stderr=True)
            self._bar = Progress(
                *columns, console=console, transient=True, speed_estimate_period=_SPEED
            )
            self._bar.add_task("", eta="")
            self._show()
            self._bar.start()

    def _show(self) -> None:
        if self._bar is not None:
            stage, done, total = self._said
            what, colon, names = visible(stage).partition(": ")
            count = f" {done} of {total}" if total else ""
            self._bar.update(
                self._bar.task_ids[0],
                description=f"{what}{count}{colon}{names}",
                completed=done,
                total=total or None,
                eta="eta" if total else "",
            )

    def close(self) -> None:
        """Remove the line."""
        self._timer.cancel()
        self._timer.join()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
