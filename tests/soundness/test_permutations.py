"""Writes in the order of a sort are a Gather in the inverse order, if it keeps all elements."""

import numpy as np
import pytest

from onnx_scatterx.optimizer.targets.target import Target
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample

DENSE = Target("dense", dense_limit=1 << 40)


def sorted_write(count: str, reduction: str = "none", size: str = "S") -> str:
    return f"""g (float[B,{size}] keys, float[B,S,3] x, float[B,{count},3] u) => (float[B,S,3] y)
        <int64[1] last = {{-1}}, int64[1] one = {{1}}, int64[1] two = {{2}},
         int64[1] four = {{4}}> {{
        s = Shape (x)
        k = Slice (s, one, two)
        values, i = TopK <axis = 1> (keys, {"k" if count == "S" else "four"})
        j = Unsqueeze (i, last)
        like = Shape (u)
        e = Expand (j, like)
        y = ScatterElements <axis = 1, reduction = "{reduction}"> (x, e, u) }}"""


def feeds(count: int, keys: int = 12) -> list[dict[str, np.ndarray]]:
    return [
        {
            "keys": sample("float32", b, keys, seed=b).round(1),
            "x": sample("float32", b, 12, 3),
            "u": sample("float32", b, count, 3, seed=1),
        }
        for b in (0, 1, 3)
    ]


@pytest.mark.parametrize("reduction", ["none", "add", "max"])
def test_all_positions(reduction: str) -> None:
    model = sorted_write("S", reduction)
    assert_sound(model, *feeds(12), left=0)
    assert [n.op_type for n in nodes(optimize(parse(model)))].count("TopK") == 2


def test_one_order_for_all() -> None:
    model = """g (float[N] keys, float[N,3] x, float[N,3] u) => (float[N,3] y)
        <int64[1] last = {-1}> {
        k = Shape (keys)
        values, i = TopK (keys, k)
        j = Unsqueeze (i, last)
        y = ScatterND (x, j, u) }"""
    given = [
        {
            "keys": sample("float32", n),
            "x": sample("float32", n, 3),
            "u": sample("float32", n, 3, seed=1),
        }
        for n in (0, 1, 20)
    ]
    assert_sound(model, *given, left=0)


def test_some_positions_are_looked_up() -> None:
    # Four of the twelve: no permutation, but few.
    model = sorted_write("4")
    assert_sound(model, *feeds(4), left=0, target=DENSE)
    assert [n.op_type for n in nodes(optimize(parse(model), DENSE))].count("TopK") == 1


def test_not_all_rows_stay() -> None:
    # The keys may be fewer than the data has rows: then not every row is written.
    model = """g (float[B,T] keys, float[B,S,3] x, float[B,T,3] u) => (float[B,S,3] y)
        <int64[1] last = {-1}, int64[1] one = {1}, int64[1] two = {2}> {
        s = Shape (keys)
        k = Slice (s, one, two)
        values, i = TopK <axis = 1> (keys, k)
        j = Unsqueeze (i, last)
        like = Shape (u)
        e = Expand (j, like)
        y = ScatterElements <axis = 1> (x, e, u) }"""
    assert_sound(model, *feeds(9, 9), left=1)


def test_what_is_sorted_is_no_order() -> None:
    model = """g (float[4] x, int64[4] k, float[4] u) => (float[4] y) <int64[1] four = {4}> {
        v, i = TopK (k, four)
        y = ScatterElements <axis = 0> (x, v, u) }"""
    x, u = sample("float32", 4), sample("float32", 4, seed=1)
    feeds = [{"x": x, "k": np.array(k), "u": u} for k in ([3, 1, 0, 2], [2, 0, 2, 1])]
    assert_sound(model, *feeds)


@pytest.mark.parametrize(
    ("keys", "read"),
    [("4", "Gather (i, {0, 0, 1, 1})"), ("4,4", "GatherND (i, {0, 0, 1, 1, 2, 2, 3, 3})")],
)
def test_parts_of_an_order_are_none(keys: str, read: str) -> None:
    # The first two positions twice; the diagonal of a matrix of which each row is an order.
    op, rest = read.split(" (i, ")
    shape = "4" if op == "Gather" else "4,2"
    model = f"""g (float[4] x, float[{keys}] k, float[4] u) => (float[4] y)
        <int64[1] four = {{4}}, int64[{shape}] at = {rest[:-1]}> {{
        v, i = TopK (k, four)
        j = {op} (i, at)
        y = ScatterElements <axis = 0> (x, j, u) }}"""
    sizes = [int(n) for n in keys.split(",")]
    x, u = sample("float32", 4), sample("float32", 4, seed=1)
    k = np.argsort(np.random.default_rng(0).random(sizes)).astype(np.float32)
    assert_sound(model, {"x": x, "k": k, "u": u})


def test_twice_an_order_is_none() -> None:
    # Every other position, from the end and from the start.
    model = """g (float[4] x, float[4] k, float[4] u) => (float[4] y) <int64[1] four = {4}> {
        v, i = TopK (k, four)
        d = Add (i, i)
        j = Sub (d, four)
        y = ScatterElements <axis = 0> (x, j, u) }"""
    x, u = sample("float32", 4), sample("float32", 4, seed=1)
    assert_sound(model, {"x": x, "k": np.array([2, 0, 3, 1], np.float32), "u": u})


def test_operator_sets_without_an_order_from_the_least_on() -> None:
    text = """g (float[9] keys, float[9] x, float[9] u) => (float[9] y)
        <int64[1] k = {9}> {
        values, i = TopK (keys, k)
        y = Scatter <axis = 0> (x, i, u) }"""
    feed = {name: sample("float32", 9, seed=n) for n, name in enumerate(("keys", "x", "u"))}
    assert_sound(parse(text, opset=10), feed)
