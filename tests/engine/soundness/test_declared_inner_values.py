"""What a model says about its inner values is a hint; only graph inputs are declarations.

ONNX Runtime warns of wrong shapes at most, and runs.
"""

import numpy as np
import pytest

from tests.helpers.support import assert_sound, i64, sample

COVER = "int64[2,1] i = {0, 1}"


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "claim", ["float[2,3]", "float[N,3]", "float[1,3]", "float[9,3]", "float[]"]
)
def test_the_shape_of_sliced_data(claim: str) -> None:
    # t has as many rows as the caller asks for; rows 0 and 1 cover it if it had two.
    model = f"""g (float[N,3] x, float[2,3] u, int64[1] a, int64[1] b) => (float[M,3] y)
        <{COVER}, {claim} t, float[2,3] s> {{
            s = ScatterND (Slice (x, a, b), i, u)
            y = Neg (s) }}"""
    cuts = ((0, 2), (0, 6), (1, 5), (3, 6))
    assert_sound(model, *({"N": 6, "a": [a], "b": [b]} for a, b in cuts))


def test_the_shape_of_reshaped_data() -> None:
    model = f"""g (float[6] x, float[2,K] u, int64[2] s) => (float[A,B] y)
        <{COVER}, float[2,3] t> {{
            y = ScatterND (Reshape (x, s), i, u) }}"""
    assert_sound(model, *({"K": 6 // r, "s": [r, 6 // r]} for r in (2, 3, 6)))


def test_the_shape_of_what_a_mask_selects() -> None:
    model = f"""g (float[N] x, bool[N] m, float[2] u) => (float[K] y) <{COVER}, float[2] t> {{
        y = ScatterND (Compress (x, m), i, u) }}"""
    masks = ([1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1])
    assert_sound(model, *({"N": 4, "m": m} for m in masks))


def test_a_shared_name_of_unequal_sizes() -> None:
    # t has 2 N rows and is written at K of them; the model says N for both.
    model = """g (float[N,3] x, float[K,3] v) => (float[M,3] y) <float[N,3] t, int64[N,1] i> {
            t = Concat <axis = 0> (x, x)
            q = Range (0, Squeeze (Shape <end = 1> (v)), 1)
            y = ScatterND (t, Unsqueeze (q, [-1]), v) }"""
    assert_sound(model, *({"N": n, "K": k} for n, k in ((2, 2), (2, 4), (3, 0), (3, 5))))


def test_a_derived_name_that_ignores_a_clamp() -> None:
    # Exporters mean N - 2 rows for x[1:-1]; with fewer than two rows the slice has none.
    model = """g (float[N,3] x) => (float[N,3] y) <float[unk__7,3] u, int64[unk__7,1] i> {
            u = Neg (Slice (x, [1], [-1], [0]))
            r = Range (0, Squeeze (Shape <end = 1> (x)), 1)
            y = ScatterND (x, Unsqueeze (Slice (r, [1], [-1]), [-1]), u) }"""
    assert_sound(model, *({"N": n} for n in (1, 2, 3, 6)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", ["2", "7", "N"])
def test_the_shape_of_an_output(rows: str) -> None:
    model = f"""g (float[N,3] x, float[2,3] u, int64[1] a, int64[1] b)
        => (float[{rows},3] y) <{COVER}> {{ y = ScatterND (Slice (x, a, b), i, u) }}"""
    assert_sound(model, *({"N": 6, "a": [a], "b": [b]} for a, b in ((0, 2), (0, 6), (1, 5))))


def test_an_input_without_a_shape() -> None:
    model = f"""g (float[] x, float[] u) => (float[] y) <{COVER}> {{ y = ScatterND (x, i, u) }}"""
    feeds = [
        {"x": sample("float32", n, *tail), "u": sample("float32", 2, *tail, seed=1)}
        for n, tail in ((2, ()), (5, (3,)), (2, (2, 2)), (4, (0,)))
    ]
    assert_sound(model, *feeds)


def test_inputs_whose_sizes_are_unknown() -> None:
    model = """g (float[?,?] x, float[?,?] u, int64[?,?] i) => (float[?,?] y) {
        y = ScatterElements <axis = 1> (x, i, u) }"""
    feeds = [
        {"x": sample("float32", 3, 4), "u": sample("float32", *i.shape, seed=1), "i": i}
        for i in (i64([[1, 2]]), i64([[0], [3], [-1]]), np.zeros((0, 2), np.int64))
    ]
    assert_sound(model, *feeds)


def test_the_declared_shape_of_a_loop_carried_value() -> None:
    model = f"""g (float[2,3] x, float[2,3] u, int64 n)
        => (float[R,3] y) <bool go = {{1}}, {COVER}> {{
        y = Loop (n, go, x) <body = b (int64 k, bool c, float[2,3] d)
            => (bool more, float[2,3] e) {{
            s = ScatterND (d, i, u)
            e = Concat <axis = 0> (s, x)
            more = Identity (c) }}> }}"""
    assert_sound(model, *({"n": n} for n in (0, 1, 2, 3)), rejected=3)


def test_the_type_and_shape_of_indices() -> None:
    model = """g (float[5,2] x, float[K,2] u, int64[K] r) => (float[5,2] y) <int64[5,1] i> {
            y = ScatterND (x, Unsqueeze (r, [-1]), u) }"""
    assert_sound(model, *({"K": len(r), "r": i64(r)} for r in ([0, 1, 2, 3, 4], [2], [4, 0], [])))
