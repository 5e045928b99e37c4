"""How the time of ``optimize`` grows with the model: a line, or something is wrong.

    python benchmarks/scaling.py [NODES ...] [--kind writes]
    python benchmarks/scaling.py --mixed 10 100 300 1000           # nodes and time of each write

There are two kinds of models. ``writes`` is a chain of slice assignments as exporters write them
for dynamic shapes: eleven nodes with one ScatterND between transposes. ``layers`` is a chain of
layers of a transformer with shapes computed in the graph, and a slice assignment in every second
one: 110 nodes with one ScatterND. Prints CPU seconds, milliseconds for each node, and the ratio of
these to the size before. ``--mixed`` has chains of writes of all kinds to one tensor.
"""

import argparse
import sys
import time
from pathlib import Path

import onnx
import onnx.parser

import onnx_scatterx

WRITE = """
    shape_{i} = Shape (x_{i})
    size_{i} = Gather <axis = 0> (shape_{i}, one)
    all_{i} = Range (zero, size_{i}, one)
    some_{i} = Slice (all_{i}, first, last, axis, step)
    rows_{i} = Unsqueeze (some_{i}, minus)
    data_{i} = Transpose <perm = {perm}> (x_{i})
    part_{i} = Slice (data_{i}, first, last, axis, step)
    new_{i} = Exp (part_{i})
    out_{i} = ScatterND (data_{i}, rows_{i}, new_{i})
    back_{i} = Transpose <perm = {perm}> (out_{i})"""

HEADS = """
    {q}m_{i} = MatMul (x_{i}, weight)
    {q}a_{i} = Add ({q}m_{i}, bias)
    {q}s_{i} = Shape ({q}a_{i})
    {q}b_{i} = Gather <axis = 0> ({q}s_{i}, zero)
    {q}t_{i} = Gather <axis = 0> ({q}s_{i}, one)
    {q}c_{i} = Unsqueeze ({q}b_{i}, axis)
    {q}u_{i} = Unsqueeze ({q}t_{i}, axis)
    {q}d_{i} = Concat <axis = 0> ({q}c_{i}, {q}u_{i}, four, four)
    {q}r_{i} = Reshape ({q}a_{i}, {q}d_{i})
    {q}_{i} = Transpose <perm = [0, 2, 1, 3]> ({q}r_{i})"""

ATTENTION = """
    keys_{i} = Transpose <perm = [0, 1, 3, 2]> (k_{i})
    score_{i} = MatMul (q_{i}, keys_{i})
    weights_{i} = Softmax <axis = -1> (score_{i})
    seen_{i} = MatMul (weights_{i}, v_{i})
    turned_{i} = Transpose <perm = [0, 2, 1, 3]> (seen_{i})
    joined_{i} = Reshape (turned_{i}, whole)
    mixed_{i} = MatMul (joined_{i}, weight)
    biased_{i} = Add (mixed_{i}, bias)
    added_{i} = Add (biased_{i}, x_{i})
    mean_{i} = ReduceMean <axes = [-1]> (added_{i})
    less_{i} = Sub (added_{i}, mean_{i})
    square_{i} = Mul (less_{i}, less_{i})
    variance_{i} = ReduceMean <axes = [-1]> (square_{i})
    deviation_{i} = Sqrt (variance_{i})
    normal_{i} = Div (less_{i}, deviation_{i})
    up_{i} = MatMul (normal_{i}, weight)
    relu_{i} = Relu (up_{i})
    down_{i} = MatMul (relu_{i}, weight)
    x_{n} = Add (down_{i}, normal_{i})"""

CONSTANTS = """int64 zero = {0}, int64 one = {1}, int64[1] first = {1}, int64[1] last = {-1},
    int64[1] axis = {0}, int64[1] step = {1}, int64[1] minus = {-1}, int64[1] four = {4},
    int64[3] whole = {0, 0, 16}"""


def writes(nodes: int) -> onnx.ModelProto:
    """Return a model of about so many nodes: slice assignments, one after the other."""
    blocks = max(1, nodes // 11)
    text = WRITE + "\n    x_{n} = Sigmoid (back_{i})"
    body = "".join(text.format(i=i, n=i + 1, perm=[1, 0]) for i in range(blocks))
    return _model("float[B, T]", blocks, body)


def layers(nodes: int) -> onnx.ModelProto:
    """Return a model of about so many nodes: layers of a transformer."""
    pairs = max(1, nodes // 110)
    body = ""
    for i in range(0, 3 * pairs, 3):
        body += _layer(i) + _layer(i + 1) + WRITE.format(i=i + 2, perm=[1, 0, 2])
        body += f"\n    x_{i + 3} = Identity (back_{i + 2})"
    return _model("float[B, T, 16]", 3 * pairs, body)


def _layer(i: int) -> str:
    return "".join(HEADS.format(i=i, q=q) for q in "qkv") + ATTENTION.format(i=i, n=i + 1)


def _model(kind: str, last: int, body: str) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        chain ({kind} x_0) => ({kind} x_{last}) <{CONSTANTS}> {{ {body} }}""")
    for name, shape in (("weight", (16, 16)), ("bias", (16,))):
        tensor = onnx.helper.make_tensor(
            name, onnx.TensorProto.FLOAT, shape, [1.0] * (16 ** len(shape))
        )
        model.graph.initializer.append(tensor)
    return model


KINDS = {"writes": writes, "layers": layers}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("nodes", nargs="*", type=int, default=[2_500, 5_000, 10_000, 20_000])
    parser.add_argument("--kind", choices=KINDS, action="append", help="one kind of models alone")
    parser.add_argument("--mixed", nargs="+", type=int, metavar="WRITES", help="mixed writes alone")
    arguments = parser.parse_args()
    if arguments.mixed:
        mixed(arguments.mixed)
        return
    for kind in arguments.kind or KINDS:
        onnx_scatterx.optimize(KINDS[kind](110))  # imports count for no model
        before = None
        for nodes in arguments.nodes:
            proto = KINDS[kind](nodes)
            count = len(proto.graph.node)
            start = time.process_time()
            report = onnx_scatterx.optimize(proto, target="standard").report
            seconds = time.process_time() - start
            each = seconds / count
            growth = 1.0 if before is None else each / before
            before = each
            size = f"{kind} {count:8} nodes {seconds:8.2f} s {1e3 * each:7.3f} ms a node"
            print(f"{size} {growth:5.2f} times as long per node  {report.summary()}", flush=True)


def mixed(counts: list[int]) -> None:
    """Print the nodes and milliseconds that each write of a chain of mixed writes takes."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.helpers.long_chains import STYLES, long_chain

    onnx_scatterx.optimize(long_chain(5, 0, "dynamo", dynamic=True), target="standard")
    for style in STYLES:
        for dynamic in (False, True):
            for count in counts:
                proto = long_chain(count, 1, style, dynamic=dynamic)
                start = time.process_time()
                result = onnx_scatterx.optimize(proto, target="standard")
                each = 1e3 * (time.process_time() - start) / count
                nodes = len(result.model.graph.node) / count
                sizes = "dynamic" if dynamic else "static"
                print(
                    f"{style:12}{sizes:8}{count:6} writes {nodes:7.2f} nodes {each:7.2f} ms each"
                    f"  {result.report.summary()}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
