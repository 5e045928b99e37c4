"""Updates that are almost in the order of a mask's true elements, or almost where it says."""

import numpy as np
import onnx
import pytest

from tests.support import assert_sound, f32, i64, parse, sample

NAMES = """<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1},
    int64[2] column = {-1, 1}, int64[2] twice = {1, 2}>"""
MASKS = [np.array(m, bool) for m in ([1, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0], [0] * 6)]


def of_six(nodes: str) -> str:
    """Return ``x[m] = ...`` with what is written made by nodes, from ``w`` and the rows ``i``."""
    return f"""g (float[6] x, float[6] w, bool[6] m) => (float[6] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        {nodes}
        y = ScatterND (x, i, u) }}"""


FEEDS = [{"x": f32(np.arange(6)), "w": f32(np.arange(6, 12)), "m": m} for m in MASKS]


def test_half_of_what_a_mask_reads_twice() -> None:
    # As many as the true elements, but a, a, b, b, ... and not a, b, c, d, ...
    nodes = """a = GatherND (w, i)
        s = Shape (a)
        k = Div (s, two)
        h = Slice (a, zero, k)
        c = Reshape (h, column)
        e = Expand (c, twice)
        u = Reshape (e, minus)"""
    assert_sound(of_six(nodes), *FEEDS, left=0)


def test_what_half_of_the_rows_of_a_mask_read_twice() -> None:
    nodes = """s = Shape (i)
        t = Slice (s, zero, one)
        k = Div (t, two)
        j = Slice (i, zero, k)
        a = GatherND (w, j)
        c = Reshape (a, column)
        e = Expand (c, twice)
        u = Reshape (e, minus)"""
    assert_sound(of_six(nodes), *FEEDS, left=0)


def test_updates_from_the_second_element_on() -> None:
    nodes = """s = Shape (i)
        t = Slice (s, zero, one)
        k = Add (t, one)
        u = Slice (w, one, k)"""
    assert_sound(of_six(nodes), *FEEDS, left=0)


def batched(node: str) -> str:
    return f"""g (float[A,B] x, float[A,B] w, bool[A] m) => (float[A,B] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        a = {node} (w, i)
        c = Reshape (a, column)
        s = Shape (x)
        u = Expand (c, s)
        y = ScatterND (x, i, u) }}"""


SQUARE = {"x": sample("float32", 3, 3), "w": sample("float32", 3, 3, seed=1), "m": np.full(3, True)}


def test_rows_of_batches_are_others() -> None:
    # w[k, k] is repeated, which is not w[k, :].
    assert_sound(batched("GatherND <batch_dims = 1>"), SQUARE, left=0)


def test_rows_of_batches_that_the_caller_asks_for() -> None:
    graph = """g (float[A,B] x, float[A,B] w, bool[A] m) => (float[A,B] y) {
        y = local.put <b = 1> (x, w, m) }
        <domain: "local", opset_import: ["" : 18]> put <b> (x, w, m) => (y) {
        column = Constant <value = int64[2] {-1, 1}> ()
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        a = GatherND <batch_dims: int = @b> (w, i)
        c = Reshape (a, column)
        s = Shape (x)
        u = Expand (c, s)
        y = ScatterND (x, i, u) }"""
    assert_sound(parse(graph, more=', "local" : 1'), SQUARE)


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


def test_masks_of_one_formula_and_two_shapes() -> None:
    # Both are [x1 < c], but of A by B and of B by A: as many elements, and not the same ones.
    one = """r{0} = Range (nil, {1}, unit)
        e{0} = Expand (r{0}, s{0})
        m{0} = Less (e{0}, c)
        n{0} = NonZero (m{0})
        i{0} = Transpose <perm = [1, 0]> (n{0})"""
    model = parse(f"""g (float[N,N] x, float[N,N] w, float[A,B] a, int64 c) => (float[N,N] y)
        <int64 nil = {{0}}, int64 unit = {{1}}, int64 first = {{0}}> {{
        s0 = Shape (a)
        t = Transpose <perm = [1, 0]> (a)
        s1 = Shape (t)
        wide = Gather (s0, unit)
        tall = Gather (s0, first)
        {one.format(0, "wide")}
        {one.format(1, "tall")}
        u = GatherND (w, i1)
        y = ScatterND (x, i0, u) }}""")
    feed = {
        "x": sample("float32", 3, 3),
        "w": sample("float32", 3, 3, seed=1),
        "a": np.zeros((2, 3), np.float32),
        "c": i64(5),
    }
    assert_sound(model, feed)


def test_the_first_rows_of_what_a_part_of_the_indices_reads() -> None:
    # The first column alone reads whole rows; as many of their elements as the mask has are taken.
    model = f"""g (float[A,B] x, float[A,B] w, bool[A,B] m) => (float[A,B] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        j = Slice (i, zero, one, one)
        a = GatherND (w, j)
        f = Reshape (a, minus)
        s = Shape (i)
        k = Slice (s, zero, one)
        u = Slice (f, zero, k)
        y = ScatterND (x, i, u) }}"""
    m = np.array([[1, 0, 1], [0, 1, 1]], bool)
    feed = {"x": sample("float32", 2, 3), "w": sample("float32", 2, 3, seed=1), "m": m}
    assert_sound(model, feed, left=0)
