"""Two models in ONNX Runtime, of which at most two sessions are loaded at once.

A model has a session without graph optimizations, and one under the default options. The session
that was used last but one is freed for another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from onnx_scatterx.errors import VerifyError
from onnx_scatterx.processes import NoReply
from onnx_scatterx.runtime import Runner

_MOST = 2


@dataclass
class TwoSessions:
    """Two models. Each process loads its model without optimizations from its start on."""

    before: Runner
    after: Runner
    timeout: float  # seconds to load a model
    _loaded: list[tuple[Runner, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._loaded = [(self.before, False), (self.after, False)]

    def load(self, runner: Runner, *, fused: bool = False) -> NoReply | None:
        """Load a model; if memory is short, end the other model's process and load again."""
        self._make_room(runner, fused)
        failure = runner.load(self.timeout, fused=fused)
        if failure is None or not failure.is_of_memory:
            return failure
        self._other(runner).close()
        failure = runner.reload(self.timeout, fused=fused)
        if failure is not None and failure.is_of_memory and runner is self.after:
            raise VerifyError(f"not enough memory to load the second model: {failure.reason}")
        return failure

    def run(
        self,
        runner: Runner,
        feeds: Mapping[str, np.ndarray],
        timeout: float,
        *,
        fused: bool = False,
        again: bool = True,
    ) -> dict[str, np.ndarray] | NoReply:
        """Run a model; if memory is short, end both processes and run ``again``."""
        self._make_room(runner, fused)
        answer = runner.run(feeds, timeout, fused=fused)
        if not again or not isinstance(answer, NoReply) or not answer.is_of_memory:
            return answer
        self._other(runner).close()
        runner.close()  # its process may keep memory of earlier runs
        return runner.run(feeds, timeout, fused=fused)

    def fused_nodes(self) -> list[Counter[tuple[str, str]] | None]:
        """Return what optimizations add to each model; a session is opened for this, and freed."""
        found = []
        for runner in (self.before, self.after):
            while self._loaded:
                self._free()
            found.append(runner.fused_nodes(self.timeout))
        return found

    def _make_room(self, runner: Runner, fused: bool) -> None:
        if (runner, fused) in self._loaded:
            self._loaded.remove((runner, fused))
        while len(self._loaded) >= _MOST:
            self._free()
        self._loaded.append((runner, fused))

    def _free(self) -> None:
        runner, fused = self._loaded.pop(0)
        runner.drop(fused=fused)

    def _other(self, runner: Runner) -> Runner:
        return self.before if runner is self.after else self.after
