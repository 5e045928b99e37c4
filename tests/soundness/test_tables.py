"""Known positions in any order, beside axes that are written in full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx import Reason, inspect
from tests.helpers.examples import examples
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample

LOWER = "0,0, 1,0, 1,1, 2,0, 2,1, 2,2"
NUMPY = {"float": "float32"}


def numbers(array: np.ndarray) -> str:
    return ", ".join(map(str, array.ravel()))


@st.composite
def points(draw: st.DrawFn) -> tuple[str, list[dict[str, np.ndarray]]]:
    """A ScatterND of constant points, with some of the axes behind them of unknown size."""
    rank = draw(st.integers(1, 3))
    depth = draw(st.integers(1, rank))
    sizes = [draw(st.integers(1, 4)) for _ in range(rank)]
    count = draw(st.integers(1, 6))
    kind = draw(st.sampled_from(["float", "int64", "bool", "float16"]))
    reductions = ["none", "add", "mul", "max", "min"] if kind in ("float", "int64") else ["none"]
    reduction = draw(st.sampled_from(reductions))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    index = np.stack([rng.integers(-n, n, count) for n in sizes[:depth]], -1)
    tail = [f"D{d}" if draw(st.booleans()) else str(n) for d, n in enumerate(sizes[depth:])]
    shape = ",".join([*map(str, sizes[:depth]), *tail])
    given_shape = ",".join([str(count), *tail])
    model = f"""g ({kind}[{shape}] x, {kind}[{given_shape}] u) => ({kind}[{shape}] y)
        <int64[{count},{depth}] i = {{{numbers(index)}}}> {{
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    dtype = NUMPY.get(kind, kind)
    behind = [0 if t.startswith("D") else n for t, n in zip(tail, sizes[depth:], strict=True)]
    feeds = [
        {"x": sample(dtype, *sizes[:depth], *s), "u": sample(dtype, count, *s, seed=1)}
        for s in (sizes[depth:], behind)
    ]
    return model, feeds


@examples(60)
@given(points())
def test_constant_points(case: tuple[str, list[dict[str, np.ndarray]]]) -> None:
    model, feeds = case
    reduces = 'reduction = "none"' not in model
    # Without a reduction, ONNX does not define which of several colliding updates wins.
    assert_sound(model, *feeds, left=0 if reduces else None)


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_a_triangle_of_every_matrix(reduction: str) -> None:
    model = f"""g (float[B,3,3] x, float[B,6] u) => (float[B,3,3] y)
        <int64[6,2] i = {{{LOWER}}}> {{
        t = Transpose <perm = [1, 2, 0]> (x)
        v = Transpose <perm = [1, 0]> (u)
        z = ScatterND <reduction = "{reduction}"> (t, i, v)
        y = Transpose <perm = [2, 0, 1]> (z) }}"""
    feeds = [{"x": sample("float32", b, 3, 3), "u": sample("float32", b, 6)} for b in (0, 1, 4)]
    assert_sound(model, *feeds, left=0)


def test_axes_apart_from_each_other() -> None:
    # Axes 0 and 2 by a table, axis 1 and dim 1 in full: they are brought together and back.
    model = """g (float[3,N,3] x, float[4,N] u) => (float[3,N,3] y)
        <int64[4,1] a = {0, 2, 1, -1}, int64[4,1] b = {1, 1, 0, 0},
         int64 zero = {0}, int64 one = {1}, int64[1] four = {4},
         int64[1] second = {1}, int64[1] two = {2}, int64[1] last = {-1}> {
        s = Shape (u)
        n = Slice (s, second, two)
        m = Squeeze (n)
        r = Range (zero, m, one)
        f = Concat <axis = 0> (four, n)
        i0 = Expand (a, f)
        i1 = Expand (r, f)
        i2 = Expand (b, f)
        j0 = Unsqueeze (i0, last)
        j1 = Unsqueeze (i1, last)
        j2 = Unsqueeze (i2, last)
        i = Concat <axis = -1> (j0, j1, j2)
        y = ScatterND (x, i, u) }"""
    feeds = [{"x": sample("float32", 3, n, 3), "u": sample("float32", 4, n)} for n in (0, 1, 5)]
    assert_sound(model, *feeds, left=0)


def test_a_permutation_needs_no_data() -> None:
    model = """g (float[2,2,N] x, float[4,N] u) => (float[2,2,N] y)
        <int64[4,2] i = {1,1, 0,1, 1,0, 0,0}> { y = ScatterND (x, i, u) }"""
    feeds = [{"x": sample("float32", 2, 2, n), "u": sample("float32", 4, n)} for n in (0, 3)]
    assert_sound(model, *feeds, left=0)
    assert "Concat" not in {n.op_type for n in nodes(optimize(parse(model)))}


@pytest.mark.parametrize("size", [40, 200])
def test_a_few_points_of_many(size: int) -> None:
    # A table of all positions would be larger than the model.
    index = np.random.default_rng(0).permutation(size * size)[:100]
    points = np.stack([index // size, index % size], -1)
    model = f"""g (float[{size},{size}] x, float[100] u) => (float[{size},{size}] y)
        <int64[100,2] i = {{{numbers(points)}}}> {{ y = ScatterND (x, i, u) }}"""
    feed = {"x": sample("float32", size, size), "u": sample("float32", 100)}
    assert_sound(model, feed, left=0 if size == 40 else 1)


@pytest.mark.parametrize("times", [8, 9])
def test_updates_that_meet_often(times: int) -> None:
    index = np.array([[0, 0], [1, 2]] * times)
    model = f"""g (float[3,3,200] x, float[{2 * times},200] u) => (float[3,3,200] y)
        <int64[{2 * times},2] i = {{{numbers(index)}}}> {{
        y = ScatterND <reduction = "add"> (x, i, u) }}"""
    feed = {"x": sample("float32", 3, 3, 200), "u": sample("float32", 2 * times, 200)}
    assert_sound(model, feed, left=0 if times <= 8 else 1)


def test_updates_that_meet_without_a_reduction_stay() -> None:
    model = parse("""g (float[3,3] x, float[3] u) => (float[3,3] y)
        <int64[3,2] i = {0,0, 1,2, -3,0}> { y = ScatterND (x, i, u) }""")
    (scatter,) = inspect(model, target="standard").scatters
    assert scatter.reason in (Reason.COLLIDES, Reason.MAY_COLLIDE)


def test_zeros_behind_axes_that_become_one_need_a_newer_operator_set() -> None:
    model = """g (float[2,2,N] x, float[2,N] u) => (float[2,2,N] y)
        <int64[2,2] i = {0,1, 1,0}> { y = ScatterND (x, i, u) }"""
    feeds = [{"x": sample("float32", 2, 2, n), "u": sample("float32", 2, n)} for n in (0, 3)]
    assert_sound(model, *feeds, left=0)
    old = parse(model, opset=13)
    (scatter,) = inspect(old, target="standard").scatters
    assert str(scatter.refusal).endswith("(Reshape with allowzero needs operator set 14)")
    assert_sound(old, *feeds, left=1)


@pytest.mark.parametrize("beyond", [200, -201])
def test_positions_beyond_the_end_in_a_branch_that_is_not_taken(beyond: int) -> None:
    rows = np.random.default_rng(0).permutation(200)[:100]
    rows[50] = beyond
    text = f"""g (bool c, float[200] x, float[100] u) => (float[200] y)
        <int64[100,1] i = {{{numbers(rows)}}}> {{
        y = If (c) <
            then_branch = t () => (float[200] a) {{ a = ScatterND (x, i, u) }},
            else_branch = e () => (float[200] b) {{ b = Identity (x) }}
        > }}"""
    feed = {"c": np.array(False), "x": sample("float32", 200), "u": sample("float32", 100, seed=1)}
    assert_sound(text, feed, left=1)
