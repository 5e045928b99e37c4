"""Rows and elements in the order of a mask: as experts of a router get them."""

from itertools import product

import numpy as np
import pytest

from tests.helpers.masks import NAMES, hard, masks
from tests.helpers.support import assert_sound, nodes, optimize, parse


@pytest.mark.parametrize(
    ("kind", "reduction"),
    [*product(("float", "int64"), ("none", "add", "max")), ("bool", "none"), ("bool", "add")],
)
def test_any_updates_in_the_order_of_the_mask(kind: str, reduction: str) -> None:
    # As masked_scatter takes the first elements of a tensor, as many as are true.
    model = f"""g ({kind}[B,4] x, bool[B,4] m, {kind}[K] v) => ({kind}[B,4] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        s = Shape (n)
        one = Constant <value = int64[1] {{1}}> ()
        k = Slice (s, one, two)
        zero = Constant <value = int64[1] {{0}}> ()
        u = Slice (v, zero, k)
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""
    numpy = kind.replace("float", "float32")
    given = [(m, hard(m.sum() + more, kind=numpy)) for m in masks(3, 4) for more in (0, 2)]
    feeds = [{"x": hard(3, 4, kind=numpy), "m": m, "v": v} for m, v in given]
    empty = {"x": hard(0, 4, kind=numpy), "m": np.zeros((0, 4), bool), "v": hard(0, kind=numpy)}
    assert_sound(model, *feeds, empty, left=0)
    assert "NonZero" not in {n.op_type for n in nodes(optimize(parse(model)))}


@pytest.mark.parametrize("turned", [False, True])
def test_rows_of_a_mask_in_either_order(turned: bool) -> None:
    # The axes as the mask has them, or exchanged; whole rows are written.
    order = "b, a" if turned else "a, b"
    model = f"""g (float[P,Q,3] x, bool[R,S] m, float[K,3] u) => (float[P,Q,3] y) {NAMES} {{
        n = NonZero (m)
        zero = Constant <value = int64 {{0}}> ()
        one = Constant <value = int64 {{1}}> ()
        c = Gather <axis = 0> (n, zero)
        d = Gather <axis = 0> (n, one)
        a = Unsqueeze (c, minus)
        b = Unsqueeze (d, minus)
        i = Concat <axis = -1> ({order})
        y = ScatterND (x, i, u) }}"""
    feeds = []
    for m in [*masks(2, 5), np.zeros((0, 5), bool)]:
        x = hard(*(m.shape[::-1] if turned else m.shape), 3)
        feeds.append({"x": x, "m": m, "u": hard(m.sum(), 3)})
    assert_sound(model, *feeds, left=0)


def test_a_mask_of_one_row() -> None:
    # Rows that one expert gets: the mask has one row, which no axis stands for.
    model = f"""g (float[T,3] x, bool[1,T] m, float[K,3] u) => (float[T,3] y) {NAMES} {{
        n = NonZero (m)
        one = Constant <value = int64 {{1}}> ()
        d = Gather <axis = 0> (n, one)
        b = Unsqueeze (d, minus)
        s = Shape (u)
        i = Expand (b, s)
        y = ScatterElements <axis = 0> (x, i, u) }}"""
    feeds = [{"x": hard(5, 3), "m": m, "u": hard(m.sum(), 3)} for m in masks(1, 5)]
    assert_sound(model, *feeds)


@pytest.mark.parametrize("reduction", ["none", "add", "max", "mul"])
@pytest.mark.parametrize(("shape", "row"), [("2,T", 1), ("T,3", 0), ("2,T,2", 1)])
def test_rows_that_a_mask_names_several_times(reduction: str, shape: str, row: int) -> None:
    # Tokens that experts get, each from the first and from the second choice of a router.
    model = f"""g (float[T,3] x, bool[{shape}] m, float[K,3] u) => (float[T,3] y) {NAMES} {{
        n = NonZero (m)
        r = Constant <value = int64 {{{row}}}> ()
        d = Gather <axis = 0> (n, r)
        b = Unsqueeze (d, minus)
        y = ScatterND <reduction = "{reduction}"> (x, b, u) }}"""
    feeds = []
    for t in (9, 1, 0):
        for m in masks(*(t if n == "T" else int(n) for n in shape.split(","))):
            feeds.append({"x": hard(t, 3), "m": m, "u": hard(m.sum(), 3)})
    assert_sound(model, *feeds, left=0)


def test_updates_that_are_broadcast_against_one_row_of_the_data() -> None:
    # As TorchScript writes index_add: there is no such row where the data has none.
    model = f"""g (float[T,3] x, bool[2,T] m, float[K,3] u) => (float[T,3] y) {NAMES} {{
        n = NonZero (m)
        r = Constant <value = int64 {{1}}> ()
        d = Gather <axis = 0> (n, r)
        b = Unsqueeze (d, minus)
        zero = Constant <value_ints = [0]> ()
        one = Constant <value_ints = [1]> ()
        first = Slice (x, zero, one, zero)
        s = Shape (first)
        v = Expand (u, s)
        t = Shape (v)
        i = Expand (b, t)
        y = ScatterElements <axis = 0, reduction = "add"> (x, i, v) }}"""
    feeds = []
    for t in (9, 1, 0):
        for m in masks(2, t):
            feeds.append({"x": hard(t, 3), "m": m, "u": hard(m.sum(), 3)})
    assert_sound(model, *feeds)


@pytest.mark.parametrize("sizes", [(3, 2), (1, 1), (0, 2), (2, 0)])
def test_no_row_where_a_product_of_sizes_is_0(sizes: tuple[int, int]) -> None:
    model = f"""g (float[B,S,3] x, bool[B,S] m) => (float[T,3] y) {NAMES} {{
        whole = Constant <value_ints = [-1, 3]> ()
        rows = Reshape (x, whole)
        line = Reshape (m, minus)
        n = NonZero (line)
        zero = Constant <value_ints = [0]> ()
        one = Constant <value_ints = [1]> ()
        d = Squeeze (n, zero)
        u = Gather (rows, d)
        first = Slice (rows, zero, one, zero)
        s = Shape (first)
        v = Expand (u, s)
        t = Shape (v)
        b = Unsqueeze (d, minus)
        i = Expand (b, t)
        negative = Neg (rows)
        y = ScatterElements <axis = 0> (negative, i, v) }}"""
    feeds = [{"x": hard(*sizes, 3), "m": m} for m in masks(*sizes)]
    assert_sound(model, *feeds, left=0)
