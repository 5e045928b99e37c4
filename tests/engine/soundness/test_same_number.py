"""A scatter of one number into data of the same number is removed, whatever its indices are."""

import numpy as np
import pytest

from tests.helpers.support import assert_sound

FEEDS = [
    {"i": np.array(rows, np.int64), "n": np.array([9], np.int64)}
    for rows in ([], [0], [3, 3, -1, 3], [8, 7, 6, 5, 4, 3, 2, 1, 0, 0, -9])
]


def model(data: str, update: str, reduction: str = "none", kind: str = "float") -> str:
    """A scatter of one number into another, rows as the run gives them."""
    return f"""g (int64[K] i, int64[1] n) => ({kind}[R] y) {{
        x = ConstantOfShape <value = {kind}[1] {{{data}}}> (n)
        k = Shape (i)
        u = ConstantOfShape <value = {kind}[1] {{{update}}}> (k)
        y = ScatterND <reduction = "{reduction}"> (x, Unsqueeze (i, [-1]), u) }}"""


@pytest.mark.parametrize(
    ("number", "reduction"),
    [
        *(("0", r) for r in ("none", "add", "mul", "max", "min")),
        *(("-0", r) for r in ("none", "add", "max", "min")),
        *(("2.5", r) for r in ("none", "max", "min")),
        ("1", "mul"),
        ("nan", "none"),
    ],
)
def test_a_number_that_stays(number: str, reduction: str) -> None:
    assert_sound(model(number, number, reduction), *FEEDS, left=0)


@pytest.mark.parametrize(
    ("number", "reduction"), [("2", "add"), ("-0", "mul"), ("2", "mul"), ("nan", "max")]
)
def test_a_number_that_is_not_kept(number: str, reduction: str) -> None:
    assert_sound(model(number, number, reduction), *FEEDS, left=1)


def test_numbers_are_told_apart_by_their_bits() -> None:
    assert_sound(model("0", "-0"), *FEEDS, left=1)


@pytest.mark.parametrize("reduction", ["none", "max"])
def test_integers(reduction: str) -> None:
    assert_sound(model("-3", "-3", reduction, "int64"), *FEEDS, left=0)


def test_elements_that_meet_by_axis() -> None:
    text = """g (int64[3,K] i) => (float[3,9] y) {
        x = Constant <value = float[3,9] {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0}> ()
        y = ScatterElements <axis = 1> (x, i, ConstantOfShape (Shape (i))) }"""
    rng = np.random.default_rng(0)
    assert_sound(text, *({"i": rng.integers(-9, 9, (3, k))} for k in (0, 1, 30)), left=0)


def test_what_is_added_afterwards_stays() -> None:
    text = """g (int64[K] i, float[K] v, int64[1] n) => (float[R] y) {
        z = ScatterElements (ConstantOfShape (n), i, ConstantOfShape (Shape (i)))
        y = ScatterElements <reduction = "add"> (z, i, v) }"""
    feeds = [f | {"v": np.arange(len(f["i"]), dtype=np.float32)} for f in FEEDS]
    assert_sound(text, *feeds, left=1)


def test_data_that_is_something_else_in_places() -> None:
    text = """g (int64[K] i, float[2] v) => (float[9] y)
        <float[9] x = {0, 0, 0, 0, 0, 0, 0, 0, 0}> {
        u = ConstantOfShape (Shape (i))
        z = ScatterND (x, [[1], [2]], v)
        y = ScatterElements (z, i, u) }"""
    assert_sound(text, *({"i": f["i"], "v": [5, 6]} for f in FEEDS), left=1)


def test_data_that_a_caller_may_override() -> None:
    text = """g (int64[K] i, float[9] x = {0, 0, 0, 0, 0, 0, 0, 0, 0}) => (float[9] y) {
        y = ScatterElements (x, i, ConstantOfShape (Shape (i))) }"""
    assert_sound(text, *({"i": f["i"], "x": np.arange(9, dtype=np.float32)} for f in FEEDS), left=1)
