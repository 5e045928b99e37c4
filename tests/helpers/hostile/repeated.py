"""One thing that a model has many thousand times: inputs, readers, names, states, constants.

At their largest, these models have more nodes, inputs or letters than those of 1 MB.
"""

import onnx
import onnx.parser
from onnx import TensorProto, helper

from tests.helpers.hostile.registry import WRITE, model_of
from tests.helpers.hostile.registry import hostile as huge

FIRST = ["a = ScatterND (x, c, u)"]
KNOWN = ", int64[1, 1] c = {1}"


@huge(100_000)
def _read_often(count: int) -> onnx.ModelProto:
    """A tensor that one node reads many times."""
    body = [*FIRST, f"y = Concat <axis = 0> ({', '.join(['a'] * count)})"]
    return model_of(body, known=KNOWN, result="float[R, 2] y")


@huge(100_000)
def _summed_often(count: int) -> onnx.ModelProto:
    """A node of many inputs that moves nothing."""
    body = [*FIRST, f"s = Sum ({', '.join(['a'] * count)})", "y = ScatterND (s, c, u)"]
    return model_of(body, known=KNOWN)


@huge(16_000)
def _unread(count: int) -> onnx.ModelProto:
    """A node of many inputs that is removed, because only indices are computed from it."""
    sizes = [f"p{k} = Identity (n)" for k in range(count)]
    body = [*sizes, f"most = Max ({', '.join(f'p{k}' for k in range(count))})"]
    body += ["zeros = Mul (most, zero)", "rows = Reshape (zeros, minus)", *WRITE]
    return model_of(body, inputs="float[4, 2] x, float[1, 2] u, int64 n")


@huge(50_000)
def _parted(count: int) -> onnx.ModelProto:
    """A Split of what was written into many parts, all put together again."""
    parts = ", ".join(f"p{k}" for k in range(count))
    body = ["a = ScatterND (x, c, u)", f"{parts} = Split <num_outputs = {count}> (a)"]
    body += [f"y = Concat <axis = 0> ({parts})"]
    size = f"float[{count}, 2]"
    return model_of(body, inputs=f"{size} x, float[1, 2] u", result=f"{size} y", known=KNOWN)


@huge(100_000)
def _turned_often(count: int) -> onnx.ModelProto:
    """A tensor that many Transposes read."""
    body = [*FIRST, *(f"t{k} = Transpose <perm = [1, 0]> (a)" for k in range(count))]
    return model_of([*body, f"y = Transpose <perm = [1, 0]> (t{count - 1})"], known=KNOWN)


@huge(3000)
def _chained(count: int) -> onnx.ModelProto:
    """A chain of writes of boxes that overlap."""
    body = ["y0 = Identity (x)"]
    for k in range(count):
        body += [f"i{k} = Constant <value = int64[1, 1] {{{k * 7 % 64}}}> ()"]
        body += [f"e{k} = Exp (u)", f"y{k + 1} = ScatterND (y{k}, i{k}, e{k})"]
    body += [f"y = Identity (y{count})"]
    return model_of(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@huge(10_000)
def _side_by_side(count: int) -> onnx.ModelProto:
    """Many scatters, each of which writes a graph input at a row of its own."""
    body = [f"i{k} = Constant <value = int64[1, 1] {{{k % 4}}}> ()" for k in range(count)]
    body += [f"y{k} = ScatterND (x, i{k}, u)" for k in range(count)]
    body += [f"y = Sum ({', '.join(f'y{k}' for k in range(count))})"]
    return model_of(body)


@huge(2000)
def _states(count: int) -> onnx.ModelProto:
    """A Loop of many states around a scatter."""
    float_, int64, bool_ = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
    info = helper.make_tensor_value_info
    given = [info(f"s{k}", float_, [4, 2]) for k in range(count)]
    left = [info(f"t{k}", float_, [4, 2]) for k in range(count)]
    body = [helper.make_node("Identity", ["on"], ["more"])]
    body += [helper.make_node("ScatterND", ["s0", "c", "u"], ["t0"])]
    body += [helper.make_node("Add", [f"s{k}", "t0"], [f"t{k}"]) for k in range(1, count)]
    inner = helper.make_graph(
        body,
        "b",
        [info("i", int64, []), info("on", bool_, []), *given],
        [info("more", bool_, []), *left],
    )
    loop = helper.make_node(
        "Loop", ["n", "", *["x"] * count], [f"r{k}" for k in range(count)], body=inner
    )
    total = helper.make_node("Sum", [f"r{k}" for k in range(count)], ["y"])
    graph = helper.make_graph(
        [loop, total],
        "g",
        [info("x", float_, [4, 2]), info("u", float_, [1, 2]), info("n", int64, [])],
        [info("y", float_, [4, 2])],
        [helper.make_tensor("c", int64, [1, 1], [1])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


@huge(400)
def _named(count: int) -> onnx.ModelProto:
    """Scatters of long names."""
    model = model_of(
        [f"y{k} = ScatterND (x, j, u)" for k in range(count)] + ["y = Identity (y0)"],
        inputs="float[N, 2] x, int64[1, 1] j, float[1, 2] u",
        result="float[N, 2] y",
    )
    for k, node in enumerate(model.graph.node):
        node.name = f"{k:05}" + "n" * 60_000
    return model


@huge(3000)
def _chosen_by(count: int) -> onnx.ModelProto:
    """A mask that many And and Or compute, and what it writes."""
    body = ["m0 = Greater (x, x)"]
    body += [f"m{k + 1} = {('And', 'Or')[k % 2]} (m{k}, b)" for k in range(count)]
    body += [f"z = NonZero (m{count})", "i = Transpose <perm = [1, 0]> (z)"]
    body += ["s = Shape (i)", "n = Slice (s, first, after, first)", "v = Expand (f, n)"]
    body += ["y = ScatterND (x, i, v)"]
    return model_of(
        body, inputs="float[4, 2] x, bool[4, 2] b", known=", int64[1] after = {1}, float f = {1.0}"
    )


@huge(30_000)
def _sized(count: int) -> onnx.ModelProto:
    """A size to which many numbers are added."""
    body = ["s = Shape (x)", "n0 = Gather (s, zero)"]
    body += [f"n{k + 1} = Add (n{k}, one)" for k in range(count)]
    body += [f"rows = Reshape (n{count}, minus)", *WRITE]
    return model_of(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@huge(3000)
def _summed_up(count: int) -> onnx.ModelProto:
    """Large constants, each computed from the one before."""
    body = ["r = Range (zero, wide, one)", "q0 = Mul (r, zero)"]
    body += [f"q{k + 1} = CumSum (q{k}, zero)" for k in range(count)]
    body += [f"rows = Slice (q{count}, first, after, first)", *WRITE]
    return model_of(body, known=", int64 wide = {65536}, int64[1] after = {1}")
