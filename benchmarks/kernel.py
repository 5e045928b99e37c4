"""Times ScatterX against ONNX Runtime's ScatterND, ScatterElements and TensorScatter.

    python benchmarks/kernel.py [--threads 1 2] [--seconds 1] [--only WORD] [--library FILE.so]

Every case is one node, or the nodes that an exporter writes for one statement, with all inputs and
the output in memory that is bound once; both sides get the same data in the same process. The two
sessions take turns; a pair of neighbours gives one ratio, built-in over ScatterX, and the median
of the ratios is printed with its quartiles. The limit is a memcpy, on the same number of threads,
of the bytes that must move: data and updates, or updates alone where the output is bound to
data's memory.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.resources
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime as ort
from kernel_cases import CASES, Case

MEGABYTE = 1 << 20


def bound(model: bytes, case: Case, threads: int, library: str) -> Callable[[], None]:
    """Give a call that runs the model once."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.register_custom_ops_library(library)
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    # An OrtValue on the CPU is the array's own memory, so each one gets an array to itself.
    data = ort.OrtValue.ortvalue_from_numpy(case.data.copy())
    output = data if case.in_place else ort.OrtValue.ortvalue_from_numpy(case.data.copy())
    names = {value.name for value in session.get_inputs()}
    values = {"data": data} | {
        name: ort.OrtValue.ortvalue_from_numpy(array) for name, array in case.inputs.items()
    }
    for name in names:
        binding.bind_ortvalue_input(name, values[name])
    binding.bind_ortvalue_output("output", output)

    def run() -> None:
        session.run_with_iobinding(binding)

    run.output = output  # type: ignore[attr-defined]
    return run


def memcpy(case: Case, threads: int) -> Callable[[], None]:
    """Give a call that moves as many bytes as the case must."""
    total = case.inputs["updates"].nbytes + (0 if case.in_place else case.data.nbytes)
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
    """Time one run. Threads spin for a while after their work: let others' go to sleep first."""
    if threads > 1:
        time.sleep(0.01)
        awake = time.perf_counter() + 0.001
        run()
        while time.perf_counter() < awake:
            run()
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compare(case: Case, threads: int, seconds: float, library: str) -> tuple[float, str]:
    """Give the median ratio, and a line that tells it."""
    runs = [
        bound(case.builtin, case, threads, library),
        bound(case.scatterx, case, threads, library),
    ]
    runs.append(memcpy(case, threads))
    warm = [min(seconds_of(run) for _ in range(3)) for run in runs]
    if case.exact and threads == 1:  # with colliding updates the built-in result varies on several
        ours, theirs = (run.output.numpy() for run in (runs[1], runs[0]))  # type: ignore[attr-defined]
        assert ours.tobytes() == theirs.tobytes(), f"{case.name}: the results differ"
    times: list[list[float]] = [[], [], []]
    for i in range(max(9, min(400 // threads**2, int(seconds / sum(warm))))):
        order = (0, 1, 2) if i % 2 else (1, 0, 2)
        for k in order:
            times[k].append(seconds_of(runs[k], threads))
    ratios = sorted(a / b for a, b in zip(times[0], times[1], strict=True))
    low, middle, high = statistics.quantiles(ratios, n=4)
    theirs, ours, limit = (statistics.median(t) * 1e3 for t in times)
    size = case.data.nbytes / MEGABYTE
    return middle, (
        f"{case.name:44} {size:8.2f} {threads:3} {theirs:9.3f} {ours:9.3f} {limit:9.3f}"
        f" {ours / limit:7.2f} {middle:8.2f}  [{low:.2f}, {high:.2f}]"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case and thread count")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--library", default=os.environ.get("ONNX_SCATTERX_LIBRARY"))
    args = parser.parse_args()
    library = args.library or str(importlib.resources.files("onnx_scatterx") / "scatterx_ops.so")
    print(f"ONNX Runtime {ort.__version__}; times are medians in ms; limit is the memcpy")
    print(
        f"{'case':44} {'MB':>8} {'thr':>3} {'built-in':>9} {'ScatterX':>9} {'limit':>9}"
        f" {'/limit':>7} {'ratio':>8}  [quartiles]"
    )
    ratios = []
    exported = set()
    for name, make in CASES.items():
        if args.only not in name:
            continue
        case = make()
        if case.as_exported:
            exported.add(name)
        for threads in args.threads:
            ratio, line = compare(case, threads, args.seconds, library)
            ratios.append((ratio, name, threads))
            print(line, flush=True)
    for what, chosen in (
        ("one node against one node", [r for r, name, _ in ratios if name not in exported]),
        ("what exporters write against one node", [r for r, name, _ in ratios if name in exported]),
        ("all", [r for r, _, _ in ratios]),
    ):
        if chosen:
            mean = statistics.geometric_mean(chosen)
            print(f"{len(chosen)} measurements, {what}: geometric mean of the ratios {mean:.2f}")
    for ratio, name, threads in sorted(ratios)[:5]:
        print(f"  lowest: {ratio:.2f} {name} on {threads}")


if __name__ == "__main__":
    main()
