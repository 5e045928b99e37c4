"""How the time of ``optimize`` grows with the model: a line, or something is wrong.

    python benchmarks/scaling.py [BLOCKS ...] [--plot FILE.svg]     # the plot needs matplotlib

Every block is a slice assignment as exporters write it for dynamic shapes (ten nodes with one
ScatterND between transposes) on the result of the block before, followed by an elementwise
operator. Prints CPU seconds and the ratio to the size before.
"""

import argparse
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


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("blocks", nargs="*", type=int, default=[250, 500, 1000, 2000])
    parser.add_argument("--plot", metavar="FILE", help="draw the times too")
    arguments = parser.parse_args()
    before = None
    points = []
    for blocks in arguments.blocks:
        proto = model(blocks)
        start = time.process_time()
        report = onnx_scatterx.optimize(proto, target="standard").report
        seconds = time.process_time() - start
        size = f"{len(proto.graph.node):8} nodes {blocks:7} scatters {seconds:8.2f} s"
        growth = 1.0 if before is None else seconds / before[0] * before[1] / blocks
        print(f"{size}  {growth:5.2f} times as long per node  {report.summary()}")
        before = seconds, blocks
        points.append((len(proto.graph.node), seconds))
    if arguments.plot:
        lines({"optimize": points}, "nodes", "CPU seconds", arguments.plot)


def lines(series: dict[str, list[tuple[float, float]]], across: str, up: str, path: str) -> None:
    """Draw measured points, joined, with the line through zero and the last one behind them."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "onnx-scatterx"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.6))
    for label, points in series.items():
        x, y = zip(*points, strict=True)
        (drawn,) = axes.plot(x, y, "o-", label=label)
        axes.plot((0, x[-1]), (0, y[-1]), ":", color=drawn.get_color())
    axes.set(xlabel=across, ylabel=up)
    axes.set_xlim(0)
    axes.set_ylim(0)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
