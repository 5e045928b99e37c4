"""Times ``optimize`` itself: beside onnxslim on a folder of models, and on weights outside.

    pip install onnxslim
    python benchmarks/tool.py FOLDER [--json FILE]       # both tools on every model, in turns
    python benchmarks/tool.py --weights 10               # 10 GB of external data: time and memory

Times are the least CPU seconds of three runs on a model in memory. The weights are a file without
content (a hole), which takes no place on the disk.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import math
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser

import onnx_scatterx
from onnx_scatterx.files.writing import write_text

GIGABYTE = 1 << 30

LAYER = """
    h_{i} = MatMul (x_{i}, w_{i})
    shape_{i} = Shape (h_{i})
    size_{i} = Gather <axis = 0> (shape_{i}, zero)
    all_{i} = Range (zero, size_{i}, one)
    some_{i} = Slice (all_{i}, first, last, axis)
    rows_{i} = Unsqueeze (some_{i}, minus)
    part_{i} = Slice (h_{i}, first, last, axis)
    new_{i} = Exp (part_{i})
    x_{n} = ScatterND (h_{i}, rows_{i}, new_{i})"""


def seconds(run: Callable[[onnx.ModelProto], object], model: onnx.ModelProto) -> float:
    """Return the least CPU seconds of a tool on a model; infinite if it fails."""
    best = math.inf
    for _ in range(3):
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        start = time.process_time()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                run(copy)
        except Exception:  # of another tool: it gets no time
            return math.inf
        best = min(best, time.process_time() - start)
    return best


def compare(folder: Path) -> dict[str, tuple[float, float]]:
    """Print and return the seconds of both tools for every model that both can take."""
    import onnxslim

    times = {}
    for path in sorted(folder.rglob("*.onnx")):
        model = onnx.load(path)
        ours = seconds(lambda m: onnx_scatterx.optimize(m, target="standard"), model)
        theirs = seconds(onnxslim.slim, model)
        if math.isfinite(ours) and math.isfinite(theirs):
            times[path.stem] = ours, theirs
    ours, theirs = ([math.log(t[i]) for t in times.values()] for i in (0, 1))
    mean, other = math.exp(statistics.fmean(ours)), math.exp(statistics.fmean(theirs))
    slowest = max(times, key=lambda name: times[name][0])
    print(
        f"{len(times)} models, geometric mean: {mean * 1e3:.1f} ms, onnxslim {other * 1e3:.1f} ms"
    )
    print(f"{other / mean:.2f} times as fast; slowest {slowest}, {times[slowest][0]:.2f} s")
    return times


def weights(gigabytes: int) -> None:
    """Print the time and the memory that optimizing a model with large weights takes."""
    side = int(math.sqrt(GIGABYTE / 4))
    body = "".join(LAYER.format(i=i, n=i + 1) for i in range(gigabytes))
    head = '<ir_version: 8, opset_import: ["" : 18]>'
    small = onnx.parser.parse_model(f"{head} g (float[2] x) => (float[2] y) {{ y = Neg (x) }}")
    onnx_scatterx.optimize(small)  # imports do not count
    model = onnx.parser.parse_model(f"""{head}
        layers (float[B, {side}] x_0) => (float[B, {side}] x_{gigabytes})
        <int64 zero = {{0}}, int64 one = {{1}}, int64[1] first = {{1}}, int64[1] last = {{-1}},
         int64[1] axis = {{0}}, int64[1] minus = {{-1}}> {{ {body} }}""")
    for i in range(gigabytes):
        tensor = model.graph.initializer.add(
            name=f"w_{i}", data_type=onnx.TensorProto.FLOAT, dims=[side, side]
        )
        tensor.data_location = onnx.TensorProto.EXTERNAL
        entries = {"location": "weights", "offset": i * GIGABYTE, "length": 4 * side * side}
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=str(value))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        onnx.save(model, folder / "model.onnx")
        with (folder / "weights").open("wb") as file:
            file.truncate(gigabytes * GIGABYTE)
        written = (folder / "weights").stat().st_mtime_ns
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        result = onnx_scatterx.optimize(folder / "model.onnx", target="standard")
        result.save(folder / "optimized.onnx")
        took = time.perf_counter() - start
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        untouched = (folder / "weights").stat().st_mtime_ns == written
    print(f"{gigabytes} GB of weights: {result.report.summary()}")
    print(
        f"{took:.2f} s, {more:.0f} MB more than before; the weights are as they were: {untouched}"
    )


def main() -> None:
    """Run the measurements that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--weights", type=int, metavar="GB")
    parser.add_argument("--json", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if arguments.folder is not None:
        times = compare(arguments.folder)
        if arguments.json is not None:
            write_text(arguments.json, json.dumps(times, indent=1))
    if arguments.weights is not None:
        weights(arguments.weights)


if __name__ == "__main__":
    main()
