"""Variants of one model that take turns: each is timed beside a run of the original."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from time import process_time
from typing import Any

Run = Callable[[], Any]


def ratios(
    original: Run, others: dict[str, Run], rounds: int
) -> tuple[float, dict[str, list[float]]]:
    """Let all take turns; return the original's median seconds and the ratios of the others."""
    once = min(seconds(original) for _ in range(3))
    repeat = max(1, math.ceil(0.002 / once))
    for run in others.values():
        seconds(run, repeat)
    found: dict[str, list[float]] = {name: [] for name in others}
    base = []
    for turn in range(rounds):
        names = list(others)
        names = names[turn % len(names) :] + names[: turn % len(names)]
        for name in names:  # each beside a run of the original: the machine's moods cancel
            before = seconds(original, repeat)
            after = seconds(others[name], repeat)
            base.append(before)
            found[name].append(before / after)
    return statistics.median(base), found


def seconds(run: Run, repeat: int = 1) -> float:
    """Return how long a run takes: seconds in which the processor ran this process."""
    start = process_time()
    for _ in range(repeat):
        run()
    return (process_time() - start) / repeat
