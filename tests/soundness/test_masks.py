"""Masked writes: overwritten elements have no effect, and kept elements keep every bit."""

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.masks import NAMES, RNG, hard, masks
from tests.helpers.support import assert_sound, nodes, optimize, parse


@pytest.mark.parametrize("kind", ["float", "double", "float16", "int64", "int32", "bool", "int16"])
@pytest.mark.parametrize("value", ["1", "0"])
def test_a_number(kind: str, value: str) -> None:
    # As exporters write x[m] = v: the number is repeated for every true element.
    model = f"""g ({kind}[B,4] x, bool[B,4] m, {kind} v) => ({kind}[B,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        f = Reshape (m, minus)
        c = Cast <to = 7> (f)
        k = ReduceSum <keepdims = 1> (c)
        e = Expand (v, k)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    numpy = {"float": "float32", "double": "float64"}.get(kind, kind)
    v = np.array(int(value)).astype(numpy)
    if numpy.startswith("float") and value == "0":
        v = np.asarray(np.negative(v))  # -0.0
    feeds = [{"x": hard(3, 4, kind=numpy), "m": m, "v": v} for m in masks(3, 4)]
    empty = {"x": hard(0, 4, kind=numpy), "m": np.zeros((0, 4), bool), "v": v}
    assert_sound(model, *feeds, empty, left=1 if kind == "int16" else 0)


def test_a_vector_over_the_last_axis() -> None:
    model = f"""g (float[B,T,4] x, bool[B,T] m, float[4] v) => (float[B,T,4] y) {NAMES} {{
        w = Unsqueeze (m, minus)
        s = Shape (x)
        b = Expand (w, s)
        n = NonZero (b)
        i = Transpose <perm = [1, 0]> (n)
        f = Reshape (m, minus)
        c = Cast <to = 7> (f)
        k = ReduceSum <keepdims = 1> (c)
        three = Constant <value = int64[1] {{3}}> ()
        t = Slice (s, two, three)
        l = Concat <axis = 0> (k, t)
        e = Expand (v, l)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    feeds = [{"x": hard(2, 3, 4), "m": m, "v": hard(4)} for m in masks(2, 3)]
    assert_sound(model, *feeds, left=0)


def test_a_vector_over_an_axis_of_the_mask() -> None:
    # The mask differs along the axis of the vector: its n-th true element is not at n mod 4, and
    # only its count says which number it gets.
    model = f"""g (float[B,4] x, bool[B,4] m, float[4] v, int64[1] k) => (float[B,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        four = Constant <value = int64[1] {{4}}> ()
        l = Concat <axis = 0> (k, four)
        e = Expand (v, l)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    m = np.array([[1, 0, 1, 1], [0, 1, 0, 0]], bool)
    feed = {"x": hard(2, 4), "m": m, "v": hard(4), "k": np.array([1])}
    assert_sound(model, feed, left=0)


@pytest.mark.parametrize("other", ["m", "o"])
def test_elements_of_another_tensor(other: str) -> None:
    model = f"""g (float[B,4] x, bool[B,4] m, bool[B,4] o, float[B,4] z) => (float[B,4] y)
        {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        p = NonZero ({other})
        j = Transpose <perm = [1, 0]> (p)
        u = GatherND (z, j)
        y = ScatterND (x, i, u) }}"""
    feeds = [{"x": hard(3, 4), "m": m, "o": m[::-1].copy(), "z": hard(3, 4)} for m in masks(3, 4)]
    optimized = optimize(parse(model))
    assert_sound(model, *feeds, left=0)
    # Under another mask they are in that mask's order, which is still to be asked for.
    assert ("NonZero" in {n.op_type for n in nodes(optimized)}) == (other == "o")


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_mask_of_another_shape(rows: int) -> None:
    # It runs as long as nothing is true outside; a Where alone would give the wider shape.
    model = f"""g (float[A,4] x, bool[B,C] m, float v, int64[1] k) => (float[A,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        u = Expand (v, k)
        y = ScatterND (x, i, u) }}"""
    feeds = []
    for shape in ((0, 4), (1, 4), (2, 6), (5, 1), (5, 0), (rows, 4)):
        m = np.zeros(shape, bool)
        inside = m[:rows, :4]
        inside[...] = RNG.random(inside.shape) < 0.5
        v, k = np.array(2, np.float32), np.array([m.sum()])
        feeds.append({"x": hard(rows, 4), "m": m, "v": v, "k": k})
    assert_sound(model, *feeds, left=0)


@pytest.mark.parametrize("reduction", ["add", "mul"])
def test_reductions(reduction: str) -> None:
    model = f"""g (float[B,4] x, bool[B,4] m, float v, int64[1] k) => (float[B,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        u = Expand (v, k)
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    feeds = [
        {"x": hard(3, 4), "m": m, "v": np.array(2.5, np.float32), "k": np.array([m.sum()])}
        for m in masks(3, 4)
    ]
    assert_sound(model, *feeds, left=0)


@pytest.mark.parametrize("shape", ["1,1,1", "1,1,4"])
def test_a_value_of_more_dims_than_the_data_stays(shape: str) -> None:
    # It is repeated and made flat before it is written; a Where would give its dims to the result.
    model = f"""g (float[B,4] x, bool[B] m, float[{shape}] v, int64[3] k) => (float[B,4] y) {{
        minus = Constant <value = int64[1] {{-1}}> ()
        w = Unsqueeze (m, minus)
        s = Shape (x)
        b = Expand (w, s)
        n = NonZero (b)
        i = Transpose <perm = [1, 0]> (n)
        e = Expand (v, k)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    feeds = [
        {
            "x": hard(3, 4),
            "m": m,
            "v": hard(*map(int, shape.split(","))),
            "k": np.array([m.sum(), 1, 4]),
        }
        for m in masks(3)
    ]
    assert_sound(model, *feeds)


SAME_MASK = f"""g (KIND[B,4] x, bool[B,4] m, KIND[B,4] z) => (KIND[B,4] y) {NAMES} {{
    n = NonZero (m)
    i = Transpose <perm = [1, 0]> (n)
    u = GatherND (z, i)
    y = ScatterND (x, i, u) }}"""


@pytest.mark.parametrize("kind", ["float", "double", "float16", "int32", "bool"])
def test_a_masked_copy_is_one_where(kind: str) -> None:
    model = parse(SAME_MASK.replace("KIND", kind))
    written = [n.op_type for n in optimize(model).graph.node]
    assert written == (["Not", "And", "And", "Or"] if kind == "bool" else ["Where"])


@pytest.mark.parametrize(("kind", "named"), [("float", True), ("int32", False), ("bool", False)])
def test_the_report_names_what_a_where_of_floats_writes(kind: str, named: bool) -> None:
    report = onnx_scatterx.inspect(parse(SAME_MASK.replace("KIND", kind)), target="standard")
    (scatter,) = report.scatters
    assert scatter.selects_floats is named
    assert scatter.to_dict()["selects_floats"] is named
    assert (
        "y: would become a Where, in which the sign of a zero may change" in str(report)
    ) is named


def test_the_report_tells_apart_two_writes() -> None:
    """One becomes a Where, the other a Concat that reads it."""
    text = (
        SAME_MASK.replace("KIND", "float")
        .replace(
            "y = ScatterND (x, i, u)",
            """
        w = ScatterND (x, i, u) a = Abs (w) row = Constant <value = int64[1,1] {0}> ()
        first = Constant <value = float[1,4] {1.0, 2.0, 3.0, 4.0}> ()
        y = ScatterND (a, row, first)""",
        )
        .replace("[B,4]", "[3,4]")
    )
    report = onnx_scatterx.optimize(parse(text), target="standard").report
    assert [(s.node, s.selects_floats) for s in report.scatters] == [("w", True), ("y", False)]
