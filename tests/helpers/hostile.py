"""Small models that are costly to look at: each asks for far more than its bytes tell.

``HOSTILE`` has them by name; the number that each takes is how often what costs is repeated, and
``LARGE`` makes it a model of up to 1 MB. ``pyramid`` is none of them: exporters write such models,
and it is to be rewritten.
"""

from collections.abc import Callable, Sequence

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

Build = Callable[[int], onnx.ModelProto]

HOSTILE: dict[str, Build] = {}
LARGE: dict[str, int] = {}


def _hostile(large: int) -> Callable[[Build], Build]:
    def add(build: Build) -> Build:
        name = build.__name__.removeprefix("_")
        HOSTILE[name], LARGE[name] = build, large
        return build

    return add


def _text(
    body: Sequence[str],
    *,
    inputs: str = "float[4, 2] x, float[1, 2] u",
    result: str = "float[4, 2] y",
    known: str = "",
    more: str = "",
) -> onnx.ModelProto:
    """A graph of text with a few constants; ``more`` are functions."""
    domain = ', "f" : 1' if more else ""
    return onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 18{domain}]>
        g ({inputs}) => ({result})
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64[1] first = {{0}},
         int64[1] minus = {{-1}}{known}> {{ {chr(10).join(body)} }} {more}""")


def _wide(power: int) -> str:
    return f", int64[1] wide = {{{1 << power}}}"


_WRITE = ["i = Unsqueeze (rows, minus)", "y = ScatterND (x, i, u)"]


@_hostile(40)
def _expanded_indices(power: int) -> onnx.ModelProto:
    """One index, expanded to 2^power."""
    body = ["rows = Expand (zero, wide)", *_WRITE]
    return _text(body, inputs="float[4, 2] x, float[K, 2] u", known=_wide(power))


@_hostile(40)
def _gathered(power: int) -> onnx.ModelProto:
    """A Gather at one index, expanded, and a scatter at what it reads."""
    body = ["all = Expand (zero, wide)", "rows = Gather (table, all)", *_WRITE]
    known = _wide(power) + ", int64[4] table = {3, 1, 2, 0}"
    return _text(body, inputs="float[4, 2] x, float[K, 2] u", known=known)


@_hostile(30)
def _summed(power: int) -> onnx.ModelProto:
    """A CumSum over what an Expand made."""
    body = ["all = Expand (table, wide)", "rows = CumSum (all, zero)", *_WRITE]
    known = _wide(power) + ", int64[1] table = {3}"
    return _text(body, inputs="float[4, 2] x, float[K, 2] u", known=known)


@_hostile(4000)
def _many_large(count: int) -> onnx.ModelProto:
    """Ranges of 2^20 elements, each multiplied, summed up, and read at its ends."""
    body = ["n = Squeeze (wide)"]
    for k in range(count):
        body += [f"r{k} = Range (zero, n, one)", f"s{k} = Mul (r{k}, r{k})"]
        body += [f"c{k} = CumSum (s{k}, zero)", f"g{k} = Gather (q, c{k})"]
    body += ["rows = Gather (c0, first)", *_WRITE]
    return _text(body, inputs="float[4, 2] x, float[1, 2] u, float[Q] q", known=_wide(20))


@_hostile(40)
def _made(power: int) -> onnx.ModelProto:
    """Tile, Pad, ConstantOfShape, Range, OneHot and Resize to 2^power."""
    body = [
        "size = Squeeze (wide)",
        "tiled = Tile (first, wide)",
        "both = Concat <axis = 0> (wide, wide)",
        "padded = Pad (first, both)",
        "zeros = ConstantOfShape <value = int64[1] {0}> (wide)",
        "counted = Range (zero, size, one)",
        "hot = OneHot (first, size, pair)",
        "flat = Reshape (hot, minus)",
        "scaled = Cast <to = 1> (first)",
        'resized = Resize <mode = "nearest"> (scaled, , , wide)',
        "whole = Cast <to = 7> (resized)",
        "joined = Concat <axis = 0> (tiled, padded, zeros, counted, flat, whole)",
        "rows = Mod (joined, two)",
        *_WRITE,
    ]
    inputs, known = "float[4, 2] x, float[K, 2] u", _wide(power) + ", int64[2] pair = {0, 1}"
    return _text(body, inputs=inputs, known=known)


@_hostile(40)
def _squared(times: int) -> onnx.ModelProto:
    """A size, squared again and again: a monomial of 2^times factors."""
    body = ["s = Shape (x)", "p0 = Gather (s, first)"]
    body += [f"p{k + 1} = Mul (p{k}, p{k})" for k in range(times)]
    body += [f"rows = Sub (p{times}, p{times - 1})", *_WRITE]
    return _text(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@_hostile(60)
def _doubled_cases(times: int) -> onnx.ModelProto:
    """A number that stands twice in the next one, within a case: a tree of 2^times."""
    body = ["s = Shape (x)", "p0 = Gather (s, first)"]
    for k in range(times):
        body += [
            f"d{k} = Div (p{k}, two)",
            f"m{k} = Max (p{k}, d{k})",
            f"e{k} = Sub (m{k}, two)",
            f"a{k} = Abs (e{k})",
            f"p{k + 1} = Add (a{k}, d{k})",
        ]
    body += [f"rows = Identity (p{times})", *_WRITE]
    return _text(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@_hostile(60)
def _multiplied(count: int) -> onnx.ModelProto:
    """The Size of a tensor whose sizes are sums of many."""
    inputs = ", ".join(f"float[A{k}, B{k}] x{k}" for k in range(24))
    parts = ", ".join(f"x{k}" for k in range(24))
    body = [f"r = Concat <axis = 0> ({parts})", f"c = Concat <axis = 1> ({parts})"]
    body += ["sr = Shape (r)", "sc = Shape (c)", "nr = Gather (sr, zero)", "nc = Gather (sc, one)"]
    body += ["p0 = Mul (nr, nc)"] + [f"p{k + 1} = Mul (p{k}, nr)" for k in range(count)]
    body += [f"rows = Reshape (p{count}, minus)", *_WRITE]
    return _text(body, inputs=f"float[N, 2] x, float[1, 2] u, {inputs}", result="float[N, 2] y")


@_hostile(9000)
def _concatenated(count: int) -> onnx.ModelProto:
    """A Concat of many pieces, each of a size of its own."""
    pieces = [f"p{k} = Range (zero, n{k}, one)" for k in range(count)]
    inputs = ", ".join(f"int64 n{k}" for k in range(count))
    body = [*pieces, f"rows = Concat <axis = 0> ({', '.join(f'p{k}' for k in range(count))})"]
    return _text([*body, *_WRITE], inputs=f"float[4, 2] x, float[K, 2] u, {inputs}")


@_hostile(20000)
def _grown(count: int) -> onnx.ModelProto:
    """A list that grows by one number at a time."""
    body = ["s = Shape (x)", "n = Slice (s, first, minus)", "l0 = Identity (n)"]
    body += [f"l{k + 1} = Concat <axis = 0> (l{k}, n)" for k in range(count)]
    return _text(
        [*body, f"rows = Identity (l{count})", *_WRITE],
        inputs="float[N, 2] x, float[K, 2] u",
        result="float[N, 2] y",
    )


@_hostile(30000)
def _added(count: int) -> onnx.ModelProto:
    """A chain of Adds."""
    body = ["s = Shape (x)", "a0 = Gather (s, first)"]
    body += [f"a{k + 1} = Add (a{k}, first)" for k in range(count)]
    return _text(
        [*body, f"rows = Identity (a{count})", *_WRITE],
        inputs="float[N, 2] x, float[1, 2] u",
        result="float[N, 2] y",
    )


@_hostile(14000)
def _added_sizes(count: int) -> onnx.ModelProto:
    """A chain of Adds, each of a number that only the run knows."""
    inputs = ", ".join(f"int64 n{k}" for k in range(count))
    body = ["a0 = Identity (first)", *(f"a{k + 1} = Add (a{k}, n{k})" for k in range(count))]
    return _text(
        [*body, f"rows = Identity (a{count})", *_WRITE],
        inputs=f"float[4, 2] x, float[1, 2] u, {inputs}",
    )


@_hostile(12000)
def _scattered(count: int) -> onnx.ModelProto:
    """A chain of scatters, each at a position of its own."""
    body = ["y0 = Identity (x)"]
    for k in range(count):
        body += [f"i{k} = Constant <value = int64[1, 1] {{{k}}}> ()"]
        body += [f"y{k + 1} = ScatterND (y{k}, i{k}, u)"]
    body += [f"y = Identity (y{count})"]
    return _text(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@_hostile(5000)
def _scattered_somewhere(count: int) -> onnx.ModelProto:
    """A chain of scatters, each of rows from a start that only the run knows."""
    body = [
        "y0 = Identity (x)",
        "s = Shape (u)",
        "n = Gather (s, zero)",
        "r = Range (zero, n, one)",
    ]
    inputs = ", ".join(f"int64 p{k}" for k in range(count))
    for k in range(count):
        body += [f"a{k} = Abs (p{k})", f"b{k} = Add (a{k}, r)", f"i{k} = Unsqueeze (b{k}, minus)"]
        body += [f"y{k + 1} = ScatterND (y{k}, i{k}, u)"]
    body += [f"y = Identity (y{count})"]
    return _text(body, inputs=f"float[N, 2] x, float[M, 2] u, {inputs}", result="float[N, 2] y")


@_hostile(8000)
def _many_writes(count: int) -> onnx.ModelProto:
    """Many scatters into many tensors, none of which has to do with another."""
    body = [f"y{k} = ScatterND (x, j, u)" for k in range(count)]
    body += ["y = Identity (y0)"]
    return _text(body, inputs="float[N, 2] x, int64[1, 1] j, float[1, 2] u", result="float[N, 2] y")


@_hostile(20)
def _called(depth: int) -> onnx.ModelProto:
    """Functions that call the next one twice: 2^depth calls."""
    functions = [
        f"""<domain: "f", opset_import: ["" : 18, "f" : 1]>
        f{k} (a) => (b) {{ c = f.f{k + 1} (a) b = f.f{k + 1} (c) }}"""
        for k in range(depth)
    ]
    last = f"""<domain: "f", opset_import: ["" : 18]>
        f{depth} (a) => (b) {{ i = Constant <value = int64[1, 1] {{1}}> ()
                               u = Constant <value = float[1, 2] {{1.0, 2.0}}> ()
                               b = ScatterND (a, i, u) }}"""
    return _text(["y = f.f0 (x)"], more="\n".join([*functions, last]))


@_hostile(3000)
def _called_in_turn(depth: int) -> onnx.ModelProto:
    """Functions that call each other in a long row."""
    functions = [
        f"""<domain: "f", opset_import: ["" : 18, "f" : 1]>
        f{k} (a) => (b) {{ b = f.f{k + 1} (a) }}"""
        for k in range(depth)
    ]
    last = f"""<domain: "f", opset_import: ["" : 18]> f{depth} (a) => (b) {{ b = Identity (a) }}"""
    body = ["z = f.f0 (x)", "rows = Identity (first)", "i = Unsqueeze (rows, minus)"]
    return _text([*body, "y = ScatterND (z, i, u)"], more="\n".join([*functions, last]))


def _graph(
    name: str, nodes: Sequence[onnx.NodeProto], inputs: int, outputs: Sequence[str]
) -> onnx.GraphProto:
    head = [
        helper.make_tensor_value_info(f"{name}/i", TensorProto.INT64, []),
        helper.make_tensor_value_info(f"{name}/c", TensorProto.BOOL, []),
        helper.make_tensor_value_info(f"{name}/v", TensorProto.FLOAT, ["N", 2]),
    ][:inputs]
    kinds = {1: [TensorProto.FLOAT], 2: [TensorProto.BOOL, TensorProto.FLOAT]}[len(outputs)]
    tail = [
        helper.make_tensor_value_info(o, kind, [] if kind == TensorProto.BOOL else ["N", 2])
        for o, kind in zip(outputs, kinds, strict=True)
    ]
    return helper.make_graph(list(nodes), name, head, tail)


def _nested(body: onnx.GraphProto | Sequence[onnx.NodeProto]) -> onnx.ModelProto:
    graph = helper.make_graph(
        list(body),
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2]),
            helper.make_tensor_value_info("u", TensorProto.FLOAT, [1, 2]),
            helper.make_tensor_value_info("b", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])],
        [numpy_helper.from_array(np.zeros((1, 1), np.int64), "i")],
    )
    opset = [helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opset, ir_version=9)


@_hostile(28)
def _loops(depth: int) -> onnx.ModelProto:
    """Loops in loops, whose values take other shapes in each iteration."""
    nodes = [helper.make_node("ScatterND", ["l0/v", "i", "u"], ["l0/w"])]
    for k in range(depth):
        joined = helper.make_node("Concat", [f"l{k}/w", "u"], [f"l{k}/o"], axis=0)
        on = helper.make_node("Identity", [f"l{k}/c"], [f"l{k}/on"])
        body = _graph(f"l{k}", [*nodes, joined, on], 3, [f"l{k}/on", f"l{k}/o"])
        outer = f"l{k + 1}/v" if k + 1 < depth else "x"
        out = f"l{k + 1}/w" if k + 1 < depth else "y"
        nodes = [helper.make_node("Loop", ["", "b", outer], [out], body=body)]
    return _nested(nodes)


@_hostile(28)
def _branches(depth: int) -> onnx.ModelProto:
    """Ifs in Ifs."""
    name, nodes = "e0", [helper.make_node("ScatterND", ["x", "i", "u"], ["e0"])]
    for k in range(depth):
        then = _graph(f"t{k}", nodes, 0, [name])
        other = _graph(f"o{k}", [helper.make_node("Identity", ["x"], [f"o{k}"])], 0, [f"o{k}"])
        name = f"e{k + 1}" if k + 1 < depth else "y"
        nodes = [helper.make_node("If", ["b"], [name], then_branch=then, else_branch=other)]
    return _nested(nodes)


@_hostile(20000)
def _many_inputs(count: int) -> onnx.ModelProto:
    """Inputs that have nothing to do with the scatter, each of sizes of its own."""
    inputs = ", ".join(f"float[A{k}, B{k}] x{k}" for k in range(count))
    body = ["rows = Identity (first)", *_WRITE]
    return _text(body, inputs=f"float[4, 2] x, float[1, 2] u, {inputs}")


@_hostile(15000)
def _doubted(count: int) -> onnx.ModelProto:
    """Squeezes of sizes that may be 1: each is asked whether the model runs so."""
    inputs = ", ".join(f"float[A{k}, B{k}] x{k}" for k in range(count))
    body = [f"q{k} = Squeeze (x{k})" for k in range(count)]
    body += ["rows = Identity (first)", *_WRITE]
    return _text(body, inputs=f"float[4, 2] x, float[1, 2] u, {inputs}")


@_hostile(900000)
def _long_name(length: int) -> onnx.ModelProto:
    """One very long name, of a size that stands in every term."""
    name = "N" * length
    body = ["s = Shape (x)", "p0 = Gather (s, first)"]
    body += [f"p{k + 1} = Mul (p{k}, p{k})" for k in range(3)]
    body += ["rows = Sub (p3, p2)", *_WRITE]
    return _text(body, inputs=f"float[{name}, 2] x, float[1, 2] u", result="float[M, 2] y")


@_hostile(40)
def _no_data(power: int) -> onnx.ModelProto:
    """An initializer of 2^power elements that has none."""
    model = _text(
        ["i = Identity (table)", "y = ScatterND (x, i, u)"], inputs="float[4, 2] x, float[1, 2] u"
    )
    model.graph.initializer.append(TensorProto(name="table", data_type=7, dims=[1 << power, 1]))
    return model


@_hostile(4000)
def _branches_in_a_row(count: int) -> onnx.ModelProto:
    """Known Ifs, one behind the other."""
    nodes = []
    before = "x"
    for k in range(count):
        then = _graph(f"t{k}", [helper.make_node("Abs", [before], [f"t{k}"])], 0, [f"t{k}"])
        other = _graph(f"o{k}", [helper.make_node("Neg", [before], [f"o{k}"])], 0, [f"o{k}"])
        nodes += [
            helper.make_node("Size", [before], [f"s{k}"]),
            helper.make_node("Equal", [f"s{k}", f"s{k}"], [f"c{k}"]),
            helper.make_node("If", [f"c{k}"], [f"e{k}"], then_branch=then, else_branch=other),
        ]
        before = f"e{k}"
    nodes.append(helper.make_node("ScatterND", [before, "i", "u"], ["y"]))
    return _nested(nodes)


@_hostile(5000)
def _ranked(count: int) -> onnx.ModelProto:
    """Tensors of very many dims, handed on again and again."""
    dims = ", ".join(f"D{k}" for k in range(count))
    body = ["z0 = Neg (z)"] + [f"z{k + 1} = Add (z{k}, z)" for k in range(count)]
    body += ["rows = Identity (first)", *_WRITE]
    return _text(body, inputs=f"float[4, 2] x, float[1, 2] u, float[{dims}] z")


@_hostile(14000)
def _inserted(count: int) -> onnx.ModelProto:
    """A sequence that grows by one tensor at a time."""
    body = ["q0 = SequenceConstruct (x)"]
    body += [f"q{k + 1} = SequenceInsert (q{k}, x)" for k in range(count)]
    body += [f"c = ConcatFromSequence <axis = 0> (q{count})", "rows = Identity (first)"]
    return _text([*body, *_WRITE])


@_hostile(12000)
def _split(count: int) -> onnx.ModelProto:
    """A Split into many parts, all put together again, and written where they began."""
    parts = ", ".join(f"p{k}" for k in range(count))
    body = ["r = Range (zero, n, one)", f"{parts} = Split <num_outputs = {count}> (r)"]
    body += [f"rows = Concat <axis = 0> ({parts})", *_WRITE]
    return _text(body, inputs="float[N, 2] x, float[K, 2] u, int64 n", result="float[N, 2] y")


@_hostile(5000)
def _chosen(count: int) -> onnx.ModelProto:
    """A chain of choices, each by a size of its own."""
    inputs = ", ".join(f"float[A{k}] x{k}" for k in range(count))
    body = ["r = Range (zero, two, one)", "w0 = Identity (r)"]
    for k in range(count):
        body += [f"s{k} = Shape (x{k})", f"c{k} = Greater (r, s{k})"]
        body += [f"w{k + 1} = Where (c{k}, w{k}, s{k})"]
    body += [f"rows = Mul (w{count}, r)", *_WRITE]
    return _text(body, inputs=f"float[N, 2] x, float[2, 2] u, {inputs}", result="float[N, 2] y")


@_hostile(12000)
def _reshaped(count: int) -> onnx.ModelProto:
    """Reshapes of what is written, to and fro, by sizes that the run computes."""
    body = ["s = Shape (x)", "y0 = Identity (x)", "flat = Identity (minus)"]
    for k in range(count):
        body += [f"f{k} = Reshape (y{k}, flat)", f"y{k + 1} = Reshape (f{k}, s)"]
    body += ["rows = Identity (first)", "i = Unsqueeze (rows, minus)"]
    body += [f"y = ScatterND (y{count}, i, u)"]
    return _text(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@_hostile(8)
def _unrelated_pyramid(levels: int) -> onnx.ModelProto:
    """A pyramid into a tensor of which nothing says that it holds all levels."""
    model = pyramid(levels)
    (made,) = (n for n in model.graph.node if n.op_type == "ConstantOfShape")
    model.graph.input.append(helper.make_tensor_value_info(made.output[0], 1, [1, "P", 4]))
    model.graph.node.remove(made)
    return model


def pyramid(levels: int = 3, channels: int = 4) -> onnx.ModelProto:
    """Write the levels of a feature pyramid one after the other into one tensor.

    Level k has (h + 1) // 2 rows and (w + 1) // 2 columns, where level k - 1 has h and w, as pools
    of stride 2 make them; ``out[:, start : start + rows * columns] = level`` for each. No rule of a
    pool says that its extents are more than 0, which makes the sizes terms with cases in cases.
    """
    body = []
    total = "zero"
    for k in range(1, levels + 1):
        body += [
            f"x{k} = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>"
            f" ({'x' if k == 1 else f'x{k - 1}'})",
            f"s{k} = Shape (x{k})",
            f"h{k} = Gather (s{k}, two)",
            f"w{k} = Gather (s{k}, three)",
            f"n{k} = Mul (h{k}, w{k})",
            f"e{k} = Add ({total}, n{k})",
            f"f{k} = Reshape (x{k}, flat)",
            f"u{k} = Transpose <perm = [2, 0, 1]> (f{k})",
        ]
        total = f"e{k}"
    body += [
        f"rows = Reshape ({total}, minus)",
        "dims = Concat <axis = 0> (batch, rows, depth)",
        "o0 = ConstantOfShape (dims)",
    ]
    for k in range(1, levels + 1):
        body += [
            f"t{k} = Transpose <perm = [1, 0, 2]> (o{k - 1})",
            f"so{k} = Shape (o{k - 1})",
            f"g{k} = Gather (so{k}, one)",
            f"r{k} = Range (zero, g{k}, one)",
            f"a{k} = Reshape ({'zero' if k == 1 else f'e{k - 1}'}, minus)",
            f"b{k} = Reshape (e{k}, minus)",
            f"c{k} = Slice (r{k}, a{k}, b{k})",
            f"i{k} = Unsqueeze (c{k}, minus)",
            f"p{k} = ScatterND (t{k}, i{k}, u{k})",
            f"o{k} = Transpose <perm = [1, 0, 2]> (p{k})",
        ]
    body += [f"y = Identity (o{levels})"]
    return onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 18]>
        g (float[1, {channels}, H, W] x) => (float[1, M, {channels}] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 three = {{3}},
         int64[1] minus = {{-1}}, int64[3] flat = {{1, {channels}, -1}}, int64[1] batch = {{1}},
         int64[1] depth = {{{channels}}}> {{ {chr(10).join(body)} }}""")
