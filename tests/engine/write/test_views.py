"""Tensors of many dims that are cut: one view of the tensor before them, and sums of fewer dims."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

PASSES = ["WriteOtherForms"]


@examples(80)
@given(st.permutations(range(5)), st.sampled_from(["Split", "Gather", "Slice"]), st.data())
def test_queries_keys_and_values(order: list[int], op: str, data: st.DataObject) -> None:
    """Of 5 dims, one of which is cut. If it is the first of its axis and split, 4 are enough."""
    sizes = [2, 3, data.draw(st.sampled_from([1, 3])), 2, 4]
    first = data.draw(st.integers(0, 3))  # the 3rd to last axes are cut from one or more
    flat = [*sizes[:first], math.prod(sizes[first:])]
    moved = [sizes[d] for d in order]
    axis = order.index(data.draw(st.integers(0, 4)))
    count = moved[axis]
    at = data.draw(st.integers(0, count - 1))
    parts = ", ".join(f"s{i}" for i in range(count))
    taken = {
        "Split": f"{parts} = Split <axis = {axis}> (t, {[1] * count})"
        f"  y = Squeeze (s{at}, [{axis}])",
        "Gather": f"y = Gather <axis = {axis}> (t, at)",
        "Slice": f"s = Slice (t, [{at - count}], [{at + 1}], [{axis}])  y = Squeeze (s, [{axis}])",
    }[op]
    model = parse(f"""g (float{flat} x) => (float[A, B, C, D] y) <int64 at = {{{at}}}> {{
        r = Reshape (x, {sizes})  t = Transpose <perm = {list(order)}> (r)  {taken} }}""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    assert_same(model, result.model, [{"x": sample("float32", *flat)}])
    if (op == "Split" and axis == order.index(2) and first == 2) or count == 1:
        assert not result.report.violations


