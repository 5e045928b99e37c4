"""The result of `bench`: the times of every model, compared with those of the first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onnx_scatterx.doors.benchmarking.node_times import NodeTime, by_operator
from onnx_scatterx.doors.benchmarking.statistics import Spread
from onnx_scatterx.optimizer.reports.rendering import Group, ShownInTables, Table, group, table
from onnx_scatterx.text.visible import as_json, plain

if TYPE_CHECKING:
    from onnx_scatterx.optimizer.reports.rendering import Group, ShownInTables, Table, group, table

_OPERATORS = 12  # that are shown; JSON has all
_NUMBERS = ("ms", "quartiles", "times as fast", "95 % sure")
_BY_OPERATOR = "ms in each operator (and how many nodes), timed in whole microseconds"


@dataclass(frozen=True)
class Timing:
    """One model: the seconds of one run in every round, its difference, and the time of each node.

    ``difference`` says how its outputs differ from those of the first model; None if all are the
    same, bit for bit. ``node_times`` has the slowest nodes first.
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
    """Models timed in turns. ``sizes`` are those of the inputs' named dims."""

    timings: tuple[Timing, ...]
    sizes: Mapping[str, int]
    threads: int
    version: str

    def speedup(self, timing: Timing) -> Spread:
        """Return the speed of a model relative to the first: the ratio in each round."""
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

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return as_json(self.to_dict())

    def summary(self) -> str:
        """Describe the conditions of the measurement."""
        sizes = [f"{name} = {size}" for name, size in self.sizes.items()]
        threads = "all cores" if self.threads == 0 else f"{self.threads} thread"
        threads += "s" if self.threads > 1 else ""
        rounds = f"{len(self.timings[0].times)} rounds"
        return ", ".join([*sizes, threads, rounds, f"ONNX Runtime {self.version}"])

    def shown(self) -> Group:
        """Return the tables."""
        tables = [self._times()]
        if any(t.node_times for t in self.timings):
            tables.append(self._operators())
        return group(*tables)

    def _repr_html_(self) -> str:
        """Return the tables as a notebook shows them."""
        from onnx_scatterx.optimizer.reports.page.document import tables

        times = self.summary(), ("model", *_NUMBERS, "outputs"), self._time_rows()
        if not any(t.node_times for t in self.timings):
            return tables(times)
        return tables(times, (_BY_OPERATOR, ("operator", *self._names()), self._operator_rows()))

    def _names(self) -> list[str]:
        return [timing.name for timing in self.timings]

    def _time_rows(self) -> list[list[str]]:
        rows = []
        for timing in self.timings:
            seconds, speedup = timing.spread, self.speedup(timing)
            first = timing is self.timings[0]
            row = [timing.name, _ms(seconds.median), _range(seconds.quartiles, 1e3, 4)]
            row += ["", ""] if first else [f"{speedup.median:.2f}", _range(speedup.interval, 1, 3)]
            rows.append([*row, "" if first else timing.difference or "the same"])
        return rows

    def _times(self) -> Table:
        columns = ("model", *_NUMBERS, "outputs")
        return table(self.summary(), columns, self._time_rows(), numbers=_NUMBERS)

    def _operator_rows(self) -> list[list[str]]:
        found = [by_operator(t.node_times) for t in self.timings]
        most: dict[str, float] = {}
        for operators in found:
            for op, (_, seconds) in operators.items():
                most[op] = max(most.get(op, 0.0), seconds)
        shown = sorted(most, key=lambda op: -most[op])[:_OPERATORS]
        rows = []
        for op in shown:
            cells = (operators.get(op) for operators in found)
            rows.append([op, *("" if c is None else f"{_ms(c[1])} ({c[0]})" for c in cells)])
        if len(shown) < len(most):
            rest = [[v for op, v in operators.items() if op not in shown] for operators in found]
            sums = ((sum(n for n, _ in r), sum(s for _, s in r)) for r in rest)
            rows.append(["others", *(f"{_ms(s)} ({n})" for n, s in sums)])
        return rows

    def _operators(self) -> Table:
        names = self._names()
        return table(_BY_OPERATOR, ("operator", *names), self._operator_rows(), numbers=names)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g}"


def _range(ends: tuple[float, float], factor: float, digits: int) -> str:
    low, high = (f"{end * factor:.{digits}g}" for end in ends)
    return f"{low} to {high}"
