"""Runs two models on one draw after another, and compares their outputs.

Each draw is run without graph optimizations. If the first model gives the same bits under ONNX
Runtime's default options, both models are compared under these options, too. Then floats may differ
by rounding if ONNX Runtime fuses different nodes of the two models. If the first model runs only
under the default options, the models are compared there alone, and rounding counts.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from onnx_scatterx.compare.array_diff import (
    ArrayDifference,
    Tolerance,
    compare,
    count_zero_signs,
)
from onnx_scatterx.compare.fused_rounding import is_rounding
from onnx_scatterx.compare.result import Difference, Draw, Verification
from onnx_scatterx.compare.sample_source import SampleSource
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.processes.child import NoReply
from onnx_scatterx.runtime.worker_client import Runner

_DIFFERING_DRAWS = 3  # after so many draws with a difference, no more are run
_REASONS = 3


@dataclass
class SessionPair:
    """Two running models, and the answer after the runs so far."""

    before: Runner
    after: Runner
    timeout: float  # seconds of one run, and those after which no draw begins
    forgiven: frozenset[str] = frozenset()  # outputs in which a zero may change its sign
    tolerance: Tolerance | None = None  # of floats; None: bit for bit
    fused: bool = False  # whether both models load under the default options
    roundings: int = 1  # in a row, about, on the way to an element
    strict_zeros: bool = False  # whether each sign of a zero counts

    def __post_init__(self) -> None:
        self.so_far = Verification(0, 0, tolerance=self.tolerance, missing=self.before.missing)

    def _add(self, **more: Any) -> None:
        """Add numbers and entries to the fields of the answer."""
        changed = {name: getattr(self.so_far, name) + added for name, added in more.items()}
        self.so_far = replace(self.so_far, **changed)

    def load(self) -> str | None:
        """Wait for both models; return why only the second one does not load, or None.

        The first model may load under the default options only.
        """
        failure = self.before.load(self.timeout)
        if failure is not None and (
            failure.kind != "error" or self.before.load(self.timeout, fused=True) is not None
        ):
            raise VerifyError(_cannot_load("the first model", failure.reason, self.before))
        missing = self._load(self.after)
        if missing is None or failure is not None:
            return self._load_fused()
        if _UNKNOWN_OPERATOR.search(missing.reason):
            raise VerifyError(_cannot_load("the second model", missing.reason, self.after))
        return f"the second model does not load: {missing.reason}"

    def _load_fused(self) -> str | None:
        if self._load(self.before, fused=True) is not None:
            return None  # the models are not compared under the default options
        failure = self._load(self.after, fused=True)
        self.fused = failure is None
        if failure is None:
            return None
        return f"the second model does not load under the default options: {failure.reason}"

    def _load(self, runner: Runner, *, fused: bool = False) -> NoReply | None:
        """Load a model; if memory is short, end the other model's process and load again."""
        failure = runner.load(self.timeout, fused=fused)
        if failure is None or not failure.is_of_memory:
            return failure
        self._other(runner).close()
        failure = runner.reload(self.timeout, fused=fused)
        if failure is not None and failure.is_of_memory and runner is self.after:
            raise VerifyError(f"not enough memory to load the second model: {failure.reason}")
        return failure

    def _run(
        self, runner: Runner, draw: Draw, timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray] | NoReply:
        """Run a model; if memory is short, end the other model's process and run again."""
        answer = runner.run(draw.feeds, timeout, fused=fused)
        if not isinstance(answer, NoReply) or not answer.is_of_memory:
            return answer
        self._other(runner).close()
        runner.close()  # its process may keep memory of earlier runs
        answer = runner.run(draw.feeds, timeout, fused=fused)
        # Under the default options the first model need not run.
        needed = not self.so_far.differences and (runner is self.after or not fused)
        if needed and isinstance(answer, NoReply) and answer.is_of_memory:
            which = "second" if runner is self.after else "first"
            raise VerifyError(f"not enough memory for the {which} model on {draw}: {answer.reason}")
        return answer

    def _other(self, runner: Runner) -> Runner:
        return self.before if runner is self.after else self.after

    def many(
        self,
        source: SampleSource,
        samples: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Run draws until enough were accepted, or more draws would show nothing new."""
        deadline = time.monotonic() + self.timeout  # the time of a proof does not count
        wanted = self.so_far.accepted + (samples if source.varies else 1)
        for draw, sizes, overridden in source.draws(samples):
            accepted = self.one(draw)
            if progress is not None:
                progress(self.so_far.accepted, wanted)
            source.tell(sizes, accepted, overridden)
            differing = len({difference.draw.number for difference in self.so_far.differences})
            if self.so_far.accepted >= wanted or differing >= _DIFFERING_DRAWS:
                return
            if time.monotonic() > deadline:
                return

    def one(self, draw: Draw) -> bool:
        """Run both models on one draw; return whether the original accepted it."""
        self._add(draws=1)
        start = time.monotonic()
        expected = self.before.run(draw.feeds, self.timeout)
        only_fused = isinstance(expected, NoReply) and self._tries_fused(expected)
        if only_fused:
            start = time.monotonic()
            without, expected = expected, self._run(self.before, draw, self.timeout, fused=True)
            expected = without if isinstance(expected, NoReply) else expected
        if isinstance(expected, NoReply):
            self._add(crashed=expected.kind == "crash")
            self._reject(draw, expected.reason)
            return False
        # The second model may be slower, up to 50 times.
        patience = max(self.timeout, 50 * (time.monotonic() - start))
        actual = self._run(self.after, draw, patience, fused=only_fused)
        differences = [
            replace(each, fused=only_fused, only_fused=only_fused)
            for each in self._differences(draw, expected, actual)
        ]
        if differences and not self._repeats(draw, expected, fused=only_fused):
            return self._is_unstable(draw)
        is_fused = only_fused
        if not differences and self.fused and not only_fused:
            found = self._fused_differences(draw, expected, patience)
            is_fused, differences = found is not None, found or []
            if differences and not self._repeats(draw, expected):
                return self._is_unstable(draw)
        sizes = dict(self.so_far.sizes)
        for symbol, size in draw.sizes.items():
            sizes[symbol] = tuple(sorted({*sizes.get(symbol, ()), size}))
        self.so_far = replace(self.so_far, sizes=sizes)
        signs = 0
        if not isinstance(actual, NoReply):
            both = [n for n in expected if n in actual and self._forgives(n)]
            signs = sum(count_zero_signs(expected[name], actual[name]) for name in both)
        self._add(accepted=1, differences=tuple(differences), zero_signs=signs)
        self._add(only_fused=only_fused, unfused=not is_fused)
        return True

    def _tries_fused(self, failure: NoReply) -> bool:
        """Return whether a draw that failed without optimizations is run under the default ones.

        That is so until a draw was accepted without optimizations.
        """
        none = self.so_far.accepted == self.so_far.only_fused
        return self.fused and none and failure.kind == "error"

    def _is_unstable(self, draw: Draw) -> bool:
        """Note that the first model gives other outputs in each run; return False."""
        self._add(unstable=1)
        self._reject(draw, "the first model gives other outputs every time")
        return False

    def _fused_differences(
        self, draw: Draw, expected: Mapping[str, np.ndarray], patience: float
    ) -> list[Difference] | None:
        """Compare under the default options; None if the first model gives other outputs there."""
        again = self._run(self.before, draw, self.timeout, fused=True)
        if isinstance(again, NoReply) or any(self._differences(draw, expected, again, own=True)):
            return None
        actual = self._run(self.after, draw, patience, fused=True)
        found = [replace(each, fused=True) for each in self._differences(draw, again, actual)]
        counted = [each for each in found if not self._rounds(each, again, actual)]
        self._add(rounded=len(counted) < len(found))
        return counted

    def _rounds(
        self,
        difference: Difference,
        before: Mapping[str, np.ndarray],
        after: Mapping[str, np.ndarray] | NoReply,
    ) -> bool:
        """Return whether a difference is rounding by nodes that are fused in one model only."""
        if isinstance(after, NoReply):
            return False
        one, other = (outputs.get(difference.output) for outputs in (before, after))
        if one is None or other is None or not is_rounding(one, other, self.roundings):
            return False
        if self.strict_zeros and count_zero_signs(one, other):
            return False
        return not self._fuses_alike

    @cached_property
    def _fuses_alike(self) -> bool:
        """Whether ONNX Runtime adds and removes the same nodes and packed operands in both."""
        one, other = (runner.fused_nodes(self.timeout) for runner in (self.before, self.after))
        return one is not None and one == other

    def _forgives(self, output: str) -> bool:
        """Return whether the sign of a zero may differ in an output, or in an element of it."""
        return output in self.forgiven or output.rpartition("[")[0] in self.forgiven

    def _differences(
        self,
        draw: Draw,
        expected: Mapping[str, np.ndarray],
        actual: Mapping[str, np.ndarray] | NoReply,
        own: bool = False,
    ) -> Iterator[Difference]:
        """Compare outputs. If `own`, both are of the first model, and the sign of a zero counts."""
        if isinstance(actual, NoReply):
            yield Difference(draw, "", ArrayDifference("failed", None, actual.reason))
            return
        for name in [*expected, *(name for name in actual if name not in expected)]:
            if name not in actual or name not in expected:
                yield Difference(
                    draw, name, ArrayDifference("missing", name in expected, name in actual)
                )
                continue
            zeros = not own and self._forgives(name)
            mismatch = compare(expected[name], actual[name], zeros=zeros, tolerance=self.tolerance)
            if mismatch is not None:
                yield Difference(draw, name, mismatch)

    def _repeats(
        self, draw: Draw, expected: Mapping[str, np.ndarray], *, fused: bool = False
    ) -> bool:
        """Return whether the first model gives the same outputs again."""
        again = self._run(self.before, draw, self.timeout, fused=fused)
        return not any(self._differences(draw, expected, again, own=True))

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
