"""Times sums with many collisions: E edges into N rows of 64 columns, as graph nets add messages.

    python benchmarks/kernel_sums.py [--threads 1] [--rounds 9] [--library FILE.so]

The exported graph (an index for each edge, expanded to one for each element, and ScatterElements)
in ONNX Runtime and in OpenVINO, `index_add_` of PyTorch, and one ScatterX node, all on the same
data in one process, in turns; PyTorch and OpenVINO are left out if they are not installed. Times
are the least of the rounds, CPU time of the process on one thread, and wall time on several.
"""

from __future__ import annotations

import argparse
import importlib.resources
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
from kernel import bound
from kernel_case import Case
from kernel_writes import along_axis_by_expand

SIZES = ((20_000, 200), (50_000, 1000), (200_000, 10_000), (200_000, 100_000))
WIDTH = 64
Run = Callable[[], object]


def in_torch(case: Case, threads: int) -> Run | None:
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(threads)
    data, updates = torch.from_numpy(case.data), torch.from_numpy(case.inputs["updates"])
    rows = torch.from_numpy(case.inputs["f"][:, 0].copy())
    output = torch.empty_like(data)
    return lambda: output.copy_(data).index_add_(0, rows, updates)


def in_openvino(case: Case, threads: int) -> Run | None:
    try:
        import openvino
    except ImportError:
        return None
    core = openvino.Core()
    # An f32 is not rounded to bfloat16 on the way, where a processor could.
    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    compiled = core.compile_model(core.read_model(case.builtin), "CPU", options)
    request = compiled.create_infer_request()
    arrays = case.inputs | {"data": case.data}
    for place in compiled.inputs:
        name = place.get_any_name()
        request.set_tensor(name, openvino.Tensor(arrays[name], shared_memory=True))
    return request.infer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--library", default=os.environ.get("ONNX_SCATTERX_LIBRARY"))
    args = parser.parse_args()
    library = args.library or str(importlib.resources.files("onnx_scatterx") / "scatterx_ops.so")
    clock = time.process_time if args.threads == 1 else time.perf_counter
    ratios: dict[str, list[float]] = {}
    for edges, rows in SIZES:
        case = along_axis_by_expand("sums", (rows, WIDTH), 0, edges, "colliding", "float32", "add")
        made = {
            "ScatterX": bound(case.scatterx, case, args.threads, library),
            "ONNX Runtime": bound(case.builtin, case, args.threads, library),
            "PyTorch": in_torch(case, args.threads),
            "OpenVINO": in_openvino(case, args.threads),
        }
        runs = {name: run for name, run in made.items() if run is not None}
        least = dict.fromkeys(runs, np.inf)
        for run in runs.values():
            run()
        for _ in range(args.rounds):
            for name, run in runs.items():
                start = clock()
                run()
                least[name] = min(least[name], clock() - start)
        times = ", ".join(f"{name} {taken * 1e3:.2f} ms" for name, taken in least.items())
        print(f"{edges} edges into {rows} rows: {times}", flush=True)
        for name, taken in least.items():
            ratios.setdefault(name, []).append(taken / least["ScatterX"])
    for name, found in ratios.items():
        if name != "ScatterX":
            mean, low = statistics.geometric_mean(found), min(found)
            print(
                f"{name}: ScatterX is {mean:.2f} times as fast (geometric mean), at least {low:.2f}"
            )


if __name__ == "__main__":
    main()
