"""Attributes with an unusual value, or none: a proof reads them as ONNX Runtime does."""

import numpy as np
import pytest

from tests.helpers.equivalence_support import assert_follows
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, unproven


@pytest.mark.parametrize("opset", [11, 18])
def test_a_squeeze_of_no_axes_is_one_of_all(opset: int) -> None:
    text = "g (float[1, 3] x) => (int64[A] y) { r = Squeeze(x, []) y = Shape(r) }"
    if opset < 13:
        text = (
            "g (float[1, 3] x) => (int64[A] y) { r = Squeeze <axes : ints = []> (x) y = Shape(r) }"
        )
    other = "g (float[1, 3] x) => (int64[A] y) { y = Shape(x) }"
    unproven(parse(text, opset), parse(other, opset), {"x": floats(1, 3)})


def test_an_order_of_no_axes() -> None:
    text = "g (float[2, 3] x) => (float[3, 2] y) { y = Transpose%s(x) }"
    unproven(parse(text % ""), parse(text % "<perm : ints = []>"), {"x": floats(2, 3)})


@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements"])
def test_an_unknown_reduction_is_none(op: str) -> None:
    dims = "2, 1" if op == "ScatterND" else "2"
    text = f"""g (int64[4] x, int64[2] u) => (int64[4] y) <int64[{dims}] i = {{1, 2}}> {{
        y = {op} <reduction = "REDUCTION"> (x, i, u) }}"""
    feed = {"x": np.array([5, 5, 5, 5]), "u": np.array([3, 9])}
    unproven(
        parse(text.replace("REDUCTION", "minimum")), parse(text.replace("REDUCTION", "min")), feed
    )


def test_a_training_mode_of_one_element() -> None:
    one = parse("""g (float[N] x) => (float[N] y) {
        d = Dropout(x, float 0.5, bool [0]) y = Neg(d) }""")
    assert prove(one, one).proven


def test_two_ways_to_keep_the_axes_of_a_maximum() -> None:
    text = """g (int64[K, M] x) => (int64[1, M] y, int64[M] z) <int64[1] a = {0}> {
        y = ReduceMax <keepdims = 1> (x, a) z = %s }"""
    pair = [parse(text % n) for n in ("ReduceMax <keepdims = 0> (x, a)", "Squeeze(y, a)")]
    assert prove(*pair).proven
    assert_follows(
        """g (int64[K, 1, 3] x) => (int64[3] y, int64[1, 3] z) {
        y = ReduceMax <keepdims = 0> (x, [0, 1]) z = ReduceMax <keepdims = 0> (x, [0]) }""",
        {"x": np.array([[[1, 9, 3]], [[4, 2, 8]]])},
    )
