"""Times ScatterX against ONNX Runtime's ScatterND, ScatterElements and TensorScatter.

    python benchmarks/kernel.py [--threads 1 2] [--seconds 1] [--only WORD] [--library FILE.so]

Every case is one node, or the nodes that an exporter writes for one statement, or several that
write into a temporary one after another; a small case is a model with 32 copies of that, and its
times are those of one. All inputs and outputs are in memory that is bound once, and both sides get
the same data in the same process. The two sessions take turns; a pair of neighbours gives one
ratio, built-in over ScatterX, and the median of the ratios is printed with its quartiles. The limit
is a memcpy, on the same number of threads, of the bytes that must move: data and updates, or
updates alone where the output is bound to data's memory.
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
from kernel_case import Case
from kernel_cases import CASES
from kernel_copies import COPIES, SMALL, copies

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
    theirs, ours, limit = (statistics.median(t) * 1e3 / copies_of(case) for t in times)
    size = case.data.nbytes / MEGABYTE
    return middle, (
        f"{case.name:44} {size:8.2f} {threads:3} {theirs:9.4f} {ours:9.4f} {limit:9.4f}"
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
    kinds = {}
    for name, make in CASES.items():
        if args.only not in name:
            continue
        case = make()
        kinds[name] = "exported" if case.as_exported else "row" if case.in_a_row else "node"
        for threads in args.threads:
            ratio, line = compare(case, threads, args.seconds, library)
            ratios.append((ratio, name, threads))
            print(line, flush=True)
    for what, kind in (
        ("one node against one node", "node"),
        ("several writes into a temporary", "row"),
        ("what exporters write against one node", "exported"),
        ("all", None),
    ):
        chosen = [ratio for ratio, name, _ in ratios if kind in (None, kinds[name])]
        if chosen:
            mean = statistics.geometric_mean(chosen)
            print(f"{len(chosen)} measurements, {what}: geometric mean of the ratios {mean:.2f}")
    for ratio, name, threads in sorted(ratios)[:5]:
        print(f"  lowest: {ratio:.2f} {name} on {threads}")


if __name__ == "__main__":
    main()