def test_qkv_of_a_transformer() -> None:
    model = parse("""g (float[4, 9, 24] x) => (float[4, 2, 9, 4] q, float[4, 2, 9, 4] v) {
        r = Reshape (x, [4, 9, 3, 2, 4])  t = Transpose <perm = [2, 0, 3, 1, 4]> (r)
        a, b, c = Split <axis = 0> (t, [1, 1, 1])  q = Squeeze (a, [0])  v = Squeeze (c, [0]) }""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    kinds = [node.op_type for node in nodes(result.model)]
    assert sorted(kinds) == ["Reshape", "Reshape", "Slice", "Slice", "Transpose", "Transpose"]
    assert_same(model, result.model, [{"x": sample("float32", 4, 9, 24)}])


def test_axes_that_are_joined() -> None:
    """Of the tensor before the view, if one axis of the view has elements of both."""
    model = parse("""g (float[7, 3, 24] x) => (float[1, 2, 21, 4] y) {
        r = Reshape (x, [1, 21, 3, 2, 4])  t = Transpose <perm = [2, 0, 3, 1, 4]> (r)
        a, b, c = Split <axis = 0> (t, [1, 1, 1])  y = Squeeze (b, [0]) }""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    assert not result.report.violations
    assert_same(model, result.model, [{"x": sample("float32", 7, 3, 24)}])


@pytest.mark.parametrize(
    "rows", [[[0, 1, 2, 3, 4, 5]], [[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [2, 3, 4]], [[-6, -5]]]
)
def test_windows_of_an_image(rows: list[list[int]]) -> None:
    """Two Gathers along the axes of an image, with Transposes between them."""
    count, size = len(rows), len(rows[0])
    shape = [2, 2, count * count, size * size]
    model = parse(f"""g (float[1, 4, 6, 6] x) => (float{shape} y)
        <int64[{count}, {size}] i = {{{", ".join(str(n) for row in rows for n in row)}}}> {{
        a = Gather <axis = 2> (x, i)  b = Transpose <perm = [0, 1, 2, 4, 3]> (a)
        c = Gather <axis = 3> (b, i)  d = Transpose <perm = [0, 1, 2, 3, 5, 4]> (c)
        y = Reshape (d, {shape}) }}""")
    result = onnx_scatterx.optimize(model, target="ncnn")
    assert not result.report.violations
    assert_same(model, result.model, [{"x": sample("float32", 1, 4, 6, 6)}])


def test_a_gather_of_consecutive_rows() -> None:
    """Of a tensor of too many dims, it is a part of a view."""
    model = parse("""g (float[2, 24] x) => (float[2, 2, 3, 2] y)
        <int64[2] i = {1, 2}> {
        r = Reshape (x, [2, 4, 2, 3, 1])  t = Transpose <perm = [0, 4, 2, 3, 1]> (r)
        a = Gather <axis = 4> (t, i)  y = Squeeze (a, [1]) }""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    assert not result.report.violations
    assert_same(model, result.model, [{"x": sample("float32", 2, 24)}])


def test_a_cut_that_keeps_the_order() -> None:
    model = parse("""g (float[4, 24] x) => (float[4, 2, 3, 2] y) {
        r = Reshape (x, [4, 2, 2, 3, 2])  t = Transpose <perm = [1, 0, 2, 3, 4]> (r)
        a, b = Split <axis = 0> (t, [1, 1])  y = Squeeze (b, [0]) }""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    assert [node.op_type for node in nodes(result.model)] == ["Reshape", "Slice"]
    assert_same(model, result.model, [{"x": sample("float32", 4, 24)}])


@examples(60)
@given(
    st.sampled_from(["Add", "Sub", "Mul", "Div", "Max", "Min"]),
    st.sampled_from(["float32", "int64"]),
    st.data(),
)
def test_sums_of_many_dims(op: str, kind: str, data: st.DataObject) -> None:
    """Axes of one element are left out, and axes are merged along which the inputs are alike."""
    rank = data.draw(st.integers(5, 6))
    whole = [data.draw(st.sampled_from([1, 1, 2, 3])) for _ in range(rank)]
    small = [data.draw(st.sampled_from([n, 1])) for n in whole][data.draw(st.integers(0, rank)) :]
    dtype, held = ("float", "float32") if kind == "float32" else ("int64", "int64")
    flat = math.prod(whole)
    ones = np.arange(1, max(math.prod(small), 1) + 1).reshape(small).astype(held)
    numbers = ", ".join(str(n) for n in ones.ravel().tolist())
    dims = ", ".join(map(str, small))
    operand = data.draw(st.sampled_from(["c", "Reshape (u, s)"]))
    model = parse(f"""g ({dtype}[{flat}] x, {dtype}[{max(math.prod(small), 1)}] u)
        => ({dtype}[{flat}] y)
        <{dtype}{small or ""} c = {{{numbers}}}, int64[{len(small)}] s = {{{dims}}}> {{
            a = Reshape (x, {whole})  b = Identity (c)  d = {op} (a, {operand})
            y = Reshape (d, [{flat}]) }}""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    feed = {"x": sample(held, flat), "u": ones.ravel()}
    assert_same(model, result.model, [feed])
    kept = [d for d in range(rank) if whole[d] != 1]
    padded = [1] * (rank - len(small)) + small
    changes = sum((padded[a] == 1) != (padded[b] == 1) for a, b in pairwise(kept))
    if kept and changes < 4:
        assert not [v for v in result.report.violations if v.op == op]


@examples(60)
@given(
    st.sampled_from(["And", "Equal", "GreaterOrEqual", "Less", "Mod", "Or", "Pow", "Where", "Xor"]),
    st.data(),
)
def test_masks_of_many_dims(op: str, data: st.DataObject) -> None:
    """A mask, a comparison and a choice have merged axes, too."""
    rank = data.draw(st.integers(5, 6))
    whole = [data.draw(st.sampled_from([1, 1, 2, 3])) for _ in range(rank)]
    small = [data.draw(st.sampled_from([n, 1])) for n in whole][data.draw(st.integers(0, rank)) :]
    flat, count = math.prod(whole), max(math.prod(small), 1)
    made = "float" if op in ("Mod", "Pow", "Where") else "bool"
    written = {
        **dict.fromkeys(("And", "Or", "Xor"), f"{op} (m, n)"),
        "Mod": "Mod <fmod = 1> (a, b)",
        "Where": "Where (n, a, b)",
    }.get(op, f"{op} (a, b)")
    model = parse(f"""g (float[{flat}] x, float[{count}] u) => ({made}[{flat}] y)
        <float zero = {{0}}> {{
            a = Reshape (x, {whole})  b = Reshape (u, {small or [1]})
            m = Less (a, zero)  n = Less (b, zero)  d = {written}  y = Reshape (d, [-1]) }}""")
    limits = f"limits.{op}.refused = [{{ranks = [5, 6]}}]"
    result = onnx_scatterx.optimize(model, target=f"standard, {limits}", passes=PASSES)
    feeds = {"x": sample("float32", flat), "u": sample("float32", count)}
    assert_same(model, result.model, [feeds, {n: np.sign(a) for n, a in feeds.items()}])
    kept = [d for d in range(rank) if whole[d] != 1]
    padded = [1] * (rank - len(small)) + small
    changes = sum((padded[a] == 1) != (padded[b] == 1) for a, b in pairwise(kept))
    assert changes > 3 or not kept or not [v for v in result.report.violations if v.op == op]


FUNCTIONS = """Abs Acos Asin Atan Ceil Celu Cos Elu Erf Exp Floor HardSigmoid HardSwish LeakyRelu
    Log Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Softplus Sqrt Tan Tanh"""


@pytest.mark.parametrize("op", [*FUNCTIONS.split(), "Gelu", "Not", "Cast <to = 7>"])
@pytest.mark.parametrize("shape", [[3, 1, 2, 5, 1, 7], [1, 1, 1, 1, 1], [31, 2, 1, 3, 4]])
def test_functions_of_many_dims(op: str, shape: list[int]) -> None:
    """Elements stay where they are in memory, so even their last bits are the same."""
    size = math.prod(shape)
    kind = {"Not": "bool", "Cast <to = 7>": "int64"}.get(op, "float")
    model = parse(
        f"""g (float[{size}] x) => ({kind}[{size}] y) <float zero = {{0}}> {{
        a = Reshape (x, {shape})  m = Less (a, zero)
        b = {op} ({"m" if op == "Not" else "a"})  y = Reshape (b, [{size}]) }}""",
        opset=20,
    )
    target = f"standard, limits.{op.split()[0]}.max_rank = 4"
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES)
    assert not result.report.violations
    assert_same(model, result.model, [{"x": sample("float32", size)}])


@pytest.mark.parametrize("text", ["LogSoftmax (a)", "Softmax <axis = 4> (a)",
    "LayerNormalization (a, w, w)", "LayerNormalization <axis = 4, epsilon = 0.1> (a, w)",
    "Softmax <axis = 3> (a)"])  # fmt: skip
def test_rows_of_many_dims(text: str) -> None:
    """Each row is computed alone; along another axis than the last one, nothing is merged."""
    model = parse(f"""g (float[2, 1, 3, 5, 7] x) => (float[2, 1, 3, 5, 7] y)
        <float[7] w = {{1, 2, 3, 4, 5, 6, 7}}> {{ a = Neg (x)  y = {text} }}""")
    target = f"standard, limits.{text.split()[0]}.max_rank = 4"
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES)
    assert bool(result.report.violations) is ("axis = 3" in text)
    assert_same(model, result.model, [{"x": sample("float32", 2, 1, 3, 5, 7)}])


@pytest.mark.parametrize("sizes", ["2,1,1,1,7", "5,1,7", "5,7"])
def test_weights_of_several_rows(sizes: str) -> None:
    numbers = ", ".join(map(str, range(math.prod(map(int, sizes.split(","))))))
    model = parse(f"""g (float[2, 3, 5, 5, 7] x) => (float[2, 3, 5, 5, 7] y)
        <float[{sizes}] w = {{{numbers}}}> {{ y = LayerNormalization (x, w) }}""")
    target = "standard, limits.LayerNormalization.max_rank = 4"
    result = onnx_scatterx.optimize(model, target=target, passes=PASSES)
    assert_same(model, result.model, [{"x": sample("float32", 2, 3, 5, 5, 7)}])


@pytest.mark.parametrize("axes", [[4], [0], [2], [-2, -1], [0, 1, 3], [0, 2, 4], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("op", ["ReduceMax", "ReduceMin", "ArgMax", "ArgMin"])
def test_extremes_of_many_dims(op: str, axes: list[int], keepdims: int) -> None:
    """Axes that are reduced together are one, and so are those that stay beside each other."""
    if op.startswith("Arg"):
        text = f"{op} <axis = {axes[0]}, keepdims = {keepdims}, select_last_index = 1> (a)"
    else:
        text = f"{op} <keepdims = {keepdims}> (a, {axes})"
    kind = "int64" if op.startswith("Arg") else "float"
    model = parse(f"""g (float[2, 1, 3, 4, 5] x) => ({kind}[A] y) {{
        f = Floor (x)  a = Neg (f)  b = {text}  y = Reshape (b, [-1]) }}""")
    limit = (
        "max_rank = 4" if op.startswith("Arg") else 'refused = [{types = ["float"], ranks = [5]}]'
    )
    result = onnx_scatterx.optimize(model, target=f"standard, limits.{op}.{limit}", passes=PASSES)
    assert bool(result.report.violations) is (axes == [0, 2, 4] and op.startswith("Reduce"))
    drawn = sample("float32", 2, 1, 3, 4, 5)
    assert_same(model, result.model, [{"x": drawn}, {"x": np.full_like(drawn, np.nan)}])


@pytest.mark.parametrize(
    ("sizes", "more", "inferred"),
    [
        ("two, n", "", [2, -1]),
        ("n, three", "", [-1, 3]),
        ("n, two, three", " <allowzero = 1>", [-1, 2, 3]),
        ("n, n", "", None),
        ("zero, n", "", None),  # 0 is the size that is there
    ],
)
def test_the_one_size_that_is_not_known(sizes: str, more: str, inferred: list[int] | None) -> None:
    """It follows from the number of elements, also if it is 0 in the model, or -1."""
    model = parse(f"""g (float[2, N] x, int64[1] n) => (float[] y)
        <int64[1] two = {{2}}, int64[1] three = {{3}}, int64[1] zero = {{0}}> {{
            s = Concat <axis = 0> ({sizes})  y = Reshape{more} (x, s) }}""")
    result = onnx_scatterx.optimize(model, target="standard, limits.Reshape.computed = 'sizes'")
    assert (not result.report.violations) == (inferred is not None)
    kinds = {node.op_type for node in result.model.graph.node}
    assert (kinds <= {"Reshape", "Constant"}) == (inferred is not None)
    count = 6 // (2 if "two" in sizes else 1) // (3 if "three" in sizes else 1)
    feeds = [{"x": np.ones((2, 3 * k), np.float32), "n": np.array([count * k])} for k in (1, 2)]
    if inferred is not None:
        others = (0, -1) if "allowzero" not in more and sizes != "n, three" else (-1,)
        feeds += [{"x": np.ones((2, 3), np.float32), "n": np.array([n])} for n in others]
        if sizes != "n, three":  # this model cannot run without elements
            feeds.append({"x": np.ones((2, 0), np.float32), "n": np.array([0])})
        assert_same(model, result.model, feeds)
