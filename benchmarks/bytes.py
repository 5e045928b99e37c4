"""How the time of a written model grows with the bytes that it moves.

    python benchmarks/bytes.py [--plot FILE.svg]     # the plot needs matplotlib

The write is ``cache[:, :n] = new`` with an eighth of the rows new, as dynamo exports it, between a
Neg and the output. Prints the milliseconds of the original and of the results of the targets.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import onnx
import onnx.parser
import onnxruntime as ort
from scaling import lines

import onnx_scatterx

TARGETS = ("standard", "ort-cpu")
MEGABYTE = 1 << 20
SIZES = (8, 16, 32, 64, 128, 256)

TEXT = """<ir_version: 8, opset_import: ["" : 18]>
    write (float[4, {rows}, 128] cache, float[4, {new}, 128] new) => (float[4, {rows}, 128] out)
    <int64 zero = {{0}}, int64 one = {{1}}, int64 end = {{{new}}}, int64[1] axis = {{1}}> {{
        range = Range(zero, end, one)             indices = Unsqueeze(range, axis)
        y = Neg(cache)
        x = Transpose <perm = [1, 0, 2]> (y)      u = Transpose <perm = [1, 0, 2]> (new)
        s = ScatterND(x, indices, u)              out = Transpose <perm = [1, 0, 2]> (s) }}"""


def bound(model: onnx.ModelProto, inputs: dict[str, np.ndarray], output: np.ndarray):
    """Return a call that runs a model on one thread, with all memory bound once."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnx_scatterx.session(model, session_options=options)
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    binding.bind_ortvalue_output("out", ort.OrtValue.ortvalue_from_numpy(output))
    return lambda: session.run_with_iobinding(binding)


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the times too")
    arguments = parser.parse_args()
    series: dict[str, list[tuple[float, float]]] = {n: [] for n in ("original", *TARGETS)}
    for size in SIZES:
        rows = size * MEGABYTE // (4 * 128 * 4)
        model = onnx.parser.parse_model(TEXT.format(rows=rows, new=rows // 8))
        cache = np.ones((4, rows, 128), np.float32)
        inputs = {"cache": cache, "new": cache[:, : rows // 8].copy()}
        models = {"original": model}
        models |= {t: onnx_scatterx.optimize(model, target=t).model for t in TARGETS}
        runs = {name: bound(made, inputs, cache.copy()) for name, made in models.items()}
        least = dict.fromkeys(runs, float("inf"))
        for _ in range(9):
            for name, run in runs.items():
                start = time.perf_counter()
                run()
                least[name] = min(least[name], time.perf_counter() - start)
        for name, seconds in least.items():
            series[name].append((size, seconds * 1e3))
        print(f"{size:5} MB  " + "  ".join(f"{n} {s * 1e3:8.2f} ms" for n, s in least.items()))
    if arguments.plot:
        lines(series, "megabytes of the cache", "milliseconds", arguments.plot)


if __name__ == "__main__":
    main()
