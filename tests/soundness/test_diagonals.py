"""Writes along a diagonal of two axes of symbolic sizes: what is written, and nothing beside it."""

from typing import Any

import numpy as np
import pytest

from tests.helpers.support import assert_sound, f32, optimize, parse, sample

# Each starts at (a, b) of the last two axes but `tail`; `count` names how many rows there are.
GRAPH = """
    g (float[B, {shape}] x, float[{updates}] u) => (float[B, {shape}] z)
    <int64 c0 = {{0}}, int64 c1 = {{1}}, int64 a = {{{a}}}, int64 b = {{{b}}},
     int64 t = {{{taken}}}, int64[1] last = {{-1}}, float number = {{{number}}}>
    {{
        s = Shape <start = 1, end = 2> (x)
        n = Squeeze (s)
        m = Sub (n, t)
        count = Max (m, c0)
        r = Range (c0, count, c1)
        i = Add (r, a)
        j = Add (r, b)
        ii = Unsqueeze (i, last)
        jj = Unsqueeze (j, last)
        idx = Concat <axis = -1> (ii, jj)
        xt = Transpose <perm = [{to}]> (x)
        ut = Transpose <perm = [{ut}]> (u)
        us = Shape (ut)
        filled = Expand (number, us)
        y = ScatterND {reduction} (xt, idx, {written})
        z = Transpose <perm = [{back}]> (y)
    }}
"""


def diagonal(
    a: int, b: int, *, taken: int | None = None, fill: bool = False, reduction: str = ""
) -> Any:
    text = GRAPH.format(
        shape="N, N",
        updates="B, K",
        a=a,
        b=b,
        taken=max(a, b) if taken is None else taken,
        number=-2.5,
        to="1, 2, 0",
        ut="1, 0",
        back="2, 0, 1",
        reduction=f'<reduction = "{reduction}">' if reduction else "",
        written="filled" if fill else "ut",
    )
    return parse(text)


def feeds(a: int, b: int, taken: int | None = None, sizes: Any = (0, 1, 2, 3, 5)) -> Any:
    for batch in (0, 1, 2):
        for n in sizes:
            k = max(n - (max(a, b) if taken is None else taken), 0)
            yield {"x": sample("float32", batch, n, n), "u": sample("float32", batch, k, seed=1)}


@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize(("a", "b"), [(0, 0), (1, 0), (0, 1), (3, 0), (0, 2)])
def test_diagonal(a: int, b: int, fill: bool) -> None:
    assert_sound(diagonal(a, b, fill=fill), *feeds(a, b), left=0)


def test_diagonal_that_starts_inside() -> None:
    assert_sound(diagonal(1, 1, fill=True), *feeds(1, 1), left=0)
    assert_sound(diagonal(1, 2, fill=True), *feeds(1, 2), left=0)
    assert_sound(diagonal(2, 1), *feeds(2, 1), left=0)


def test_diagonal_that_ends_inside() -> None:
    assert_sound(diagonal(0, 0, taken=2, fill=True), *feeds(0, 0, 2), left=0)
    assert_sound(diagonal(1, 0, taken=3, fill=True), *feeds(1, 0, 3), left=0)
    # Behind the updates there is nothing to align with: that part of the axes is left out.
    assert_sound(diagonal(0, 0, taken=2), *feeds(0, 0, 2), left=0)


@pytest.mark.parametrize("reduction", ["add", "mul", "min", "max"])
def test_reductions(reduction: str) -> None:
    for a, b, fill in ((0, 0, False), (1, 0, False), (0, 1, True)):
        model = diagonal(a, b, fill=fill, reduction=reduction)
        assert_sound(model, *feeds(a, b), left=0)


def test_a_diagonal_is_few_nodes() -> None:
    text = """
        g (float[B, N, N] x) => (float[B, N, N] z)
        <int64 c0 = {0}, int64 c1 = {1}, int64[1] last = {-1}, float[1] one = {1}>
        {
            s = Shape <start = 1, end = 2> (x)
            n = Squeeze (s)
            r = Range (c0, n, c1)
            i = Unsqueeze (r, last)
            idx = Concat <axis = -1> (i, i)
            xt = Transpose <perm = [1, 2, 0]> (x)
            b = Shape <end = 1> (x)
            us = Concat <axis = 0> (s, b)
            u = Expand (one, us)
            y = ScatterND (xt, idx, u)
            z = Transpose <perm = [2, 0, 1]> (y)
        }"""
    feeds = [{"x": sample("float32", 2, n, n)} for n in (0, 1, 4)]
    assert_sound(text, *feeds, left=0)
    assert len(optimize(parse(text)).graph.node) == 9  # 5 of them for the positions
    # Updates end where their axis does, and need not be cut.
    assert not any(n.op_type == "Slice" for n in optimize(diagonal(1, 0)).graph.node)


