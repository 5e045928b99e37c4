"""Updates almost in the order of a mask's true elements, or almost at their positions.

More of them, which the rule `mask` refuses, are in tests/rewrites/test_mask.py.
"""

import numpy as np
import pytest

from tests.helpers.support import assert_sound, f32, i64, sample

NAMES = """<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1},
    int64[2] column = {-1, 1}>"""
MASKS = [np.array(m, bool) for m in ([1, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0], [0] * 6)]


FEEDS = [{"x": f32(np.arange(6)), "w": f32(np.arange(6, 12)), "m": m} for m in MASKS]


def test_a_mask_of_one_row_of_many() -> None:
    # The dim of the updates that nothing runs over is none of the rows.
    model = """g (float[3,N] x, bool[N] m, float[K,1] u) => (float[3,N] y)
        <int64[1] zero = {0}, int64[1] last = {-1}, int64[1] one = {1}, int64 no = {0}> {
        n = NonZero (m)
        c = Transpose <perm = [1, 0]> (n)
        z = Mul (c, no)
        p = Concat <axis = 1> (z, c)
        i = Unsqueeze (p, one)
        y = ScatterND (x, i, u) }"""
    feeds = [
        {"x": sample("float32", 3, 6), "m": m, "u": sample("float32", int(m.sum()), 1, seed=1)}
        for m in MASKS
    ]
    assert_sound(model, *feeds)


@pytest.mark.parametrize(
    ("kind", "columns", "tail"),
    [("bool", 4, (2,)), ("bool", 2, (4,)), ("bool", 4, (4, 4)), ("float", 4, (4,))],
)
def test_a_vector_in_another_rhythm(kind: str, columns: int, tail: tuple[int, ...]) -> None:
    # Two numbers in turn for four columns; four for two; four rows at once; a mask of floats.
    listed, width = ", ".join(map(str, tail)), tail[-1]
    model = f"""g (float[6,4] x, float[{width}] v, {kind}[6,1] m, int64[1] k) => (float[6,4] y)
        <int64[2] whole = {{6, {columns}}}, int64[1] minus = {{-1}},
        int64[{len(tail)}] t = {{{listed}}}> {{
        b = Expand (m, whole)
        n = NonZero (b)
        i = Transpose <perm = [1, 0]> (n)
        s = Concat <axis = 0> (k, t)
        e = Expand (v, s)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    m = MASKS[0].reshape(6, 1).astype("float32" if kind == "float" else kind)
    feed = {"x": sample("float32", 6, 4), "v": sample("float32", width, seed=1), "m": m}
    assert_sound(model, feed | {"k": i64([4 * columns // int(np.prod(tail))])})


def test_the_first_columns_of_a_wider_tensor() -> None:
    model = f"""g (float[6,4] x, float[N,5] w, bool[6] m) => (float[6,4] y)
        {NAMES[:-1]}, int64[1] four = {{4}}> {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        u = Slice (w, zero, four, one)
        y = ScatterND (x, i, u) }}"""
    x, w = sample("float32", 6, 4), sample("float32", 6, 5, seed=1)
    feeds = [{"x": x, "w": w[: int(m.sum())], "m": m} for m in MASKS]
    assert_sound(model, *feeds, left=0)


def test_a_column_that_is_repeated_over_rows_and_columns() -> None:
    model = """g (float[6,2,4] x, float[2,1] v, bool[6] m, int64[1] k) => (float[6,2,4] y)
        <int64[2] t = {2, 4}> {
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        s = Concat <axis = 0> (k, t)
        u = Expand (v, s)
        y = ScatterND (x, i, u) }"""
    feed = {"x": sample("float32", 6, 2, 4), "v": sample("float32", 2, 1, seed=1)}
    assert_sound(model, *(feed | {"m": m, "k": i64([m.sum()])} for m in MASKS), left=0)


def test_a_column_of_another_tensor_under_the_mask() -> None:
    model = f"""g (float[6,4] x, float[6] w, bool[6] m) => (float[6,4] y) {NAMES[:-1]},
        int64[2] wide = {{1, 4}}> {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        a = GatherND (w, i)
        c = Reshape (a, column)
        u = Expand (c, wide)
        y = ScatterND (x, i, u) }}"""
    x = sample("float32", 6, 4)
    assert_sound(model, *(feed | {"x": x} for feed in FEEDS), left=0)


def test_a_column_of_a_mask_over_an_axis_behind_it() -> None:
    # The mask as it was before it was broadcast would stand for other axes of the data.
    model = f"""g (float[3,3,3] x, float v, bool[3,1] m) => (float[3,3,3] y) {NAMES[:-1]},
        int64[2] whole = {{3, 3}}, int64[1] three = {{3}}> {{
        b = Expand (m, whole)
        n = NonZero (b)
        i = Transpose <perm = [1, 0]> (n)
        s = Shape (i)
        k = Slice (s, zero, one)
        t = Concat <axis = 0> (k, three)
        u = Expand (v, t)
        y = ScatterND (x, i, u) }}"""
    feed = {"x": sample("float32", 3, 3, 3), "v": f32(5), "m": np.array([[1], [0], [1]], bool)}
    assert_sound(model, feed, left=0)


def test_indices_of_which_a_mask_is_a_part() -> None:
    # Two columns of six.
    model = """g (float[6,6] x, bool[6] m, float[K,2] u) => (float[6,6] y)
        <int64 no = {0}, int64[1,2,1] line = {0, 1}, int64[3] wide = {1, 2, 1},
        int64[1] last = {-1}> {
        n = NonZero (m)
        c = Transpose <perm = [1, 0]> (n)
        b = Unsqueeze (c, last)
        d = Mul (b, no)
        e = Add (d, line)
        f = Expand (b, wide)
        i = Concat <axis = -1> (f, e)
        y = ScatterND (x, i, u) }"""
    feeds = [
        {"x": sample("float32", 6, 6), "m": m, "u": sample("float32", int(m.sum()), 2)}
        for m in MASKS
    ]
    assert_sound(model, *feeds)
