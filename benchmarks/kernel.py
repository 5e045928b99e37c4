"""Times ScatterX against ONNX Runtime's ScatterND, ScatterElements and TensorScatter.

    python benchmarks/kernel.py [--threads 1 2] [--seconds 1] [--only WORD]

Every case is one node, or the nodes that an exporter writes for one statement, or several that
write into a temporary one after another; a small case is a model with 32 copies of that, and its
times are those of one. All inputs and outputs are in memory that is bound once, and both sides get
the same data in the same process. The two sessions take turns; a pair of neighbours gives one
ratio, built-in over ScatterX, and the median of the ratios is printed with its quartiles. On one
thread the limit is measured in the same turns (kernel_limit.py), and all times are CPU time.
The variable ONNX_SCATTERX_LIBRARY names a library to measure in place of the installed one.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import onnxruntime as ort
from kernel_case import COPIES, SMALL, Case, copies
from kernel_cases import CASES
from kernel_limit import limits

import onnx_scatterx

MEGABYTE = 1 << 20


def bound(model: bytes, case: Case, threads: int, library: str) -> Callable[[], None]:
    """Give a call that runs the model once, or all copies of a small one."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.register_custom_ops_library(library)
    model = copies(model, copies_of(case)) if copies_of(case) > 1 else model
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    # An OrtValue on the CPU is the array's own memory, so each one gets an array to itself.
    arrays = case.inputs | {"data": case.data}
    values = {
        value.name: ort.OrtValue.ortvalue_from_numpy(arrays[value.name.partition(".")[0]].copy())
        for value in session.get_inputs()
    }
    for name, value in values.items():
        binding.bind_ortvalue_input(name, value)
    outputs = [
        values[value.name.replace("output", "data")]
        if case.in_place
        else ort.OrtValue.ortvalue_from_numpy(case.result.copy())
        for value in session.get_outputs()
    ]
    for value, output in zip(session.get_outputs(), outputs, strict=True):
        binding.bind_ortvalue_output(value.name, output)

    def run() -> None:
        session.run_with_iobinding(binding)

    run.output = outputs[0]  # type: ignore[attr-defined]
    return run


def copies_of(case: Case) -> int:
    return COPIES if case.data.nbytes <= SMALL else 1


