"""Indices known only at run time, for targets that may compare every position with every update."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx import inspect
from onnx_scatterx.optimizer.targets.target import Target
from onnx_scatterx.text.reasons import Reason
from tests.helpers.examples import examples
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample, scatters

NUMPY = {"float": "float32", "double": "float64"}
REDUCTIONS = ("none", "add", "max", "min")


DENSE = Target("dense", dense_limit=1 << 40)
SMALL = Target("small", dense_limit=4096)
UNBOUNDED = Target("unbounded", dense_limit=math.inf)


@st.composite
def nd(draw: st.DrawFn) -> tuple[str, list[dict[str, np.ndarray]]]:
    """A ScatterND with any indices, and feeds of it; half of the sizes are symbols."""
    rank = draw(st.integers(1, 3))
    depth = draw(st.integers(1, rank))
    sizes = [draw(st.integers(1, 4)) for _ in range(rank)]
    counts = [draw(st.integers(0, 4)) for _ in range(draw(st.integers(0, 2)))]
    kind = draw(st.sampled_from(["float", "double", "int32", "int64"]))
    reduction = draw(st.sampled_from(REDUCTIONS))
    shape = ",".join(f"D{d}" if draw(st.booleans()) else str(n) for d, n in enumerate(sizes))
    rows = ",".join(f"N{d}" if draw(st.booleans()) else str(n) for d, n in enumerate(counts))
    tail = shape.split(",")[depth:]
    given_shape = ",".join([*([rows] if counts else []), *tail])
    index_shape = ",".join([*([rows] if counts else []), str(depth)])
    model = f"""g ({kind}[{shape}] x, int64[{index_shape}] i,
        {kind}[{given_shape}] u) => ({kind}[{shape}] y) {{
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    feeds = []
    for seed in range(2):
        columns = [rng.integers(-n, n, counts) for n in sizes[:depth]]
        dtype = NUMPY.get(kind, kind)
        feeds.append(
            {
                "x": sample(dtype, *sizes, seed=seed),
                "i": np.stack(columns, -1),
                "u": sample(dtype, *counts, *sizes[depth:], seed=seed + 2),
            }
        )
    return model, feeds


@examples(60)
@given(nd())
def test_scatter_nd(case: tuple[str, list[dict[str, np.ndarray]]]) -> None:
    model, feeds = case
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)


@st.composite
def elements(draw: st.DrawFn) -> tuple[str, list[dict[str, np.ndarray]]]:
    """A ScatterElements whose indices may cover a part of the other axes, with feeds of it."""
    rank = draw(st.integers(1, 3))
    axis = draw(st.integers(0, rank - 1))
    sizes = [draw(st.integers(1, 4)) for _ in range(rank)]
    parts = [draw(st.integers(0, 3)) if d == axis else n for d, n in enumerate(sizes)]
    if draw(st.booleans()):
        parts = [min(n, draw(st.integers(0, 4))) for n in parts]
    kind = draw(st.sampled_from(["float", "double", "int32", "int64", "bool"]))
    reduction = "none" if kind == "bool" else draw(st.sampled_from(REDUCTIONS))
    index = draw(st.sampled_from(["int32", "int64"]))
    names = [f"D{d}" if draw(st.booleans()) else str(n) for d, n in enumerate(sizes)]
    own = [a if n == m else str(m) for a, n, m in zip(names, sizes, parts, strict=True)]
    model = f"""g ({kind}[{",".join(names)}] x, {index}[{",".join(own)}] i,
        {kind}[{",".join(own)}] u) => ({kind}[{",".join(names)}] y) {{
        y = ScatterElements <axis = {axis}, reduction = "{reduction}"> (x, i, u) }}"""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    dtype = NUMPY.get(kind, kind)
    feeds = [
        {
            "x": sample(dtype, *sizes, seed=seed),
            "i": rng.integers(-sizes[axis], sizes[axis], parts).astype(index),
            "u": sample(dtype, *parts, seed=seed + 2),
        }
        for seed in range(2)
    ]
    return model, feeds


@examples(60)
@given(elements())
def test_scatter_elements(case: tuple[str, list[dict[str, np.ndarray]]]) -> None:
    model, feeds = case
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)


