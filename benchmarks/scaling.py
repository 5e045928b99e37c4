"""How the time of ``optimize`` grows with the model: a line, or something is wrong.

    python benchmarks/scaling.py [BLOCKS ...]

Every block is a slice assignment as exporters write it for dynamic shapes (ten nodes with one
ScatterND between transposes) on the result of the block before, followed by an elementwise
operator. Prints seconds and the ratio to the size before.
"""

import sys
import time

import onnx
import onnx.parser

import onnx_scatterx

BLOCK = """
    shape_{i} = Shape (x_{i})
    size_{i} = Gather <axis = 0> (shape_{i}, one)
    all_{i} = Range (zero, size_{i}, one)
    some_{i} = Slice (all_{i}, first, last, axis, step)
    rows_{i} = Unsqueeze (some_{i}, minus)
    data_{i} = Transpose <perm = [1, 0]> (x_{i})
    part_{i} = Slice (data_{i}, first, last, axis, step)
    new_{i} = Exp (part_{i})
    out_{i} = ScatterND (data_{i}, rows_{i}, new_{i})
    back_{i} = Transpose <perm = [1, 0]> (out_{i})
    x_{n} = Sigmoid (back_{i})"""


def model(blocks: int) -> onnx.ModelProto:
    """Return a model with this many slice assignments, one after the other."""
    body = "".join(BLOCK.format(i=i, n=i + 1) for i in range(blocks))
    return onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        chain (float[B, T] x_0) => (float[B, T] x_{blocks})
        <int64 zero = {{0}}, int64 one = {{1}}, int64[1] first = {{1}}, int64[1] last = {{-1}},
         int64[1] axis = {{0}}, int64[1] step = {{1}}, int64[1] minus = {{-1}}> {{ {body} }}""")


def main(sizes: list[int]) -> None:
    """Print the table."""
    before = None
    for blocks in sizes:
        proto = model(blocks)
        start = time.perf_counter()
        report = onnx_scatterx.optimize(proto, target="standard").report
        seconds = time.perf_counter() - start
        size = f"{len(proto.graph.node):8} nodes {blocks:7} scatters {seconds:8.2f} s"
        growth = 1.0 if before is None else seconds / before[0] * before[1] / blocks
        print(f"{size}  {growth:5.2f} times as long per node  {report.summary()}")
        before = seconds, blocks


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]] or [250, 500, 1000, 2000])
