"""Scatters that write a part of an axis in order: for that part alone, other rules have plans."""

import numpy as np
import pytest

from onnx_scatterx.targets.target import Target
from tests.helpers.rules import rows
from tests.helpers.support import assert_sound

DENSE = Target("dense", dense_limit=1 << 40)
SIZES = [(4, 3, 0), (4, 3, 2), (4, 3, 3), (1, 5, 4), (4, 0, 0), (0, 3, 0)]


def index(size: int, *shape: int) -> np.ndarray:
    return np.random.default_rng([size, *shape]).integers(-size, max(size, 1), shape)


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max"])
def test_one_position_in_each_of_the_first_columns(reduction: str) -> None:
    """PyTorch lets an index be smaller than the data, so exporters give it sizes of its own."""
    model = f"""g (float[P,S] x, int64[1,N] i, float[1,N] u) => (float[P,S] y) {{
        y = ScatterElements <axis = 0, reduction = "{reduction}"> (x, i, u) }}"""
    feeds = [{"P": p, "S": s, "N": n, "i": index(p, 1, n)} for p, s, n in SIZES if p or not n]
    assert_sound(model, *feeds, left=0)


def test_more_columns_than_there_are() -> None:
    model = """g (float[P,S] x, int64[1,N] i, float[1,N] u) => (float[P,S] y) {
        y = ScatterElements <axis = 0> (x, i, u) }"""
    feed = {"P": 4, "S": 3, "N": 5, "i": index(4, 1, 5)}
    small = {"P": 4, "S": 6, "N": 5, "i": index(4, 1, 5)}
    assert_sound(model, feed, small, left=0, rejected=1)


def test_parts_of_two_axes() -> None:
    model = """g (float[P,S,T] x, int64[1,N,M] i, float[1,N,M] u) => (float[P,S,T] y) {
        y = ScatterElements <axis = 0> (x, i, u) }"""
    feeds = [
        {"P": 3, "S": s, "T": t, "N": n, "M": m, "i": index(3, 1, n, m)}
        for s, t, n, m in ((4, 5, 2, 3), (4, 5, 4, 1), (2, 2, 2, 2), (4, 5, 0, 3), (0, 3, 0, 2))
    ]
    assert_sound(model, *feeds, left=0)


def test_rows_behind_others() -> None:
    """Row 2 + k of the data takes an update at one column that is known only at run time."""
    model = f"""g (float[P,S] u, int64[P] i, float[P] w) => (float[?,?] y) <int64 two = {{2}}> {{
            x = Pad (u, [2, 0, 3, 0])
            {rows("r", "u", start="two")}
            y = ScatterND (x, Concat <axis = -1> (r, Unsqueeze (i, [-1])), w) }}"""
    feeds = [{"P": p, "S": s, "i": index(s, p)} for p, s in ((0, 3), (1, 1), (4, 3), (9, 2))]
    assert_sound(model, *feeds, left=0)


def test_rows_that_may_lie_outside_stay() -> None:
    """Of the data nothing is known; where there is no row, none is looked at."""
    model = f"""g (float[Q,S] x, int64[P] i, float[P] w) => (float[Q,S] y) <int64 two = {{2}}> {{
            {rows("r", "i", start="two")}
            y = ScatterND (x, Concat <axis = -1> (r, Unsqueeze (i, [-1])), w) }}"""
    feeds = [
        {"Q": q, "S": 3, "P": p, "i": index(3, p)} for p, q in ((0, 0), (0, 1), (3, 5), (9, 12))
    ]
    assert_sound(model, *feeds, left=1)


def test_rows_behind_the_first_two_where_there_are_fewer() -> None:
    model = f"""g (float[P,S] x, int64[P] i, float[P] w) => (float[P,S] y) {{
            {rows("all", "i")}
            r = Slice (all, [2], [99])
            column = Slice (i, [2], [99])
            u = Slice (w, [2], [99])
            y = ScatterND (x, Concat <axis = -1> (r, Unsqueeze (column, [-1])), u) }}"""
    feeds = [{"P": p, "S": 3, "i": index(3, p)} for p in (0, 1, 2, 3, 7)]
    assert_sound(model, *feeds, left=0, target=DENSE)