@pytest.mark.parametrize("reduction", ["add", "max", "min"])
def test_the_order_of_many(reduction: str) -> None:
    # Sums of floats that depend on their order; NaN and both zeros among what is compared.
    model = f"""g (float[5,2] x, int64[N,1] i, float[N,2] u) => (float[5,2] y) {{
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    rng = np.random.default_rng(0)
    feeds = []
    for seed, n in enumerate((0, 1, 30, 300)):
        scale = 10.0 ** rng.integers(-4, 5, (n, 2))
        u = sample("float32", n, 2, seed=seed) if seed % 2 else rng.standard_normal((n, 2)) * scale
        i = rng.integers(-5, 5, (n, 1))
        feeds.append({"x": sample("float32", 5, 2), "i": i, "u": u.astype(np.float32)})
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)


@pytest.mark.parametrize("width", [1, 3])
def test_sums_of_nothing_keep_negative_zeros(width: int) -> None:
    model = f"""g (float[N,{width}] x, int64[3,1] i) => (float[N,{width}] y)
        <int64[2] shape = {{3, {width}}}> {{
        u = ConstantOfShape (shape)
        y = ScatterND <reduction = "add"> (x, i, u) }}"""
    i = np.array([[0], [0], [1]])
    feeds = [{"x": np.full((n, width), -0.0, np.float32), "i": i} for n in (2, 5)]
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)


@pytest.mark.parametrize(("kind", "dtype"), [("float", "float32"), ("int64", "int64")])
@pytest.mark.parametrize("count", [0, 1, 2, 16])
def test_a_product_of_few_updates(kind: str, dtype: str, count: int) -> None:
    model = f"""g ({kind}[B,P] x, int64[B,{count}] i, {kind}[B,{count}] u) => ({kind}[B,P] y) {{
        y = ScatterElements <axis = 1, reduction = "mul"> (x, i, u) }}"""
    rng, feeds = np.random.default_rng(count), []
    for b, p in ((0, 3), (1, 1), (3, 5)):
        i = rng.integers(-p, p, (b, count))
        feeds.append({"x": sample(dtype, b, p), "i": i, "u": sample(dtype, b, count, seed=1)})
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)


@pytest.mark.parametrize("kind", ["float", "int64"])
def test_a_product_stays(kind: str) -> None:
    model = f"""g ({kind}[50] x, int64[20,1] i, {kind}[20] u) => ({kind}[50] y) {{
        y = ScatterND <reduction = "mul"> (x, i, u) }}"""
    (scatter,) = inspect(parse(model), target=DENSE).scatters
    assert scatter.reason is Reason.UNKNOWN_INDICES


def test_dense_forms_are_asked_for_and_reported() -> None:
    model = parse(
        "g (float[50] x, int64[400,1] i, float[400] u) => (float[50] y){ y = ScatterND (x, i, u) }"
    )
    assert scatters(optimize(model)) == 1
    assert scatters(optimize(model, DENSE)) == 0
    (scatter,) = inspect(model, target=DENSE).scatters
    assert scatter.done == "removed by Gather, Concat (dense, 20000 elements)"
    made = {p.value for n in nodes(optimize(model, DENSE)) for p in n.metadata_props}
    assert "20000" in made


@pytest.mark.parametrize("size", ["500", "S"])
def test_what_is_too_large_stays(size: str) -> None:
    # 500 * 21 summands, or as many as there are positions: more than the target allows.
    model = parse(f"""g (float[{size}] x, int64[20,1] i, float[20] u) => (float[{size}] y) {{
        y = ScatterND <reduction = "add"> (x, i, u) }}""")
    (scatter,) = inspect(model, target=SMALL).scatters
    assert scatter.reason is Reason.TOO_LARGE
    assert scatters(optimize(model, UNBOUNDED)) == 0
    if size == "S":
        (scatter,) = inspect(model, target=SMALL, assume=["S <= 190"]).scatters
        assert scatter.refusal is None


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_few_positions_are_allowed_everywhere(reduction: str) -> None:
    model = f"""g (float[5,3] x, int64[N,1] i, float[N,3] u) => (float[5,3] y) {{
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    rng = np.random.default_rng(0)
    feeds = [
        {
            "x": sample("float32", 5, 3),
            "i": rng.integers(-5, 5, (n, 1)),
            "u": sample("float32", n, 3, seed=2),
        }
        for n in (0, 1, 40)
    ]
    assert_sound(model, *feeds, left=0)


@pytest.mark.parametrize("target", [UNBOUNDED, Target("npu", avoid=frozenset({"ScatterElements"}))])
def test_a_few_updates_of_short_rows(target: Target) -> None:
    model = """g (float[B,50] x, int64[B,3] i, float[B,3] u) => (float[B,50] y) {
        y = ScatterElements <axis = 1> (x, i, u) }"""
    i = np.array([[4, -1, 4], [49, 49, 0]])
    feed = {"x": sample("float32", 2, 50), "i": i, "u": sample("float32", 2, 3)}
    assert_sound(model, feed, left=0, target=target)
    assert_sound(model, feed, left=1)


@pytest.mark.parametrize("reduction", ["none", "max", "min"])
@pytest.mark.parametrize("value", ["-0.0", "1.0", "-1.0"])
def test_one_number_for_all(reduction: str, value: str) -> None:
    model = f"""g (float[B,50] x, int64[B,30] i) => (float[B,50] y) <float number = {{{value}}}> {{
        s = Shape (i)
        u = Expand (number, s)
        y = ScatterElements <axis = 1, reduction = "{reduction}"> (x, i, u) }}"""
    rng = np.random.default_rng(0)
    feeds = [
        {"x": sample("float32", b, 50), "i": rng.integers(-50, 50, (b, 30))} for b in (0, 1, 3)
    ]
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)


def test_updates_that_are_known_to_meet_stay() -> None:
    model = """g (float[5] x, float[2] u) => (float[5] y) <int64[2,1] i = {1, -4}> {
        y = ScatterND (x, i, u) }"""
    (scatter,) = inspect(parse(model), target=DENSE).scatters
    assert scatter.reason is Reason.COLLIDES


def test_updates_of_a_size_that_cannot_be_read_in_a_branch() -> None:
    """One more than the updates is counted where there may be none: that has a cost of its own."""
    text = """g (int8[1,2,1] x, int8[2,1,3] u, int64[2] p, int64[3] ends, bool go)
        => (int8[A,B,C] y) {
        y = If (go) <
            else_branch = e () => (int8[A,B,C] z) { z = Identity (x) },
            then_branch = t () => (int8[A,B,C] w) <int64[3] zeros = {0, 0, 0}> {
                a = Transpose <perm = [1, 2, 0]> (x)
                b = TensorScatter <axis = 2, mode = "circular"> (a, u, p)
                c = Slice (b, zeros, ends)
                d = TensorScatter <axis = -2, mode = "circular"> (b, c)
                w = Transpose <perm = [2, 0, 1]> (d) }> }"""
    feed = {"x": sample("int8", 1, 2, 1), "u": sample("int8", 2, 1, 3), "p": np.array([0, 0])}
    feed |= {"ends": np.array([2, 1, 1]), "go": np.array(False)}
    assert_sound(parse(text, opset=24, ir_version=11), feed, target=UNBOUNDED)
