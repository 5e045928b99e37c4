"""How far a call is: one object tells callers and the log, and is handed to whatever takes long.

Stages are told by their names, with how much is done of how much: 0 of 0 where nobody can say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from onnx_scatterx.text.visible import visible

if TYPE_CHECKING:
    import onnx_ir as ir

Progress: TypeAlias = Callable[[str, int, int], None]
"""Is told a stage by its name, how much of it is done, and of how much (0 if unknown)."""

Counted: TypeAlias = Callable[[int, int], None]
"""Is told how much of one thing is done, and of how much."""

Watch: TypeAlias = "Callable[[str, ir.Model], None]"
"""Is called after each pass, with its name and the model as it is then."""

LOG = logging.getLogger("onnx_scatterx")


@dataclass(frozen=True)
class Observer:
    """Tells of stages and of passes: a callback each, and the log ``onnx_scatterx``.

    The log has a line at INFO when a stage begins, and the rest at DEBUG.

    >>> told = []
    >>> observer = Observer(lambda *stage: told.append(stage))
    >>> observer.stage("reading")
    >>> observer.counted("verifying")(1, 40)
    >>> told
    [('reading', 0, 0), ('verifying', 1, 40)]
    """

    progress: Progress | None = None
    watch: Watch | None = None

    def stage(self, name: str, done: int = 0, total: int = 0, what: object = "") -> None:
        """Tell that a stage begins, or how far it is; ``what`` is for the log."""
        level = logging.DEBUG if done else logging.INFO
        if LOG.isEnabledFor(level):
            of = f" {done} of {total}" if total else ""
            LOG.log(level, "%s%s%s", name, of, f": {visible(what)}" if what else "")
        if self.progress is not None:
            self.progress(name, done, total)

    def counted(self, name: str) -> Counted:
        """Return what tells of one stage how far it is."""
        return lambda done, total: self.stage(name, done, total)

    def passed(self, name: str, model: ir.Model) -> None:
        """Tell that a pass has run."""
        LOG.debug("ran the pass %s", name)
        if self.watch is not None:
            self.watch(name, model)


NOBODY = Observer()
"""Tells the log alone."""
