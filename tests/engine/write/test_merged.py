"""Tensors of many dims for targets that take fewer: the same elements, and fewer dims."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import onnx_scatterx
from tests.helpers.drawing import Drawing, even
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

_LARGEST = 600  # elements of a tensor


@dataclass
class Chain:
    """Moves that follow each other, from rows of a scatter, with the shape after each."""

    shape: list[int]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    deepest: int = 0

    def constant(self, numbers: object, dtype: type = np.int64) -> str:
        name = f"k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(numbers, dtype), name))
        return name

    def add(self, op: str, shape: list[int], *inputs: str, **attributes: Any) -> None:
        last = f"v{len(self.nodes) - 1}" if self.nodes else "w"
        given = [last if name == "last" else name for name in inputs]
        self.nodes.append(helper.make_node(op, given, [f"v{len(self.nodes)}"], **attributes))
        self.shape = [int(n) for n in shape]
        self.deepest = max(self.deepest, len(shape))


def model_of(chain: Chain) -> onnx.ModelProto:
    at = helper.make_node("ScatterND", ["x", "rows", "u"], ["w"])
    rows = numpy_helper.from_array(np.array([[1], [2]]), "rows")
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", [4, 6]), ("u", [2, 6]))
    ]
    y = helper.make_tensor_value_info(chain.nodes[-1].output[0], TensorProto.FLOAT, chain.shape)
    graph = helper.make_graph([at, *chain.nodes], "g", values, [y], [rows, *chain.constants])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])


RECIPE = {
    "moves": even("regroup transpose slice concat expand gather tile"),
    "cuts": {"usual": 1, "within": 1, "strided": 1, "backwards": 1},
    "indices": {"repeated": 1, "constant": 1},
    "sources": {"alike": 3, "fed": 1},
}


def moved(seed: int) -> Drawing:
    """Return rows of a scatter that are moved, and laid out flat."""
    d = Drawing(random.Random(seed), 18, RECIPE)
    d.largest, d.may_be_empty = _LARGEST, False
    x, u = (d.tensor("float32", (n, 6)) for n in (4, 2))
    y = d.of("ScatterND", x, d.constant([[1], [2]]), u.name)
    for _ in range(d.rng.randint(1, 6)):
        d.pool = [y]
        y = d.draw("moves", y) if y.dims else y
    size = math.prod(d.shape(y.dims))
    d.show(d.of("Reshape", y, d.constant([size]), dims=(size,)))
    return d


@examples(150)
@given(
    st.integers(0, 2**32),
    st.sampled_from(
        [
            "max_rank = {}",
            *(
                f"limits.{op}.max_rank = {{}}"
                for op in ("Transpose", "Slice", "Concat", "Gather", "Expand", "Tile")
            ),
        ]
    ),
    st.integers(3, 5),
)
def test_chains_of_moves(seed: int, limit: str, most: int) -> None:
    """The same bits; and with three dims for moves along one axis, nothing is too deep."""
    d = moved(seed)
    model = d.model()
    result = onnx_scatterx.optimize(model, target=f"standard, {limit.format(most)}")
    assert_same(model, result.model, [d.feed()])
    left = [v for v in result.report.violations if v.op != "Transpose"]
    deep = (
        {"Reshape", "Unsqueeze", "Transpose"}
        if any(v.op == "Transpose" for v in result.report.violations)
        else set()
    )
    assert {v.op for v in left} <= deep, result.report.violations


@pytest.mark.parametrize("target", ["standard, max_rank = 4", "qnn", "ncnn", "rknn"])
def test_windows_of_an_image(target: str) -> None:
    """The windows of Swin are cut by a Transpose of six dims, of which four move apart."""
    chain = Chain([4, 6])
    for op, shape, key in (
        ("Reshape", [2, 2, 1, 3, 2, 1], {}),
        ("Transpose", [2, 1, 2, 3, 2, 1], {"perm": [0, 2, 1, 3, 4, 5]}),
        ("Reshape", [4, 6], {}),
    ):
        chain.add(op, shape, "last", *([] if key else [chain.constant(shape)]), **key)
    chain.shape = [4, 6]
    result = onnx_scatterx.optimize(model_of(chain), target=target)
    assert result.report.violations == ()
    assert sum(n.op_type == "Transpose" for n in result.model.graph.node) == 1


@pytest.mark.parametrize("op", ["Slice", "Concat", "Gather", "Tile", "Expand", "Gather [2, 2]"])
def test_a_move_along_an_axis_in_the_middle(op: str) -> None:
    """The axes before it are one, and those behind it are one."""
    chain = Chain([4, 6])
    shape = [2, 2, 1, 3, 2] if op == "Expand" else [2, 2, 3, 2]
    chain.add("Reshape", shape, "last", chain.constant(shape))
    if op == "Slice":
        parts = [chain.constant([n]) for n in (1, 3, 2)]
        chain.add(op, [2, 2, 2, 2], "last", *parts)
    elif op == "Concat":
        chain.add(op, [2, 2, 6, 2], "last", "last", axis=2)
    elif op == "Gather":
        chain.add(op, [2, 2, 4, 2], "last", chain.constant([2, 0, 0, 1]), axis=2)
    elif op == "Gather [2, 2]":
        indices = chain.constant(np.array([[2, 0], [0, 1]]))
        chain.add("Gather", [2, 2, 2, 2, 2], "last", indices, axis=2)
    elif op == "Tile":
        chain.add(op, [2, 2, 6, 2], "last", chain.constant([1, 1, 2, 1]))
    else:
        chain.add(op, [2, 2, 2, 3, 2], "last", chain.constant([2, 2, 2, 3, 2]))
    size = math.prod(chain.shape)
    chain.add("Reshape", [size], "last", chain.constant([size]))
    model = model_of(chain)
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 3")
    assert result.report.violations == ()
    rng = np.random.default_rng(0)
    feed = {"x": rng.random((4, 6), np.float32), "u": rng.random((2, 6), np.float32)}
    assert_same(model, result.model, [feed])


@pytest.mark.parametrize(
    ("sizes", "perm", "count"),
    [
        ([2, 3, 2, 2, 3], [1, 3, 0, 2, 4], 2),  # the grid of MaxViT
        ([2, 2, 3, 2, 3], [4, 3, 2, 1, 0], 4),
        ([2, 2, 2, 2, 2, 3], [4, 0, 2, 1, 3, 5], 2),
        ([3, 2, 2, 2, 3], [4, 1, 3, 0, 2], 3),
    ],
)
def test_a_transpose_in_steps(sizes: list[int], perm: list[int], count: int) -> None:
    """Each step swaps two neighbouring runs of axes, in four dims at the most."""
    size = math.prod(sizes)
    text = f"""g (float[{size}] x) => (float[{size // 3}, 3] y) {{
        a = Reshape (x, {sizes})  b = Transpose <perm = {perm}> (a)
        y = Reshape (b, [{size // 3}, 3]) }}"""
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="ncnn")
    assert result.report.violations == ()
    made = [node for node in result.model.graph.node if node.op_type == "Transpose"]
    assert len(made) == count
    assert max(len(node.attribute[0].ints) for node in made) <= 4
    assert_same(model, result.model, [{"x": np.arange(size, dtype=np.float32)}])


@pytest.mark.parametrize("seed", range(8))
def test_drawn_transposes_in_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3], int(rng.integers(5, 9))).tolist()
    perm = rng.permutation(len(sizes)).tolist()
    size = math.prod(sizes)
    model = parse(f"""g (float[{size}] x) => (float[{size}] y) {{
        a = Reshape (x, {sizes})  b = Transpose <perm = {perm}> (a)
        y = Reshape (b, [{size}]) }}""")
    for target in ("standard, max_rank = 4", "standard, max_rank = 5", "ncnn"):
        result = onnx_scatterx.optimize(model, target=target)
        assert result.report.violations == ()
        assert_same(model, result.model, [{"x": np.arange(size, dtype=np.float32)}])


@pytest.mark.parametrize("batch", [1, 4])
def test_queries_keys_and_values_are_slices_of_what_they_are_cut_from(batch: int) -> None:
    """No Slice cuts the first axis, which pnnx takes for that of the images."""
    cuts = "  ".join(
        f"s{i} = Slice (t, [{i}], [{i + 1}], [0])  v{i} = Squeeze (s{i}, [0])" for i in range(3)
    )
    model = parse(f"""g (float[{batch}, 5, 24] x) => (float[{batch}, 2, 5, 4] y) {{
        r = Reshape (x, [{batch}, 5, 3, 2, 4])  t = Transpose <perm = [2, 0, 3, 1, 4]> (r)
        {cuts}  a = Add (v0, v1)  y = Mul (a, v2) }}""")
    result = onnx_scatterx.optimize(model, target="ncnn")
    assert result.report.violations == ()
    tensors = {t.name: numpy_helper.to_array(t) for t in result.model.graph.initializer}
    slices = [node for node in result.model.graph.node if node.op_type == "Slice"]
    assert [tensors[node.input[3]].tolist() for node in slices] == [[2]] * 3
    x = np.random.default_rng(0).random((batch, 5, 24), np.float32)
    assert_same(model, result.model, [{"x": x}])


@pytest.mark.parametrize("weights", ["2, 3, 4, 5, 6", "5, 6"])
def test_an_attention_of_windows(weights: str) -> None:
    """The axes in front of matrices and of a Softmax are one axis; the bits are the same."""
    model = parse(f"""g (float[2, 12, 20] x, float[{weights}] w) => (float[24, 24] y) {{
        a = Reshape (x, [2, 3, 4, 4, 5])  s = Softmax <axis = -1> (a)  m = MatMul (s, w)
        y = Reshape (m, [24, 24]) }}""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4")
    left = {(v.node, v.op) for v in result.report.violations}
    assert not left if weights == "5, 6" else {op for _, op in left} <= {"input", "Reshape"}
    rng = np.random.default_rng(0)
    sizes = [int(n) for n in weights.split(", ")]
    feed = {"x": rng.random((2, 12, 20), np.float32), "w": rng.random(sizes, np.float32)}
    assert_same(model, result.model, [feed])


def test_queries_of_windows() -> None:
    """As NesT cuts them, of six dims: a view of five, of which one has one element."""
    cuts = "  ".join(
        f"s{i} = Slice (t, [{i}], [{i + 1}], [0])  v{i} = Squeeze (s{i}, [0])" for i in range(3)
    )
    model = parse(f"""g (float[1, 2, 5, 24] x) => (float[10, 8] y) {{
        r = Reshape (x, [1, 2, 5, 3, 2, 4])  t = Transpose <perm = [3, 0, 4, 1, 2, 5]> (r)  {cuts}
        k = Transpose <perm = [0, 1, 2, 4, 3]> (v1)  m = MatMul (v0, k)  p = Softmax (m)
        o = MatMul (p, v2)  b = Transpose <perm = [0, 2, 3, 1, 4]> (o)
        y = Reshape (b, [10, 8]) }}""")
    result = onnx_scatterx.optimize(model, target="ncnn")
    assert result.report.violations == ()
    x = np.random.default_rng(0).random((1, 2, 5, 24), np.float32)
    assert_same(model, result.model, [{"x": x}])


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("Where", "bool[6, 1, 1, 1, 1] c, float[6, 4, 2, 3, 2] x, float[2] u"),
        ("Neg", "float[6, 4, 2, 3, 2] x"),
        ("Reciprocal", "float[6, 4, 2, 3, 2] x"),
        ("Softmax", "float[6, 4, 2, 3, 2] x"),
        ("TopK", "float[6, 4, 2, 3, 2] x"),
    ],
)
def test_five_dims_for_rknn(op: str, inputs: str) -> None:
    """The compiler dies of some operators of five dims: the node has four, or is named."""
    names = ", ".join(name for name in ("c", "x", "u") if f" {name}" in inputs)
    text = f"y = {op} ({names})" if op != "TopK" else "y, i = TopK (x, [1])"
    model = parse(f"g ({inputs}) => (float[A] y) {{ {text} }}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    result = onnx_scatterx.optimize(model, target="rknn")
    named = [violation.op for violation in result.report.violations if not violation.on_host]
    assert named == (["TopK"] if op == "TopK" else [])
    if not named:
        inferred = onnx.shape_inference.infer_shapes(result.model, data_prop=True).graph
        ranks = {v.name: len(v.type.tensor_type.shape.dim) for v in inferred.value_info}
        (node,) = (n for n in result.model.graph.node if n.op_type == op)
        assert ranks[node.output[0]] <= 4
    rng = np.random.default_rng(0)
    feed = {}
    for value in model.graph.input:
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        drawn = rng.standard_normal(shape).astype(np.float32)
        feed[value.name] = drawn > 0 if value.name == "c" else drawn
    assert_same(model, result.model, [feed])


@pytest.mark.parametrize(
    ("text", "squeezes"),
    [
        ("y = Where (m, x, u)", 2),  # u has fewer dims than the axis is counted from the end
        ("y = Where (m, x, zero)", 2),
        ("w = Expand (x, [1, 1, 1, 1, 3])  y = Where (m, w, u)", 2),
        ("n = Unsqueeze (u, [0])  y = Where (m, x, n)", 2),
    ],
)
def test_axes_of_one_element_among_symbols(text: str, squeezes: int) -> None:
    """They are left out of an element-wise node of too many dims."""
    model = parse(f"""g (bool[N, 1, 1, M, 1] m, float[N, 1, 4, M, 3] x, float[M, 3] u)
        => (float[A, B, C, D, E] y) <float zero = {{0}}> {{ {text} }}""")
    target = "standard, limits.Where.max_rank = 4"
    made = onnx_scatterx.optimize(model, target=target, rules=()).model
    kinds = [node.op_type for node in made.graph.node]
    assert kinds.count("Squeeze") == squeezes
    assert "Unsqueeze" in kinds
    rng = np.random.default_rng(0)
    for n, m in ((2, 5), (1, 1), (0, 3), (3, 0)):
        shapes = {"m": (n, 1, 1, m, 1), "x": (n, 1, 4, m, 3), "u": (m, 3)}
        drawn = {k: rng.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
        assert_same(model, made, [{**drawn, "m": drawn["m"] > 0}])


@pytest.mark.parametrize("cut", ["Slice (r, [1], [2], [2])", "Gather <axis = 2> (r, at)"])
@pytest.mark.parametrize(("images", "dims"), [(1, 4), (2, 3)])
def test_the_axis_of_one_image_stays_alone(cut: str, images: int, dims: int) -> None:
    """A compiler that follows the images finds them there, if there is room for this axis."""
    model = parse(f"""g (float[{images}, 8, 24] x) => (float[A, B, C, D, E] y)
        <int64[1] at = {{1}}> {{
            r = Reshape (x, [{images}, 8, 3, 2, 4])  c = {cut}  s = Squeeze (c, [2])
            h = Neg (s)  y = Unsqueeze (h, [0]) }}""")
    target = "standard, max_rank = 4, avoid = ['Neg']"
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    shapes = [numpy_helper.to_array(t) for t in result.model.graph.initializer if len(t.dims) == 1]
    assert any(len(shape) == dims and shape.prod() == images * 192 for shape in shapes)
    assert_same(model, result.model, [{"x": sample("float32", images, 8, 24)}])


@pytest.mark.parametrize(
    ("move", "images", "first"),
    [
        ("Expand (r, [1, 4, 6, 2, 5])", 1, [1]),
        ("Expand (r, [3, 4, 6, 2, 5])", 3, [12]),
        ("Expand (r, [3, 4, 6, 2, 5])", 1, [3]),
        ("Tile (r, [1, 1, 3, 1, 1])", 1, [1]),
        ("Tile (r, [1, 1, 3, 1, 1])", 2, [8]),
        ("Concat <axis = 2> (r, r, r)", 1, [1]),
        ("Concat <axis = 2> (r, r, r)", 2, [8]),
    ],
)
def test_a_move_of_one_image_keeps_its_axis(move: str, images: int, first: list[int]) -> None:
    """The first axis stays apart if it has one element and is not repeated."""
    rows = 1 if "Expand" in move else 2
    model = parse(f"""g (float[{images}, 4, {rows * 10}] x) => (float[A, B, C] y) {{
        r = Reshape (x, [{images}, 4, {rows}, 2, 5])  c = {move}
        y = Reshape (c, [0, 4, -1]) }}""")
    target = "standard, max_rank = 4"
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"]).model
    made = onnx.shape_inference.infer_shapes(result)
    types = {v.name: v.type.tensor_type.shape.dim for v in made.graph.value_info}
    (moved,) = [n for n in nodes(result) if n.op_type == move.partition(" ")[0]]
    assert [d.dim_value for d in types[moved.output[0]]][:1] == first
    assert_same(model, result, [{"x": sample("float32", images, 4, rows * 10)}])


@pytest.mark.parametrize(
    ("indices", "sizes"), [("1, 1, 2", [1, 2]), ("1, 2, 2", [1, 4]), ("2, 1, 2", [4])]
)
def test_indices_of_one_image_keep_its_axis(indices: str, sizes: list[int]) -> None:
    """Some compilers follow the axis of images through the model."""
    model = parse(f"""g (int64[{indices}] i) => (float[{indices}, 3] y)
        <float[2, 3] w = {{0, 1, 2, 3, 4, 5}}> {{ y = Gather (w, i) }}""")
    target = "standard, limits.Gather.max_rank = 3, limits.Gather.computed_data = false"
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    assert [node.op_type for node in nodes(result.model)] == ["Reshape", "Gather", "Reshape"]
    assert sizes in [
        numpy_helper.to_array(tensor).tolist() for tensor in result.model.graph.initializer
    ]
    shape = [int(n) for n in indices.split(",")]
    feeds = [{"i": np.random.default_rng(seed).integers(-2, 2, shape)} for seed in range(3)]
    assert_same(model, result.model, feeds)
