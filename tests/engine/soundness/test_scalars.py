"""Tensors without dims where others have one dim of extent 1."""

import numpy as np
import pytest

from tests.helpers.judged import judge
from tests.helpers.support import assert_sound, f32, i64, parse

CLIPPED = """g (float[5,3] x, int64 p, {updates} u) => (float[5,3] y)
    <int64[2] both = {{0, 1}}, int64[1] first = {{0}},
     int64 two = {{2}}> {{
    y = ScatterND (x, Unsqueeze (Clip ({position}, [0], [3]), {axes}), u) }}"""


@pytest.mark.parametrize("position", ["p", "two"])
@pytest.mark.parametrize(("updates", "axes"), [("float[1,3]", "both"), ("float[3]", "first")])
def test_a_position_between_bounds_of_one_element(position: str, updates: str, axes: str) -> None:
    """ONNX Runtime takes such bounds, and the result has no dims, as the position."""
    model = CLIPPED.format(updates=updates, position=position, axes=axes)
    assert_sound(model, *({"p": p} for p in (-2, 0, 2, 9)), left=0)


@pytest.mark.parametrize("dtype", ["int64", "float", "int32"])
@pytest.mark.parametrize("bound", ["", "[1]"])
def test_bounds_broadcast_nothing(dtype: str, bound: str) -> None:
    model = parse(f"""g ({dtype} x, {dtype}[N] v, {dtype}{bound} low) => ({dtype} y) {{
        high = Constant <value = {dtype}{bound or "[1]"} {{3}}> ()
        a = Clip (x, low, high)
        b = Clip (x, , high)
        c = Clip (v, low)
        d = Clip (high, low, high)
        y = Add (a, b) }}""")
    kind = np.dtype("float32" if dtype == "float" else dtype)
    feeds = [
        {
            "x": np.array(p, kind),
            "v": np.arange(n).astype(kind),
            "low": np.zeros([1] * bool(bound), kind),
        }
        for p in (-1, 2, 7)
        for n in (0, 1, 4)
    ]
    assert judge(model, feeds) == len(feeds)


def test_what_a_scalar_meets_in_other_operators() -> None:
    """Elementwise operators broadcast a scalar; axes and depths of shape [1] are numbers."""
    model = parse("""g (float x, float[1] a, int64[1] k, int64[3,3] t, int64[2] h) => (float[R] y) {
        l = Trilu (t, k)
        s = CumSum (t, [0])
        o = OneHot (h, [3], [0, 1])
        r = Range ([0], [3], k)
        y = Add (Mul (Add (x, a), Max (a, x)), Where (Less (x, a), x, a)) }""")
    t, h = np.arange(9).reshape(3, 3), i64([0, 2])
    feeds = [{"x": f32(1), "a": f32([n]), "k": i64([1]), "t": t, "h": h} for n in (0, 1, 2)]
    assert judge(model, feeds) == len(feeds)


def test_a_scalar_of_known_elements_stays_a_scalar() -> None:
    # The element is 7, whatever x is; behind it an Unsqueeze wants a tensor without dims.
    model = """g (float[4] x) => (float[4] z, float[1] y) {
            z = ScatterND (x, [[2]], float [7])
            y = Unsqueeze (Neg (Gather (z, 2)), [0]) }"""
    assert_sound(model, left=0)
