"""Measures how long this machine takes for each operator that copies, in ONNX Runtime.

    t = launch + bytes * byte + runs * run

A run is a contiguous piece of memory. ``launch`` is measured with a chain of nodes on one element,
``byte`` with a copy in long runs, and ``run`` with a copy of as many bytes in short runs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import onnxruntime as ort

from onnx_scatterx.doors.benchmarking.ways import bound, fastest_ways, ways
from onnx_scatterx.optimizer.targets.costs import KINDS, Machine
from onnx_scatterx.system.observer import Observer, Progress

_CHAIN = 64
_ROUNDS = 15
_SCATTERX = (
    "onnx_scatterx.ScatterX <p1: ints = [%s], p2: ints = [1], p: ints = [0, 1], "
    'reduction = "none", unique = 1> (x, f, u)'
)


@dataclass(frozen=True)
class Probe:
    """A node that writes ``size`` bytes in ``runs`` runs, and the node's inputs."""

    text: str
    inputs: Mapping[str, np.ndarray]
    size: float
    runs: float


def probes(kind: str, rows: int) -> tuple[Probe, Probe]:
    """Return a node with long runs and a node with short runs: both write 16 bytes for each row."""
    size, elements, wide = 16.0 * rows, 4 * rows, 4096

    def x(*shape: int) -> dict[str, np.ndarray]:
        return {"x": np.ones(shape, np.float32)}

    def xy(*shape: int) -> dict[str, np.ndarray]:
        return {name: np.ones(shape, np.float32) for name in "xy"}

    def ints(**given: list[int]) -> dict[str, np.ndarray]:
        return {name: np.array(values) for name, values in given.items()}

    match kind:
        case "Slice":
            text = "Slice (x, first, last, axis)"
            part = ints(first=[2], last=[6], axis=[1])
            whole = ints(first=[0], last=[elements], axis=[0])
            return (
                Probe(text, x(elements + 1) | whole, size, 1),
                Probe(text, x(rows, 8) | part, size, rows),
            )
        case "Concat":
            return (
                Probe("Concat <axis = 0> (x, y)", xy(elements // 2), size, 2),
                Probe("Concat <axis = 1> (x, y)", xy(rows, 2), size, 2 * rows),
            )
        case "Pad":
            text = "Pad (x, by)"
            return (
                Probe(text, x(elements - 2) | ints(by=[1, 1]), size, 1),
                Probe(text, x(rows, 2) | ints(by=[0, 1, 0, 1]), size, rows),
            )
        case "Gather":
            few = ints(all=[0, 1])
            return (
                Probe("Gather <axis = 0> (x, all)", x(2, elements // 2) | few, size, 2),
                Probe("Gather <axis = 1> (x, all)", x(2 * rows, 3) | few, size, elements),
            )
        case "Transpose":
            blocks = elements // wide
            return (
                Probe("Transpose <perm = [1, 0, 2]> (x)", x(blocks // 8, 8, wide), size, blocks),
                # To move one axis is faster, but exporters move all axes.
                Probe(
                    "Transpose <perm = [2, 1, 0]> (x)", x(blocks, 64, wide // 64), size, elements
                ),
            )
        case "Elementwise":
            return (Probe("Add (x, x)", x(elements), size, 0),) * 2
        case "ScatterX":
            backwards = np.arange(rows)[::-1, None]  # sorted rows would be one run
            row: dict[str, Any] = {"u": np.ones((1, elements), np.float32), "f": np.array([1])}
            each: dict[str, Any] = {"u": np.ones((rows, 2), np.float32), "f": backwards}
            return (
                # Two rows are copied, and one is overwritten.
                Probe(_SCATTERX % "", x(2, elements) | row, 3 * size, 1),
                Probe(_SCATTERX % "0", x(rows, 2) | each, size, rows),
            )
    raise ValueError(kind)


def calibrate(
    *, threads: int = 1, rows: int = 1 << 19, on_progress: Progress | None = None
) -> Machine:
    """Measure this machine, with so many threads for one node. This takes a few seconds."""
    kernel = fastest_ways(threads, rows)
    with ways(kernel):
        return _measure(threads, rows, kernel, Observer(on_progress))


def _measure(threads: int, rows: int, kernel: str, observer: Observer) -> Machine:
    launch = _launch(threads)
    byte: dict[str, float] = {}
    run: dict[str, float] = {}
    for done, kind in enumerate(KINDS):
        coarse, fine = probes(kind, rows)
        long, short = (_least(f"z = {p.text}", p.inputs, threads) - launch for p in (coarse, fine))
        byte[kind] = max(long / coarse.size, 0.0)
        extra = short - byte[kind] * fine.size
        run[kind] = max(extra / fine.runs, 0.0) if fine.runs else 0.0
        observer.stage("measuring", done + 1, len(KINDS))
    return Machine(launch, byte, run, kernel)


def _launch(threads: int) -> float:
    """Return the nanoseconds of a node with almost no work."""
    times = []
    for length in (_CHAIN, 2 * _CHAIN):
        names = ["x", *(f"x{i}" for i in range(1, length)), "z"]
        body = "\n".join(f"{after} = Neg ({before})" for before, after in pairwise(names))
        times.append(_least(body, {"x": np.ones(1, np.float32)}, threads, repeat=200))
    return max((times[1] - times[0]) / _CHAIN, 1.0)


def _least(body: str, inputs: Mapping[str, np.ndarray], threads: int, repeat: int = 1) -> float:
    """Return the least nanoseconds of several runs, with all outputs bound to memory."""
    unoptimized = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    run = bound(body, inputs, threads, graph_optimization_level=unoptimized)
    times = []
    for _ in range(_ROUNDS):
        start = time.perf_counter_ns()
        for _ in range(repeat):
            run()
        times.append((time.perf_counter_ns() - start) / repeat)
    return float(min(times))