def test_axes_of_other_sizes_and_between() -> None:
    text = """
        g (float[N, A, M, R] x, float[N, A, R] u) => (float[N, A, M, R] z)
        <int64 c0 = {0}, int64 c1 = {1}, int64[1] last = {-1}>
        {
            s = Shape <end = 1> (x)
            n = Squeeze (s)
            r = Range (c0, n, c1)
            i = Unsqueeze (r, last)
            idx = Concat <axis = -1> (i, i)
            xt = Transpose <perm = [0, 2, 1, 3]> (x)
            y = ScatterND (xt, idx, u)
            z = Transpose <perm = [0, 2, 1, 3]> (y)
        }"""
    sizes = [(0, 2, 3, 2), (1, 1, 1, 1), (2, 3, 4, 2), (3, 2, 3, 0), (3, 0, 5, 2)]
    feeds = [
        {"x": sample("float32", n, a, m, r), "u": sample("float32", n, a, r, seed=1)}
        for n, a, m, r in sizes
    ]
    assert_sound(text, *feeds, left=0)


def test_rows_that_are_named_from_the_end_are_left() -> None:
    text = """
        g (float[N, M] x, float[K] u) => (float[N, M] z)
        <int64 c0 = {0}, int64 c1 = {1}, int64 m2 = {-2}, int64[1] last = {-1}, float v = {3}>
        {
            k = Shape (u)
            n = Squeeze (k)
            r = Range (c0, n, c1)
            d = Add (r, m2)
            i = Unsqueeze (d, last)
            idx = Concat <axis = -1> (i, i)
            w = Expand (v, k)
            z = ScatterND (x, idx, w)
        }"""
    feeds = [
        {"x": sample("float32", n, m), "u": np.zeros(k, np.float32)}
        for n, m, k in [(4, 4, 4), (4, 5, 3), (2, 3, 1)]
    ]
    assert_sound(text, *feeds, left=1)


def test_a_dim_that_runs_along_no_axis() -> None:
    text = """
        g (float[N, N] x, float[2, N] u) => (float[N, N] z)
        <int64 c0 = {0}, int64 c1 = {1}, int64[1] last = {-1}, int64[3] two = {2, 1, 1}>
        {
            s = Shape <end = 1> (x)
            n = Squeeze (s)
            r = Range (c0, n, c1)
            i = Unsqueeze (r, last)
            one = Concat <axis = -1> (i, i)
            idx = Expand (one, two)
            z = ScatterND (x, idx, u)
        }"""
    feeds = [{"x": sample("float32", n, n), "u": sample("float32", 2, n)} for n in (1, 3)]
    assert_sound(text, *feeds)  # the last of two updates is written


def test_a_dim_of_one_update_at_most() -> None:
    """The second axis has one position, and so there are no two updates that go to two places."""
    text = """
        g (float[N, 1] x, float[1, K] u) => (float[N, 1] z)
        <int64 c0 = {0}, int64 c1 = {1}, int64 c2 = {2}, int64[1] o = {0}, int64[1] one = {1}>
        {
            s = Shape <end = 1> (x)
            n = Squeeze (s)
            m = Sub (n, c2)
            k = Max (m, c0)
            r = Range (c0, k, c1)
            i = Add (r, c1)
            count = Unsqueeze (k, o)
            shape = Concat <axis = 0> (one, count)
            idx = Expand (i, shape)
            z = ScatterElements <axis = 0> (x, idx, u)
        }"""
    feeds = [
        {"x": sample("float32", n, 1), "u": f32([[7.0] * max(n - 2, 0)])} for n in (0, 1, 2, 3)
    ]
    assert_sound(text, *feeds, left=0)


