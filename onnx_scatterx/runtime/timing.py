"""Times several calls in turns, so that other load on the machine affects all of them alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence

import numpy as np

from onnx_scatterx.observer import Counted

Call = Callable[[], object]

LEAST_ROUNDS, MOST_ROUNDS = 6, 200
_WARM = 3  # calls before the first that is timed
_LEAST_TIME = 1e-3  # the least seconds of a measurement: shorter calls are repeated


def interleaved(
    calls: Sequence[Call],
    *,
    rounds: int | None = None,
    seconds: float = 10.0,
    rest: float = 0.0,
    progress: Counted | None = None,
) -> np.ndarray:
    """Return the seconds of each call in each round, shape (rounds, calls).

    Each round times each call once, every second round backwards. Without ``rounds``, as many are
    made as fit into ``seconds``. After ``rest`` seconds, a call is run once before it is timed: the
    threads of the previous call, which wait actively for work, have gone to sleep.

    >>> interleaved([lambda: None, lambda: sum(range(100))], rounds=6).shape
    (6, 2)
    """
    repeats = [_repeats(call) for call in calls]
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter()
        times = [_round(calls, repeats, rest, backwards=False)]
        wanted = rounds
        if wanted is None:
            fit = seconds / max(time.perf_counter() - start, 1e-9)
            wanted = int(min(max(fit, LEAST_ROUNDS), MOST_ROUNDS))
        while len(times) < wanted:
            times.append(_round(calls, repeats, rest, backwards=len(times) % 2 == 1))
            if progress is not None:
                progress(len(times), wanted)
    finally:
        if collecting:
            gc.enable()
    return np.array(times)


def _repeats(call: Call) -> int:
    """Warm a call up, and return how many repetitions give a time that can be measured."""
    fastest = min(_timed(call, 1) for _ in range(_WARM))
    return int(np.ceil(_LEAST_TIME / max(fastest, 1e-7)))


def _round(
    calls: Sequence[Call], repeats: Sequence[int], rest: float, *, backwards: bool
) -> list[float]:
    times = [0.0] * len(calls)
    for k in reversed(range(len(calls))) if backwards else range(len(calls)):
        if rest:
            time.sleep(rest)
            calls[k]()
        times[k] = _timed(calls[k], repeats[k])
    return times


def _timed(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats
