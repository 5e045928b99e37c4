"""How far a command is, on stderr if that is a terminal: shown after half a second, to the end.

A thread draws, so that a step that takes long is seen while it runs.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from onnx_scatterx.text.visible import visible

if TYPE_CHECKING:
    import rich.progress

    from onnx_scatterx.system.observer import Progress

PATIENCE = 0.5  # seconds in which nothing is shown
_NAMES = 3  # of models that are at work
_FEW = 3  # models, from which nothing is estimated


@contextlib.contextmanager
def stages(*, quiet: bool = False) -> Iterator[Progress | None]:
    """Give a function to tell (stage, done, wanted) to, which a terminal shows; else None."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    display = _Display()
    try:
        yield display.tell
    finally:
        display.close()


class _Display:
    """A line that says the stage; it is drawn by a thread, once the patience is over."""

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
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.table import Column

        text = TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis"),
        )
        columns = SpinnerColumn(), TimeElapsedColumn(), text
        with self._lock:
            console = Console(stderr=True)
            self._bar = Progress(*columns, console=console, transient=True)
            self._bar.add_task("")
            self._show()
            self._bar.start()

    def _show(self) -> None:
        if self._bar is not None:
            stage, done, total = self._said
            text = f"{visible(stage)} {done} of {total}" if total else visible(stage)
            self._bar.update(self._bar.task_ids[0], description=text)

    def close(self) -> None:
        """Take the line away."""
        self._timer.cancel()
        self._timer.join()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None


class Batch:
    """Many models: how many are done, which are at work, and how long the rest may take."""

    def __init__(self, tell: Progress, what: str) -> None:
        self._tell = tell
        self._what = what
        self._begun: dict[Path, float] = {}
        self._taken: list[float] = []
        self._counts = (0, 0)
        self._most = 1  # at work at once
        tell(what, 0, 0)

    def done(self, _: str, done: int, total: int) -> None:
        """Take note of how many are done."""
        self._counts = (done, total)
        self._show()

    def running(self, models: Sequence[Path]) -> None:
        """Take note of those that are at work."""
        now = time.monotonic()
        self._taken += [
            now - self._begun.pop(path) for path in [*self._begun] if path not in models
        ]
        self._begun.update((path, now) for path in models if path not in self._begun)
        self._most = max(self._most, len(self._begun))
        self._show()

    def _show(self) -> None:
        done, total = self._counts
        names = [path.name for path in self._begun]
        more = ", ..." if len(names) > _NAMES else ""
        at_work = f": {', '.join(names[:_NAMES])}{more}" if names else ""
        left = remaining(self._taken, total - done, self._most)
        count = f" {done}/{total}" if total else ""
        self._tell(f"{self._what}{count}{at_work}{left}", 0, 0)


def remaining(taken: Sequence[float], left: int, processes: int) -> str:
    """Return an estimate of the remaining time, if the finished models allow one.

    It is an interval of two standard errors, because models differ. With few finished models it is
    empty.

    >>> remaining([1.0, 2.0], 10, 1), remaining([2.0, 2.1, 1.9, 2.0], 30, 1)
    ('', ', about 60 s left')
    >>> remaining([1.0, 2.0, 60.0, 3.0, 5.0], 20, 2)
    ', up to 7 min left'
    """
    if len(taken) < _FEW or left <= 0:
        return ""
    mean, spread = fmean(taken), stdev(taken)
    error = 2 * spread * math.sqrt(left + left * left / len(taken))
    low, high = (max(0.0, left * mean + side * error) / processes for side in (-1, 1))
    if low < high / 5:
        return f", up to {_duration(high)} left"
    if high > 1.5 * low:
        return f", {_duration(low)} to {_duration(high)} left"
    return f", about {_duration((low + high) / 2)} left"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
