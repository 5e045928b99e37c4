"""Runs two models on one draw after another, and compares their outputs.

Each draw is run without graph optimizations at first. When all draws were, both models are loaded
under ONNX Runtime's default options. If the first model gives the same bits there, the two are
compared under these options, too. Then floats may differ by rounding if ONNX Runtime fuses
different nodes of the two models. If the first model runs only under the default options, the
models are compared there alone, and rounding counts.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.compare.draws import FEW, MOST_DRAWS, Draw, Refusals, SampleSource
from onnx_scatterx.compare.equality import Equality
from onnx_scatterx.compare.result import Difference, Verification
from onnx_scatterx.compare.two_sessions import TwoSessions
from onnx_scatterx.compare.waiting_draws import Waiting, WaitingDraws, digest
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.processes import NoReply
from onnx_scatterx.runtime import Runner

_DIFFERING_DRAWS = 3  # after so many draws with a difference, no more are run
_REASONS = 3
_OTHERS = 1  # if runs are much work, and so many first draws have other bits, the others do, too
_DOUBTS = (4, 8, 16, 32, 64, 128)  # these draws are run under the default options, too


@dataclass
class SessionPair:
    """Two running models, and the answer after the runs so far."""

    before: Runner
    after: Runner
    timeout: float  # seconds of one run, and those after which no draw begins
    equal: Equality = field(default_factory=Equality)
    directory: Path | None = None  # where large inputs are kept
    only_fused: bool = False  # whether the first model loads under the default options only

    def __post_init__(self) -> None:
        missing = self.before.missing
        self.so_far = Verification(0, 0, tolerance=self.equal.tolerance, missing=missing)
        self._sessions = TwoSessions(self.before, self.after, self.timeout)
        self._waiting = WaitingDraws(self.directory)
        self._refusal = ""  # the error of the last draw

    def _add(self, **more: Any) -> None:
        """Add numbers and entries to the fields of the answer."""
        changed = {name: getattr(self.so_far, name) + added for name, added in more.items()}
        self.so_far = replace(self.so_far, **changed)

    def load(self) -> str | None:
        """Wait for both models; return why only the second one does not load, or None.

        The first model may load under the default options only.
        """
        failure = self.before.load(self.timeout)
        if failure is None:
            missing = self._sessions.load(self.after)
            if missing is not None and _UNKNOWN_OPERATOR.search(missing.reason):
                raise VerifyError(_cannot_load("the second model", missing.reason, self.after))
            return None if missing is None else f"the second model does not load: {missing.reason}"
        fused = failure.kind == "error" and self._sessions.load(self.before, fused=True) is None
        if not fused:
            raise VerifyError(_cannot_load("the first model", failure.reason, self.before))
        self.only_fused = True
        return self._fused_failure()

    def _fused_failure(self) -> str | None:
        """Load the second model under the default options; return why it does not load."""
        failure = self._sessions.load(self.after, fused=True)
        if failure is None:
            return None
        return f"the second model does not load under the default options: {failure.reason}"

    def _run(
        self, runner: Runner, draw: Draw, timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray] | NoReply:
        answer = self._sessions.run(runner, draw.feeds, timeout, fused=fused)
        # Under the default options the first model need not run.
        needed = not self.so_far.differences and (runner is self.after or not fused)
        if needed and isinstance(answer, NoReply) and answer.is_of_memory:
            which = "second" if runner is self.after else "first"
            raise VerifyError(f"not enough memory for the {which} model on {draw}: {answer.reason}")
        return answer

    def many(
        self,
        source: SampleSource,
        samples: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Run draws until enough were accepted, or more draws would show nothing new.

        Without ``samples``, so many are enough as follow from the work of a run.
        """
        deadline = time.monotonic() + self.timeout  # the time of a proof does not count
        before, refusals = self.so_far.accepted, Refusals()
        wanted = (MOST_DRAWS if samples is None else samples) if source.varies else 1
        for draw, sizes, overridden in source.draws(wanted):
            accepted = self.one(draw)
            source.tell(sizes, accepted, overridden, self._refusal)
            if accepted and samples is None and not self.so_far.work:
                work, enough = source.settle(sizes)
                wanted = min(wanted, enough)
                self.so_far = replace(self.so_far, work=max(work, 1), wanted=wanted)
            if progress is not None:
                progress(self.so_far.accepted, before + wanted)
            if self.so_far.accepted >= before + wanted or self._is_decided:
                break
            if time.monotonic() > deadline:
                break
            if self.so_far.accepted == before and not accepted:
                refusals.add(self._refusal, sizes)
                if refusals.are_final:
                    self.so_far = replace(self.so_far, given_up=True)
                    break
        unkept = () if self.so_far.accepted else (*source.chosen.broken,)
        self.so_far = replace(self.so_far, unequal=source.is_relaxed, unkept=unkept)

    @property
    def _is_decided(self) -> bool:
        """Whether so many draws show a difference that no more are run."""
        differing = {difference.draw.number for difference in self.so_far.differences}
        return len(differing) >= _DIFFERING_DRAWS

    def one(self, draw: Draw) -> bool:
        """Run both models on one draw; return whether the original accepted it.

        What differs under the default options is found by `finish`.
        """
        self._add(draws=1)
        self._refusal = ""
        start = time.monotonic()
        fused = self.only_fused
        # If memory is short for the first model, it does not accept the draw.
        expected = self._sessions.run(
            self.before, draw.feeds, self.timeout, fused=fused, again=fused
        )
        if isinstance(expected, NoReply) and self._tries_fused(draw, expected):
            start = time.monotonic()
            without, expected = expected, self._run(self.before, draw, self.timeout, fused=True)
            fused = True
            expected = without if isinstance(expected, NoReply) else expected
        if isinstance(expected, NoReply):
            self._add(crashed=expected.kind == "crash")
            self._reject(draw, expected.reason)
            self._refusal = expected.reason if expected.kind == "error" else ""
            return False
        # The second model may be slower, up to 50 times.
        patience = max(self.timeout, 50 * (time.monotonic() - start))
        differences: list[Difference] = []
        empty = False
        if not fused:
            actual = self._run(self.after, draw, patience)
            differences, empty = self.equal.without_empty(
                self.equal.differences(draw, expected, actual)
            )
            if differences and not self._repeats(draw, expected):
                return self._is_unstable(draw)
            signs = self.equal.zero_signs(expected, actual)
            self._add(differences=tuple(differences), zero_signs=signs, empty_scans=empty)
        if not differences:
            waiting = Waiting(draw, digest(expected), fused, patience, empty=empty)
            self._waiting.add(waiting)
        sizes = dict(self.so_far.sizes)
        for symbol, size in draw.sizes.items():
            sizes[symbol] = tuple(sorted({*sizes.get(symbol, ()), size}))
        self.so_far = replace(self.so_far, sizes=sizes)
        self._add(accepted=1, only_fused=fused, unfused=not fused)
        return True

    def finish(self) -> str | None:
        """Compare under the default options on all draws that wait.

        Return why only the second model does not load under them, or None.
        """
        deadline = time.monotonic() + self.timeout
        try:
            if not self._waiting.found or self._sessions.load(self.before, fused=True) is not None:
                return None
            failure = self._fused_failure()
            if failure is not None:
                return failure
            rest: list[Waiting] = []
            for tried, waiting in enumerate(self._waiting.found):
                others = 0 < self.so_far.wanted <= FEW and len(rest) >= _OTHERS
                if not self._goes_on(deadline) or (others and len(rest) == tried):
                    break
                if not self._ran(waiting):
                    rest.append(waiting)
            if self.equal.tolerance is not None:  # whose hash differs may still be near enough
                near = [w for w in rest if self._goes_on(deadline) and self._is_near(w)]
                for waiting in near:
                    if self._goes_on(deadline):
                        self._ran(waiting, near=True)
        finally:
            self._waiting.close()
        return None

    def _goes_on(self, deadline: float) -> bool:
        return not self._is_decided and time.monotonic() <= deadline

    def _is_near(self, waiting: Waiting) -> bool:
        """Return whether the first model gives about the same under the default options."""
        draw = self._waiting.draw(waiting)
        expected = self._run(self.before, draw, self.timeout)
        if isinstance(expected, NoReply):
            return False
        again = self._run(self.before, draw, self.timeout, fused=True)
        return not any(self.equal.differences(draw, expected, again, own=True))

    def _ran(self, waiting: Waiting, *, near: bool = False) -> bool:
        """Compare on a draw under the default options, if the first model gives the same there.

        With ``near``, what it gives is near enough.
        """
        draw = self._waiting.draw(waiting)
        expected = self._run(self.before, draw, self.timeout, fused=True)
        if isinstance(expected, NoReply):
            return False
        is_same = near or digest(expected) == waiting.outputs
        if not is_same and not waiting.only_fused:
            return False
        actual = self._run(self.after, draw, waiting.patience, fused=True)
        found = [replace(d, fused=True) for d in self.equal.differences(draw, expected, actual)]
        counted = found
        if not waiting.only_fused:
            counted = [each for each in found if not self._rounds(each, expected, actual)]
            self._add(rounded=len(counted) < len(found), unfused=-1)
        differences, empty = self.equal.without_empty(
            replace(each, only_fused=waiting.only_fused) for each in counted
        )
        if differences and not is_same and not self._repeats(draw, expected, fused=True):
            self._add(accepted=-1, only_fused=-1)
            self._is_unstable(draw)
            return True
        if waiting.only_fused:
            self._add(zero_signs=self.equal.zero_signs(expected, actual))
        self._add(differences=tuple(differences), empty_scans=empty and not waiting.empty)
        return True

    def _tries_fused(self, draw: Draw, failure: NoReply) -> bool:
        """Return whether a draw that failed without optimizations is run under the default ones.

        That is so until a draw was accepted without optimizations. Most refusals of drawn inputs
        are believed, since they are about sizes.
        """
        none = self.so_far.accepted == self.so_far.only_fused
        doubted = draw.number < 0 or self.so_far.only_fused > 0 or self.so_far.draws in _DOUBTS
        can = failure.kind == "error" and not self.only_fused and not self.before.missing
        return none and doubted and can

    def _is_unstable(self, draw: Draw) -> bool:
        """Note that the first model gives other outputs in each run; return False."""
        self._add(unstable=1)
        self._reject(draw, "the first model gives other outputs every time")
        return False

    def _rounds(
        self,
        difference: Difference,
        before: Mapping[str, np.ndarray],
        after: Mapping[str, np.ndarray] | NoReply,
    ) -> bool:
        """Return whether a difference is rounding by nodes that are fused in one model only."""
        return self.equal.is_rounding(difference, before, after) and not self._fuses_alike

    @cached_property
    def _fuses_alike(self) -> bool:
        """Whether ONNX Runtime adds and removes the same nodes and packed operands in both."""
        one, other = self._sessions.fused_nodes()
        return one is not None and one == other

    def _repeats(
        self, draw: Draw, expected: Mapping[str, np.ndarray], *, fused: bool = False
    ) -> bool:
        """Return whether the first model gives the same outputs again."""
        again = self._run(self.before, draw, self.timeout, fused=fused)
        return not any(self.equal.differences(draw, expected, again, own=True))

    def _reject(self, draw: Draw, reason: str) -> None:
        if len(self.so_far.rejections) < _REASONS:
            self._add(rejections=(f"{draw}: {reason}",))


_UNKNOWN_OPERATOR = re.compile(r"(\S+?)\(-?\d+\) is not a registered function/op")


def _cannot_load(what: str, reason: str, runner: Runner) -> str:
    match = _UNKNOWN_OPERATOR.search(reason)
    if match is None:
        told = "; ".join(filter(None, (reason, runner.missing)))
        return f"{what} cannot be loaded by {runner.judge}: {told}"
    return (
        f"{what} uses the operator {match[1]}, which ONNX Runtime does not know; "
        "in Python, verify takes the library that has it as library="
    )
