"""Reports the progress of a call to callbacks and to the log: long tasks get an `Observer`.

A stage has a name, how much of it is done, and its total. Both numbers are 0 if they are not known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from onnx_scatterx.text import visible

if TYPE_CHECKING:
    import onnx_ir as ir

Progress: TypeAlias = Callable[[str, int, int], None]
"""A callback for the name of a stage, how much of it is done, and its total (0 if unknown)."""

Counted: TypeAlias = Callable[[int, int], None]
"""A callback for how much of a task is done, and its total."""

Watch: TypeAlias = "Callable[[str, ir.Model], None]"
"""A callback for the name of each pass after it has run, and the changed model."""

LOG = logging.getLogger("onnx_scatterx")


@dataclass(frozen=True)
class Observer:
    """Reports stages and passes, each to a callback, and both to the log ``onnx_scatterx``.

    The log has a line at INFO when a stage begins, and other lines at DEBUG.

    >>> stages = []
    >>> observer = Observer(lambda *stage: stages.append(stage))
    >>> observer.stage("reading")
    >>> observer.counted("verifying")(1, 40)
    >>> stages
    [('reading', 0, 0), ('verifying', 1, 40)]
    """

    progress: Progress | None = None
    watch: Watch | None = None

    def stage(self, name: str, done: int = 0, total: int = 0, what: object = "") -> None:
        """Report that a stage begins, or its progress; ``what`` is for the log."""
        level = logging.DEBUG if done else logging.INFO
        if LOG.isEnabledFor(level):
            of = f" {done} of {total}" if total else ""
            LOG.log(level, "%s%s%s", name, of, f": {visible(what)}" if what else "")
        if self.progress is not None:
            self.progress(name, done, total)

    def counted(self, name: str) -> Counted:
        """Return the callback for the progress of one stage."""
        return lambda done, total: self.stage(name, done, total)

    def passed(self, name: str, model: ir.Model) -> None:
        """Report that a pass has run."""
        LOG.debug("ran the pass %s", name)
        if self.watch is not None:
            self.watch(name, model)


NOBODY = Observer()
"""An observer that reports only to the log."""


class Tally:
    """How many items of a stage are done: an observer is told of each once, by its name.

    >>> stages = []
    >>> tally = Tally(Observer(lambda *stage: stages.append(stage)), "planning", {1: "a", 2: "b"})
    >>> tally.note(2, 3)
    >>> tally.note(2)
    >>> stages
    [('planning', 1, 2)]
    """

    def __init__(
        self,
        observer: Observer = NOBODY,
        stage: str = "",
        names: Mapping[Any, str] | None = None,
    ) -> None:
        self._observer, self._stage, self._names = observer, stage, names or {}
        self._done: set[Hashable] = set()

    def note(self, *items: Hashable) -> None:
        """Report items that are done, or begun; others than those of the stage do not count."""
        new = [item for item in items if item in self._names and item not in self._done]
        if new:
            self._done.update(new)
            done, total = len(self._done), len(self._names)
            self._observer.stage(self._stage, done, total, self._names[new[-1]])
