"""Variants of one model that take turns: each is timed beside a run of the original."""

from __future__ import annotations

import contextlib
import io
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort

import onnx_scatterx

SCATTERS = ("Scatter", "ScatterND", "ScatterElements", "TensorScatter", "ScatterX")

Clock = Callable[[], float]
"""Seconds that pass always, or only while this process runs, such as `time.process_time`."""


@dataclass
class Variant:
    """The result of a tool: the counts of its nodes, a call that runs it once, or an error."""

    nodes: int = 0
    scatters: int = 0
    run: Callable[[], list[np.ndarray]] | None = None
    wrong: str = ""


def variant(
    make: Callable[[onnx.ModelProto], onnx.ModelProto],
    model: onnx.ModelProto,
    feeds: dict[str, np.ndarray],
    threads: int,
) -> Variant:
    """Make a variant of a model and open it."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            made = make(copy)
    except ImportError:
        return Variant(wrong="not installed")
    except Exception as error:  # of another tool: its own answer
        return Variant(wrong=f"fails: {type(error).__name__}")
    operators = [node.op_type for node in made.graph.node]
    scatters = sum(op in SCATTERS for op in operators)
    try:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        session = onnx_scatterx.session(made, session_options=options)
        names = {value.name for value in session.get_inputs()}
        inputs = {name: array for name, array in feeds.items() if name in names}
        session.run(None, inputs)
    except Exception as error:  # a model that another tool broke
        return Variant(len(operators), scatters, wrong=f"does not run: {type(error).__name__}")
    return Variant(len(operators), scatters, lambda: session.run(None, inputs))


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Return whether outputs agree bit for bit."""
    pairs = zip(one, other, strict=True)
    return all(
        a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in pairs
    )


def ratios(
    original: Variant,
    others: dict[str, Variant],
    rounds: int,
    clock: Clock = time.perf_counter,
) -> tuple[float, dict[str, list[float]]]:
    """Let all take turns; return the original's median seconds and the ratios of the others."""
    assert original.run is not None
    running = {name: v.run for name, v in others.items() if v.run is not None}
    once = min(seconds(original.run, 1, clock) for _ in range(3))
    repeat = max(1, math.ceil(0.002 / once))
    for run in running.values():
        seconds(run, repeat, clock)
    found: dict[str, list[float]] = {name: [] for name in running}
    base = []
    for turn in range(rounds):
        names = list(running)
        names = names[turn % len(names) :] + names[: turn % len(names)] if names else []
        for name in names:  # each beside a run of the original: the machine's moods cancel
            before = seconds(original.run, repeat, clock)
            after = seconds(running[name], repeat, clock)
            base.append(before)
            found[name].append(before / after)
    return statistics.median(base), found


def seconds(run: Callable[[], Any], repeat: int, clock: Clock = time.perf_counter) -> float:
    """Return how long a run takes, by a clock."""
    start = clock()
    for _ in range(repeat):
        run()
    return (clock() - start) / repeat
