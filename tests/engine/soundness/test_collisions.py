"""Updates that collide: on one thread the last in row-major order of the original updates wins.

A transpose of the updates must therefore not change who is last.
"""

import numpy as np
import pytest

from tests.helpers.support import assert_sound, i64


def counting(*shape: int) -> np.ndarray:
    """Numbers that all differ, so that it shows which update won."""
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


def test_elements_in_both_orders_of_a_transpose() -> None:
    # Rows of u meet in x: read by columns, another update would be last.
    model = """g (float[2,2] x, float[2,3] u) => (float[2,2] y) {
            w = Transpose <perm = [1, 0]> (u)
            y = ScatterElements <axis = 0> (x, [[0, 1], [1, 0], [0, 0]], w) }"""
    assert_sound(model, {"u": counting(2, 3)})


@pytest.mark.parametrize("perm", ["0, 1, 2", "0, 2, 1", "1, 0, 2", "1, 2, 0", "2, 0, 1", "2, 1, 0"])
def test_every_update_meets_in_one_element(perm: str) -> None:
    model = f"""g (float[2] x, float[2,2,2] u) => (float[2] y) {{
        i = Constant <value = int64[2,2,2,1] {{1, 1, 1, 1, 1, 1, 1, 1}}> ()
        y = ScatterND (x, i, Transpose <perm = [{perm}]> (u)) }}"""
    assert_sound(model, {"u": counting(2, 2, 2)})


@pytest.mark.parametrize("perm", ["0, 1", "1, 0"])
@pytest.mark.parametrize(
    "pairs", ["0,0, 1,1, 0,0, 1,1", "0,0, 1,1, 1,1, 0,0", "0,0, 0,0, 0,1, 1,1"]
)
def test_pairs_of_indices_under_a_transpose(perm: str, pairs: str) -> None:
    model = f"""g (float[2,2] x, float[2,2] u) => (float[2,2] y) <int64[2,2,2] i = {{{pairs}}}> {{
        y = ScatterND (x, i, Transpose <perm = [{perm}]> (u)) }}"""
    assert_sound(model, {"u": counting(2, 2)})


def test_data_updates_and_output_transposed() -> None:
    model = """g (float[3,5] x, float[3,3] u) => (float[3,5] y) {
        t = Transpose <perm = [1, 0]> (x)
        s = ScatterND (t, [[1], [2], [1]], Transpose <perm = [1, 0]> (u))
        y = Transpose <perm = [1, 0]> (s) }"""
    assert_sound(model, {"u": counting(3, 3)})


def test_columns_that_repeat() -> None:
    model = """g (float[2,4] x, float[2,3] u) => (float[2,4] y) {
        y = ScatterElements <axis = 1> (x, [[1, 2, 1], [1, 2, 1]], u) }"""
    assert_sound(model, {"u": counting(2, 3)})


def test_updates_reversed_before_they_collide() -> None:
    model = """g (float[4,2] x, float[3,2] u) => (float[4,2] y) {
            y = ScatterND (x, [[1], [2], [1]], Slice (u, [-1], [-9], [0], [-1])) }"""
    assert_sound(model, {"u": counting(3, 2)})


def test_updates_reshaped_before_they_collide() -> None:
    model = """g (float[4] x, float[2,3] u) => (float[4] y) {
            w = Reshape (Transpose <perm = [1, 0]> (u), [-1])
            y = ScatterND (x, [[0], [1], [0], [1], [2], [0]], w) }"""
    assert_sound(model, {"u": counting(2, 3)})


@pytest.mark.parametrize("first", ["0,1", "1,2", "2,3"])
@pytest.mark.parametrize("second", ["0,1", "1,2", "3,0"])
def test_overlapping_boxes_of_two_scatters(first: str, second: str) -> None:
    model = f"""g (float[4,2] x, float[2,2] u, float[2,2] v) => (float[4,2] y)
        <int64[2,1] i = {{{first}}}, int64[2,1] j = {{{second}}}> {{
            t = ScatterND (x, i, u)
            y = ScatterND (t, j, v) }}"""
    assert_sound(model, {"u": counting(2, 2), "v": -counting(2, 2)}, left=0)


def test_indices_that_collide_only_at_some_values() -> None:
    model = """g (float[4,2] x, float[2,2] u, int64[2] r) => (float[4,2] y) {
        y = ScatterND (x, Unsqueeze (r, [-1]), Transpose <perm = [1, 0]> (u)) }"""
    rows = ((0, 1), (1, 1), (3, -1), (2, 0))
    assert_sound(model, *({"u": counting(2, 2), "r": i64(r)} for r in rows))


def test_indices_modulo_the_size_collide() -> None:
    # i = (0..5) mod N: unique for large N only.
    model = """g (float[N] x, float[6] u) => (float[N] y) {
            i = Unsqueeze (Mod ([0, 1, 2, 3, 4, 5], Shape (x)), [-1])
            y = ScatterND (x, i, u) }"""
    assert_sound(model, *({"N": n, "u": counting(6)} for n in (1, 2, 4, 6, 7)))


def test_indices_divided_collide() -> None:
    model = """g (float[N] x, float[6] u) => (float[N] y) {
            y = ScatterND (x, Unsqueeze (Div ([0, 1, 2, 3, 4, 5], 2), [-1]), u) }"""
    assert_sound(model, *({"N": n, "u": counting(6)} for n in (3, 5)))
