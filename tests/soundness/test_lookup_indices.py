"""Indices in every form that positions are compared with: columns, products, orders, none."""

import math

import numpy as np
import pytest

from onnx_scatterx.optimizer.targets.target import Target
from tests.helpers.pair import agree
from tests.helpers.support import assert_sound, parse, run, sample

UNBOUNDED = Target("unbounded", dense_limit=math.inf)


def test_indices_beside_known_columns() -> None:
    # Channel and position, as pillars are put onto a canvas.
    model = """g (float[3,50] x, int64[N] p, float[3,N] u) => (float[3,50] y)
        <int64[3,1,1] c = {0, 1, 2}, int64[1] last = {-1},
         int64[1] three = {3}, int64[1] one = {1}> {
        n = Shape (p)
        s = Concat <axis = 0> (three, n)
        t = Concat <axis = 0> (s, one)
        a = Expand (c, t)
        q = Unsqueeze (p, last)
        b = Expand (q, t)
        i = Concat <axis = -1> (a, b)
        y = ScatterND (x, i, u) }"""
    rng = np.random.default_rng(0)
    feeds = [
        {"x": sample("float32", 3, 50), "p": rng.integers(-50, 50, n), "u": sample("float32", 3, n)}
        for n in (0, 1, 60)
    ]
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)
    assert not agree(*(run(parse(model), f) for f in feeds[1:]))


@pytest.mark.parametrize("count", [1, 2])
def test_an_index_that_is_a_product(count: int) -> None:
    model = """g (float[20,3] x, int32[C,1] p, int32[C,1] q, float[C,3] u) => (float[20,3] y) {
        a = Cast <to = 7> (p)
        b = Cast <to = 7> (q)
        i = Mul (a, b)
        y = ScatterND (x, i, u) }"""
    p, q = (np.array(n[:count], np.int32).reshape(-1, 1) for n in ([3, -2], [4, 9]))
    x, u = sample("float32", 20, 3), sample("float32", count, 3, seed=1)
    model = model.replace("[C,", f"[{count},")
    assert_sound(model, {"x": x, "p": p, "q": q, "u": u}, left=0)


def test_one_index_for_rows_that_may_be_empty() -> None:
    # There is no first element that would do for all of them.
    model = """g (float[P,D] x, int64[N,1] i, float[N,D] u) => (float[P,D] y) {
        s = Shape (u)
        j = Expand (i, s)
        y = ScatterElements <axis = 0> (x, j, u) }"""
    i = np.array([[3], [-1], [0]])
    feeds = [
        {"x": sample("float32", 5, d), "i": i, "u": sample("float32", 3, d, seed=1)}
        for d in (0, 1, 2)
    ]
    assert_sound(model, *feeds, left=0, target=UNBOUNDED)


def test_indices_that_are_turned() -> None:
    model = """g (float[4,4] x, int64[4,4] i, float[4,4] u) => (float[4,4] y) {
        j = Transpose <perm = [1, 0]> (i)
        y = ScatterElements <axis = 0> (x, j, u) }"""
    i = np.random.default_rng(0).integers(-4, 4, (4, 4))
    feed = {"x": sample("float32", 4, 4), "i": i, "u": sample("float32", 4, 4, seed=1)}
    assert_sound(model, feed, left=0, target=UNBOUNDED)


def test_a_diagonal_and_an_index() -> None:
    # Two axes have one dim of the updates: only one of them can be set aside.
    model = """g (float[3,3,P] x, int64[3,1] p, float[3] u) => (float[3,3,P] y)
        <int64[3,2] r = {0, 0, 1, 1, 2, 2}> {
        i = Concat <axis = 1> (r, p)
        y = ScatterND (x, i, u) }"""
    feed = {"x": sample("float32", 3, 3, 5), "p": np.array([[4], [-1], [0]])}
    assert_sound(model, feed | {"u": sample("float32", 3, seed=1)}, left=0, target=UNBOUNDED)


def test_columns_of_which_some_are_written() -> None:
    model = """g (float[5,4] x, int64[N,2] i, float[N,2] u) => (float[5,4] y) {
        y = ScatterElements <axis = 0> (x, i, u) }"""
    feed = {"x": sample("float32", 5, 4), "i": np.array([[3, 0], [-1, 4], [3, 1]])}
    assert_sound(model, feed | {"u": sample("float32", 3, 2, seed=1)}, left=0, target=UNBOUNDED)
