"""One position per row, known only at run time: from either end, at any size, equal in all bits."""

import numpy as np
import pytest

from tests.helpers.masks import RNG
from tests.helpers.support import assert_sound, i64, sample

SPLIT = "<int64[1] first = {0}, int64[1] last = {-1}, int64 zero = {0}, int64 one = {1}>"


def hard(*shape: int) -> np.ndarray:
    """Random floats with NaN and both zeros among them."""
    found = RNG.standard_normal(shape).astype(np.float32)
    found.ravel()[::3] = -0.0
    found.ravel()[1::7] = np.nan
    found.ravel()[2::11] = np.inf
    return found


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("size", ["6", "S"])
@pytest.mark.parametrize("reduction", ["none", "add", "mul"])
def test_an_index_for_each_row_and_column(kind: str, size: str, reduction: str) -> None:
    model = f"""g (float[B,{size},8] x, {kind}[B,1,8] p, float[B,1,8] u) => (float[B,{size},8] y) {{
        y = ScatterElements <axis = 1, reduction = "{reduction}"> (x, p, u) }}"""
    feeds = [
        {"x": hard(b, 6, 8), "p": RNG.integers(-6, 6, (b, 1, 8)).astype(kind), "u": hard(b, 1, 8)}
        for b in (0, 1, 3)
    ]
    assert_sound(model, *feeds, left=0)


def test_one_position_for_all() -> None:
    model = f"""g (float[6,8] x, int64 p, float[8] u) => (float[6,8] y) {SPLIT} {{
        q = Unsqueeze (p, first)
        r = Unsqueeze (q, first)
        v = Unsqueeze (u, first)
        y = ScatterND (x, r, v) }}"""
    feeds = [{"x": hard(6, 8), "p": np.array(p), "u": hard(8)} for p in (-6, -1, 0, 3, 5)]
    assert_sound(model, *feeds, left=0)


def test_pairs_of_row_and_position() -> None:
    model = f"""g (float[B,S] x, int64[B] p, float[B] u) => (float[B,S] y) {SPLIT} {{
        s = Shape (x)
        n = Gather <axis = 0> (s, zero)
        r = Range (zero, n, one)
        c = Unsqueeze (r, last)
        d = Unsqueeze (p, last)
        i = Concat <axis = -1> (c, d)
        y = ScatterND (x, i, u) }}"""
    sizes = [(1, 1), (3, 4), (2, 7), (5, 5), (5, 1), (0, 3)]
    feeds = [{"x": hard(b, s), "p": RNG.integers(-s, s, (b,)), "u": hard(b)} for b, s in sizes]
    assert_sound(model, *feeds, left=0)


@pytest.mark.parametrize("order", ["c, d", "d, c"])
def test_pairs_with_constant_rows(order: str) -> None:
    shape = "4,5" if order == "c, d" else "5,4"
    model = f"""g (float[{shape}] x, int64[4] p, float[4] u) => (float[{shape}] y)
        <int64[4,1] c = {{0, 1, 2, 3}}, int64[1] last = {{-1}}> {{
        d = Unsqueeze (p, last)
        i = Concat <axis = -1> ({order})
        y = ScatterND (x, i, u) }}"""
    dims = tuple(map(int, shape.split(",")))
    feeds = [{"x": hard(*dims), "p": RNG.integers(-5, 5, (4,)), "u": hard(4)} for _ in range(4)]
    assert_sound(model, *feeds)


def test_rows_that_are_not_all() -> None:
    # Only the first two of three rows are written: a comparison alone would write them all.
    model = """g (float[3,5] x, int64[2,1] p, float[2,1] u) => (float[3,5] y) {
        y = ScatterElements <axis = 1> (x, p, u) }"""
    feeds = [{"x": hard(3, 5), "p": RNG.integers(-5, 5, (2, 1)), "u": hard(2, 1)} for _ in range(3)]
    assert_sound(model, *feeds)


def test_two_positions_per_row_may_meet() -> None:
    # The last one wins, as in ONNX Runtime.
    model = """g (float[3,5] x, int64[3,2] p, float[3,2] u) => (float[3,5] y) {
        y = ScatterElements <axis = 1> (x, p, u) }"""
    p = np.array([[1, 1], [0, -5], [4, 2]])
    assert_sound(model, {"x": hard(3, 5), "p": p, "u": hard(3, 2)}, left=0)


def test_a_column_that_is_read_is_there() -> None:
    """As the read at i has run there is a column, so the slice of the first one has one."""
    model = """g (float[A,C] x, int64[1] i, float[A,C] h) => (float[A,C] y)
        <int64[1] first = {0}, int64[1] one = {1}> {
            new = Gather <axis = 1> (h, i)
            part = Slice (x, first, one, one)
            shape = Shape (part)
            u = Expand (new, shape)
            i2 = Unsqueeze (i, first)
            at = Expand (i2, shape)
            y = ScatterElements <axis = 1> (x, at, u) }"""
    feeds = [
        {"x": sample("float32", a, c), "i": i64([at]), "h": sample("float32", a, c, seed=1)}
        for a, c, at in ((0, 3, 2), (1, 1, 0), (4, 5, 3), (4, 5, -1))
    ]
    assert_sound(model, *feeds, left=0)


def test_one_element_of_one_row() -> None:
    # The updates have no dim at all.
    model = """g (float[1,S] x, int64[1] p, float u) => (float[1,S] y) <int64[1] no = {0}> {
        i = Concat <axis = 0> (no, p)
        y = ScatterND (x, i, u) }"""
    feeds = [
        {"x": hard(1, 5), "p": np.array([p]), "u": np.array(-0.0, np.float32)} for p in (0, 4, -1)
    ]
    assert_sound(model, *feeds)


def test_a_row_of_indices_that_is_turned() -> None:
    # The tensor that is read has no dim for the axis of the positions, but one before the rows.
    model = """g (float[4,4] x, int64[1,4] p, float[4,1] u) => (float[4,4] y) {
        i = Transpose <perm = [1, 0]> (p)
        y = ScatterElements <axis = 1> (x, i, u) }"""
    feed = {"x": hard(4, 4), "p": np.array([[0, 3, -1, 1]]), "u": hard(4, 1)}
    assert_sound(model, feed, left=0)
