"""The time of each node of a model, from ONNX Runtime's profiler."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_SUFFIX = "_kernel_time"


@dataclass(frozen=True)
class NodeTime:
    """A node after ONNX Runtime's own optimizations, and the median of its seconds in a run.

    The time of a Loop, Scan or If excludes its body's nodes, which are listed separately, and added
    up if they run more than once.
    """

    node: str
    op: str
    seconds: float


def by_operator(nodes: Iterable[NodeTime]) -> dict[str, tuple[int, float]]:
    """Return how many nodes of each operator there are, and their seconds, the slowest first.

    >>> by_operator([NodeTime("a", "Add", 1.0), NodeTime("b", "Mul", 5.0), NodeTime("c", "Add", 2)])
    {'Mul': (1, 5.0), 'Add': (2, 3.0)}
    """
    found: dict[str, tuple[int, float]] = {}
    for node in nodes:
        count, seconds = found.get(node.op, (0, 0.0))
        found[node.op] = (count + 1, seconds + node.seconds)
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


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

    A kernel that begins before another has ended is within it: nodes run one after the other.
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
