"""Reports the progress of a call to callbacks and to the log: long tasks get an `Observer`.

A stage has a name, how much of it is done, and its total. Both numbers are 0 if they are not known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from onnx_scatterx.text.visible_text import visible

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
