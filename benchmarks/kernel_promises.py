"""Measures what the kernel promises, one line each: how near a memcpy it is, what a step costs in
place, and that a chain of temporaries is never copied.

    python benchmarks/kernel_promises.py [--threads 1 2]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime as ort
from kernel import bound, memcpy, seconds_of
from kernel_case import scatter_nd, scatterx
from kernel_cases import CASES
from onnx import helper

import onnx_scatterx

SECONDS = 1.0  # for the runs of one line


def in_turns(threads: int, *runs: Callable[[], None]) -> list[float]:
    """Give every run's median seconds; the runs take turns."""
    for run in runs:
        run()
    rounds = max(9, min(400, int(SECONDS / sum(seconds_of(run) for run in runs))))
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, taken in zip(runs, times, strict=True):
            taken.append(seconds_of(run, threads))
    return [statistics.median(taken) for taken in times]


def contiguous(threads: int, library: str) -> str:
    case = CASES["rows axis 0, following, 256M, float32"]()
    ours, limit = in_turns(
        threads, bound(case.scatterx, case, threads, library), memcpy(case, threads)
    )
    return f"256 MB, contiguous rows: {ours / limit:.2f} of a memcpy of data and updates (1.1)"


def decode(threads: int, library: str) -> str:
    here = CASES["decode in place, TensorScatter, 256M, float32"]()
    copying = CASES["decode copying, TensorScatter, 256M, float32"]()
    ours, theirs = in_turns(
        threads,
        bound(here.scatterx, here, threads, library),
        bound(here.builtin, here, threads, library),
    )
    (copy,) = in_turns(threads, bound(copying.builtin, copying, threads, library))
    return (
        f"256 MB, decode step in place: {theirs / ours:.2f} times the built-in in place (0.95),"
        f" {copy / ours:.0f} times the copying built-in (50)"
    )


def chain(kind: str, length: int) -> bytes:
    """Write one row of a 32 MB tensor, again and again."""
    nodes = []
    for i in range(length):
        node = scatterx((0,), (1,), (0, 1)) if kind == "ScatterX" else scatter_nd()[0]
        node.input[0] = "data" if i == 0 else f"t{i}"
        node.input[1] = "rows"
        node.output[0] = "output" if i == length - 1 else f"t{i + 1}"
        nodes.append(node)
    values = [
        helper.make_tensor_value_info(name, dtype, shape)
        for name, dtype, shape in (
            ("data", onnx.TensorProto.FLOAT, [8192, 1024]),
            ("rows", onnx.TensorProto.INT64, [1, 1]),
            ("updates", onnx.TensorProto.FLOAT, [1, 1024]),
            ("output", onnx.TensorProto.FLOAT, [8192, 1024]),
        )
    ]
    graph = helper.make_graph(nodes, "g", values[:3], values[3:])
    domains = [helper.make_opsetid("", 18), helper.make_opsetid("onnx_scatterx", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=10).SerializeToString()


def temporaries(threads: int, library: str) -> str:
    feed = {
        "data": np.zeros((8192, 1024), np.float32),
        "rows": np.full((1, 1), 7),
        "updates": np.ones((1, 1024), np.float32),
    }

    def runner(kind: str, length: int) -> Callable[[], None]:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        options.register_custom_ops_library(library)
        session = ort.InferenceSession(
            chain(kind, length), options, providers=["CPUExecutionProvider"]
        )
        return lambda: session.run(None, feed)

    few, many = 3, 13
    times = in_turns(
        threads, *(runner(k, n) for k in ("ScatterX", "ScatterND") for n in (few, many))
    )
    ours, theirs = ((times[i + 1] - times[i]) / (many - few) * 1e3 for i in (0, 2))
    return (
        f"32 MB, one more row in a chain of temporaries: ScatterX {ours:.3f} ms,"
        f" ScatterND {theirs:.3f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    args = parser.parse_args()
    library = str(onnx_scatterx.library_path())
    start = time.perf_counter()
    for threads in args.threads:
        for promise in (contiguous, decode, temporaries):
            print(f"{threads} threads: {promise(threads, library)}", flush=True)
    print(f"ONNX Runtime {ort.__version__}, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