# A third index beside n and n: what it is, and how many updates there are for each n.
THIRD = """
    g (float[N, N, {axis}] x, float[N, W] u, int64 p) => (float[N, N, L] z)
    <int64 c0 = {{0}}, int64 c1 = {{1}}, int64[1] last = {{-1}}>
    {{
        s = Shape <end = 1> (x)
        us = Shape (u)
        ws = Shape <start = 1> (u)
        n = Squeeze (s)
        w = Squeeze (ws)
        r = Range (c0, n, c1)
        row = Unsqueeze (r, last)
        column = Range (c0, w, c1)
        third = {third}
        i = Expand (row, us)
        k = Expand (third, us)
        ii = Unsqueeze (i, last)
        kk = Unsqueeze (k, last)
        idx = Concat <axis = -1> (ii, ii, kk)
        z = ScatterND (x, idx, u)
    }}"""


@pytest.mark.parametrize(
    ("third", "width", "axis", "left"),
    [
        ("Identity (column)", 3, "3", 0),
        ("Identity (column)", 2, "3", None),  # not all of the axis
        ("Add (column, c1)", 2, "3", None),
        ("Identity (c0)", 1, "3", None),
        ("Identity (row)", 1, "M", None),  # three axes
        ("Identity (p)", 1, "1", 0),  # wherever that is, within one position
        ("Identity (p)", 1, "2", None),
    ],
)
def test_a_third_index(third: str, width: int, axis: str, left: int | None) -> None:
    text = THIRD.format(third=third, axis=axis)
    text = text.replace("[N, W]", f"[N, {width}]")
    feeds = [
        {
            "x": sample("float32", n, n, int(axis) if axis.isdigit() else n),
            "u": sample("float32", n, width, seed=1),
            "p": np.array(p),
        }
        for n in (0, 1, 4)
        for p in (0, -1)
    ]
    assert_sound(text, *feeds, left=left)


def test_updates_that_reach_past_an_axis_of_none() -> None:
    """Two are put before the updates, of which there are none where the axis has 0 or 1."""
    assert_sound(diagonal(2, 0, taken=1), *feeds(2, 0, 1, sizes=(0, 1)), left=0)


def test_old_operator_sets() -> None:
    """Pad takes no computed amounts there."""
    rows = ", ".join(str(n + 1) for n in range(99))
    text = f"""
        g (float[100, 100] x, float[1, 99] u) => (float[100, 100] z)
        <int64[1, 99] i = {{{rows}}}> {{ z = Scatter <axis = 0> (x, i, u) }}"""
    feed = {"x": sample("float32", 100, 100), "u": sample("float32", 1, 99, seed=1)}
    assert_sound(parse(text, opset=10), feed)


def test_positions_that_nobody_checks() -> None:
    """Where K is 0 the indices have no elements, and N of them may name N - 1 positions."""
    text = """
        g (float[N, N, K] x, float[1, N, K] u) => (float[M, N, K] z)
        <int64 c0 = {0}, int64 c1 = {1}, int64[1] o = {0}, int64[1] last = {-1}, int64[1] one = {1}>
        {
            less = Slice (x, o, last, o)
            s = Shape <start = 1, end = 2> (less)
            n = Squeeze (s)
            r = Range (c0, n, c1)
            i = Unsqueeze (r, last)
            k = Shape <start = 2> (less)
            shape = Concat <axis = 0> (one, s, k)
            idx = Expand (i, shape)
            z = ScatterElements <axis = 0> (less, idx, u)
        }"""
    feeds = [
        {"x": sample("float32", n, n, k), "u": sample("float32", 1, n, k)}
        for n, k in [(0, 0), (1, 0), (2, 0), (5, 0), (0, 2)]
    ]
    assert_sound(text, *feeds)


@pytest.mark.parametrize("dtype", ["bool", "string", "float16", "int64", "uint8", "double"])
def test_types(dtype: str) -> None:
    text = f"""
        g ({dtype}[N, N] x, {dtype}[K] u) => ({dtype}[N, N] z)
        <int64 c0 = {{0}}, int64 c1 = {{1}}, int64[1] last = {{-1}}>
        {{
            s = Shape <end = 1> (x)
            n = Squeeze (s)
            m = Sub (n, c1)
            k = Max (m, c0)
            r = Range (c0, k, c1)
            i = Unsqueeze (r, last)
            t = Add (i, c1)
            idx = Concat <axis = -1> (t, i)
            z = ScatterND (x, idx, u)
        }}"""
    numpy = {"float": "float32", "double": "float64"}.get(dtype, dtype)
    feeds = [
        {"x": sample(numpy, n, n), "u": sample(numpy, max(n - 1, 0), seed=1)} for n in (0, 1, 2, 4)
    ]
    assert_sound(text, *feeds, left=0)
