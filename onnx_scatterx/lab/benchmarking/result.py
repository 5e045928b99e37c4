"""The result of `bench`: the times of each model and its nodes, compared with the first model."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.grouping import grouped
from onnx_scatterx.tell import Group, ShownInTables, TextTable
from onnx_scatterx.text import plain

_SUFFIX = "_kernel_time"


@dataclass(frozen=True)
class NodeTime:
    """A node after ONNX Runtime's own optimizations, and the median of its seconds in a run.

    The time of a Loop, Scan or If excludes the nodes of its body. A node of the body has its own
    time, which is the sum over its iterations.
    """

    node: str
    op: str
    seconds: float


def by_operator(nodes: Iterable[NodeTime]) -> dict[str, tuple[int, float]]:
    """Return for each operator the number of its nodes and their seconds, the slowest first.

    >>> by_operator([NodeTime("a", "Add", 1.0), NodeTime("b", "Mul", 5.0), NodeTime("c", "Add", 2)])
    {'Mul': (1, 5.0), 'Add': (2, 3.0)}
    """
    times = grouped((node.op, node.seconds) for node in nodes)
    totals = ((op, (len(seconds), sum(seconds))) for op, seconds in times.items())
    return dict(sorted(totals, key=lambda item: -item[1][1]))


def read_trace(file: Path, runs: int) -> tuple[NodeTime, ...]:
    """Read the last runs out of a trace that ONNX Runtime wrote, the slowest nodes first."""
    events: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    whole = [e for e in events if e.get("name") == "model_run"][-runs:]
    kernels = [e for e in events if e.get("cat") == "Node" and e["name"].endswith(_SUFFIX)]
    own = _own_times(kernels)
    totals: dict[tuple[str, str], np.ndarray] = defaultdict(lambda: np.zeros(len(whole)))
    for event, microseconds in zip(kernels, own, strict=True):
        for number, run in enumerate(whole):
            if run["ts"] <= event["ts"] < run["ts"] + run["dur"]:
                totals[_key(event)][number] += microseconds * 1e-6
    times = [NodeTime(*key, float(np.median(seconds))) for key, seconds in totals.items()]
    return tuple(sorted(times, key=lambda t: -t.seconds))


def _key(event: Mapping[str, Any]) -> tuple[str, str]:
    return event["name"].removesuffix(_SUFFIX), event["args"].get("op_name", "?")


def _own_times(kernels: list[dict[str, Any]]) -> list[float]:
    """Return the microseconds of each kernel without those of the kernels within it.

    A kernel that begins before another kernel has ended is within that kernel, because nodes run
    one after the other.
    """
    own = [float(e["dur"]) for e in kernels]
    order = sorted(range(len(kernels)), key=lambda i: (kernels[i]["ts"], -kernels[i]["dur"], -i))
    around: list[int] = []
    for i in order:
        while around and kernels[i]["ts"] >= _end(kernels[around[-1]]):
            around.pop()
        if around:
            own[around[-1]] -= kernels[i]["dur"]
        around.append(i)
    return [max(time, 0.0) for time in own]


def _end(event: Mapping[str, Any]) -> float:
    return float(event["ts"] + event["dur"])


@dataclass(frozen=True)
class Spread:
    """The median of some numbers, the quartiles around it, and its confidence interval."""

    median: float
    quartiles: tuple[float, float]
    interval: tuple[float, float]

    @classmethod
    def of(cls, values: np.ndarray) -> Spread:
        """Return the spread of at least six numbers.

        >>> Spread.of(np.arange(1.0, 10.0))
        Spread(median=5.0, quartiles=(3.0, 7.0), interval=(2.0, 8.0))
        """
        low, middle, high = (float(q) for q in np.quantile(values, [0.25, 0.5, 0.75]))
        ordered = np.sort(values)
        index = median_index(len(ordered))
        return cls(middle, (low, high), (float(ordered[index]), float(ordered[-1 - index])))


def median_index(count: int, confidence: float = 0.95) -> int:
    """Return the rank k of the ends of the confidence interval of a median, counted from 0.

    If `count` numbers are drawn from a distribution, its median lies between the k-th least and the
    k-th greatest of them with this confidence. This is the interval of the sign test, which assumes
    nothing about the distribution. Raises ValueError if `count` is too small for the confidence.

    >>> median_index(6), median_index(9), median_index(40)
    (0, 1, 13)
    """
    tails = accumulate(math.comb(count, k) / 2**count for k in range(count))
    index: int = sum(tail <= (1 - confidence) / 2 for tail in tails) - 1
    if index < 0:
        raise ValueError(f"{count} numbers cannot tell their median with confidence {confidence}")
    return index


_OPERATORS = 12  # the most operators that the table shows; JSON has all of them
_NUMBERS = ("ms", "quartiles", "times as fast", "95 % sure")
_BY_OPERATOR = (
    "ms in each operator (and how many nodes), in whole microseconds; from other runs, which note "
    "the time of each node, so the sum differs from the time above"
)


@dataclass(frozen=True)
class Timing:
    """One model: the seconds of a run in each round, and the time of each node.

    ``difference`` says how the model's outputs differ from those of the first model; None if they
    are the same, bit for bit. ``node_times`` has the slowest nodes first.
    """

    name: str
    times: np.ndarray
    difference: str | None
    node_times: tuple[NodeTime, ...] = ()

    @property
    def spread(self) -> Spread:
        """The median of the seconds."""
        return Spread.of(self.times)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "name": self.name,
            "seconds": plain(self.spread),
            "rounds": self.times.tolist(),
            "difference": self.difference,
            "operators": [
                {"op": op, "nodes": count, "seconds": seconds}
                for op, (count, seconds) in by_operator(self.node_times).items()
            ],
            "nodes": plain(self.node_times),
        }


@dataclass(frozen=True)
class Benchmark(ShownInTables):
    """Models that were timed in turns. ``sizes`` are the sizes of the named dims of the inputs."""

    timings: tuple[Timing, ...]
    sizes: Mapping[str, int]
    threads: int
    version: str

    def speedup(self, timing: Timing) -> Spread:
        """Return the spread of a model's speed relative to the first model, over the rounds."""
        return Spread.of(self.timings[0].times / timing.times)

    def __getitem__(self, name: str) -> Timing:
        return next(t for t in self.timings if t.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "models": [t.to_dict() | {"speedup": plain(self.speedup(t))} for t in self.timings],
            "sizes": dict(self.sizes),
            "threads": self.threads,
            "onnxruntime": self.version,
        }

    def summary(self) -> str:
        """Describe the conditions of the measurement."""
        sizes = [f"{name} = {size}" for name, size in self.sizes.items()]
        threads = "all cores" if self.threads == 0 else f"{self.threads} thread"
        threads += "s" if self.threads > 1 else ""
        rounds = f"{len(self.timings[0].times)} rounds"
        return ", ".join([*sizes, threads, rounds, f"ONNX Runtime {self.version}"])

    def shown(self) -> Group:
        """Return the tables."""
        return Group(self._tables())

    def _tables(self) -> list[TextTable]:
        head = ("model", *_NUMBERS, "outputs")
        tables = [TextTable(self.summary(), head, self._time_rows(), numbers=_NUMBERS)]
        if any(t.node_times for t in self.timings):
            names, rows = [timing.name for timing in self.timings], self._operator_rows()
            tables.append(TextTable(_BY_OPERATOR, ("operator", *names), rows, numbers=names))
        return tables

    def _repr_html_(self) -> str:
        """Return the tables as a notebook shows them."""
        from onnx_scatterx.tell import tables

        return tables(*self._tables())

    def _time_rows(self) -> list[list[str]]:
        rows = []
        for timing in self.timings:
            seconds, speedup = timing.spread, self.speedup(timing)
            first = timing is self.timings[0]
            row = [timing.name, _ms(seconds.median), _range(seconds.quartiles, 1e3, 4)]
            row += ["", ""] if first else [f"{speedup.median:.2f}", _range(speedup.interval, 1, 3)]
            rows.append([*row, "" if first else timing.difference or "the same"])
        return rows

    def _operator_rows(self) -> list[list[str]]:
        totals = [by_operator(t.node_times) for t in self.timings]
        times = grouped((op, s) for operators in totals for op, (_, s) in operators.items())
        shown = sorted(times, key=lambda op: -max(times[op]))[:_OPERATORS]
        rows = []
        for op in shown:
            cells = (operators.get(op) for operators in totals)
            rows.append([op, *("" if c is None else f"{_ms(c[1])} ({c[0]})" for c in cells)])
        if len(shown) < len(times):
            rest = [[v for op, v in operators.items() if op not in shown] for operators in totals]
            sums = ((sum(n for n, _ in r), sum(s for _, s in r)) for r in rest)
            rows.append(["others", *(f"{_ms(s)} ({n})" for n, s in sums)])
        return rows


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g}"


def _range(ends: tuple[float, float], factor: float, digits: int) -> str:
    low, high = (f"{end * factor:.{digits}g}" for end in ends)
    return f"{low} to {high}"