def memcpy(case: Case, threads: int) -> Callable[[], None]:
    """Give a call that moves as many bytes as the case must."""
    total = case.moved * copies_of(case)
    source, target = np.ones(total, np.uint8), np.ones(total, np.uint8)
    if threads == 1 or total < MEGABYTE:
        return lambda: ctypes.memmove(target.ctypes.data, source.ctypes.data, total)
    pool = ThreadPoolExecutor(threads)
    part = -(-total // threads)
    parts = [(i * part, min(part, total - i * part)) for i in range(threads)]

    def run() -> None:
        jobs = [
            pool.submit(
                ctypes.memmove, target.ctypes.data + begin, source.ctypes.data + begin, size
            )
            for begin, size in parts
        ]
        for job in jobs:
            job.result()

    return run


def seconds_of(run: Callable[[], None], threads: int = 1) -> float:
    """Time one run: the thread's own time, if there is one, which others do not add to.

    Threads spin for a while after their work: others' are let go to sleep first.
    """
    if threads > 1:
        time.sleep(0.01)
        awake = time.perf_counter() + 0.001
        run()
        while time.perf_counter() < awake:
            run()
    clock = time.thread_time if threads == 1 else time.perf_counter
    start = clock()
    run()
    return clock() - start


@dataclass
class Measured:
    """What came out for one case on so many threads; times in ms for one of its copies."""

    name: str
    megabytes: float
    threads: int
    builtin: float
    scatterx: float
    quartiles: tuple[float, float, float]  # of the ratios
    limit: float | None  # of the least times, as `least` is; on one thread only
    least: float
    copying: bool  # copying is the limit: it takes longer than the accesses, and nothing is reduced

    def __str__(self) -> str:
        low, middle, high = self.quartiles
        limit = f"{self.limit:9.4f} {self.least / self.limit:7.2f}" if self.limit else 17 * " "
        return (
            f"{self.name:52} {self.megabytes:8.2f} {self.threads:3} {self.builtin:9.4f}"
            f" {self.scatterx:9.4f} {limit} {middle:8.2f}  [{low:.2f}, {high:.2f}]"
        )


def compare(case: Case, threads: int, seconds: float, library: str) -> Measured:
    """Measure one case: the two sessions, and what limits them, in turns."""
    builtin, own = (bound(model, case, threads, library) for model in (case.builtin, case.scatterx))
    around = bound(case.around, case, threads, library) if case.around else None
    parts = limits(case, copies_of(case), around) if threads == 1 else ([], [], [])
    ways, accesses, empty = parts
    runs = [builtin, own, *ways, *accesses, *empty]
    warm = [min(seconds_of(run) for _ in range(3)) for run in runs]
    if case.exact and threads == 1:  # with colliding updates the built-in result varies on several
        ours, theirs = (run.output.numpy() for run in (own, builtin))  # type: ignore[attr-defined]
        assert ours.tobytes() == theirs.tobytes(), f"{case.name}: the results differ"
    times: list[list[float]] = [[] for _ in runs]
    for i in range(max(9, min(400 // threads**2, int(seconds / max(sum(warm), 1e-6))))):
        for k in range(len(runs)) if i % 2 else (1, 0, *range(2, len(runs))):
            times[k].append(seconds_of(runs[k], threads))
    ratios = [a / b for a, b in zip(times[0], times[1], strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    unit = 1e3 / copies_of(case)
    least = [min(taken) * unit for taken in times]
    limit, copying = None, False
    if threads == 1:
        copied, rest = min(least[2 : 2 + len(ways)]), least[2 + len(ways) :]
        limit = max(copied, *rest[:-1]) + rest[-1] if accesses else copied + rest[-1]
        copying = not case.adds and not any(access > copied for access in rest[:-1])
    return Measured(
        case.name,
        case.data.nbytes / MEGABYTE,
        threads,
        statistics.median(times[0]) * unit,
        statistics.median(times[1]) * unit,
        (low, middle, high),
        limit,
        least[1],
        copying,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case and thread count")
    parser.add_argument("--only", default="", help="cases with this in their name")
    args = parser.parse_args()
    library = str(onnx_scatterx.library_path())
    print(f"ONNX Runtime {ort.__version__}; times are medians in ms, the limit's are the least")
    print(
        f"{'case':52} {'MB':>8} {'thr':>3} {'built-in':>9} {'ScatterX':>9} {'limit':>9}"
        f" {'/limit':>7} {'ratio':>8}  [quartiles]"
    )
    found: list[tuple[Measured, str]] = []
    for name, make in CASES.items():
        if args.only not in name:
            continue
        case = make()
        kind = "exported" if case.as_exported else "row" if case.in_a_row else "node"
        for threads in args.threads:
            found.append((compare(case, threads, args.seconds, library), kind))
            print(found[-1][0], flush=True)
    for what, wanted in (
        ("one node against one node", "node"),
        ("several writes into a temporary", "row"),
        ("what exporters write against one node", "exported"),
        ("all", None),
    ):
        chosen = [case.quartiles[1] for case, kind in found if wanted in (None, kind)]
        if chosen:
            mean = statistics.geometric_mean(chosen)
            print(f"{len(chosen)} measurements, {what}: geometric mean of the ratios {mean:.2f}")
    chosen = [case.quartiles[1] for case, _ in found if case.limit and not case.copying]
    if chosen:
        mean = statistics.geometric_mean(chosen)
        print(
            f"{len(chosen)} measurements on one thread whose limit is not the copy:"
            f" geometric mean of the ratios {mean:.2f}"
        )
    slow = [case for case, _ in found if case.quartiles[2] < 0.95]
    print(f"below 0.95, quartiles and all: {', '.join(case.name for case in slow) or 'none'}")
    over = {case.name: case.least / case.limit for case, _ in found if case.limit}
    if over:
        mean = statistics.geometric_mean(over.values())
        print(f"over the limit, on one thread: geometric mean {mean:.2f}")
        for name in sorted((n for n in over if over[n] > 2), key=over.__getitem__):
            print(f"  {over[name]:.2f} {name}")


if __name__ == "__main__":
    main()
