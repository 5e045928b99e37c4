"""Elements that a tensor does not have: what is known of functions must not speak of them.

Outside of its dims, an element has no meaning: a constant is clamped at a number, and is a sum or
a lookup at a term. So facts about such elements may contradict each other, and from a contradiction
everything follows. In each pair, the second model differs where the first one reads nothing.
"""

import numpy as np
import pytest

from onnx_scatterx.proof.proof import prove
from tests.helpers.equivalence_support import assert_possible
from tests.helpers.pair import agree
from tests.helpers.support import parse, run
from tests.proof.unproven import unproven


@pytest.mark.parametrize(("op", "first", "last"), [("ReduceMax", 60, 0), ("ReduceMin", 0, 60)])
def test_a_greatest_element_of_a_row_that_is_not_there(op: str, first: int, last: int) -> None:
    table = np.random.default_rng(0).integers(10, 50, (3, 20))
    table[2, 0], table[2, -1] = first, last
    text = f"""g (int64[M] x) => (int64[L] y)
        <int64[3, 20] t = {{{", ".join(map(str, table.ravel()))}}}> {{
        v = {op} <keepdims = 0> (t, [1])
        z = Add (x, [1])
        y = Concat <axis = 0> (v, {{0}}) }}"""
    one, other = (text.replace("{0}", name) for name in "xz")
    outputs = [run(parse(m), {"x": np.arange(2)}) for m in (one, other)]
    assert not agree(*outputs)
    assert_possible(one, {"x": np.arange(2)}, outputs[0])
    unproven(parse(one), parse(other))


def test_an_update_of_a_row_that_is_not_there() -> None:
    """The column of an update is found by a search in its row, and only three rows have updates."""
    text = """g (float[R, C] x, float[3, n] u) => (float[R, C] y, float[3] q)
        <int64[3, 5] t = {0, 1, 2, 3, 4, 2, 1, 0, 3, 4, 5, 1, 2, 3, 4}, int64 zero = {0},
         int64 one = {1}, int64 two = {2}, int64 five = {5}, int64[1] first = {0},
         int64[1] second = {1}, int64[1] last = {-1}, int64[3, 1] rows = {0, 1, 2},
         float k = {1}> {
        q = Gather <axis = 1> (u, zero)
        s = Shape <start = 1> (u)
        n = Squeeze (s, first)
        r = Range (zero, n, one)
        m = Mod (r, five)
        cols = Gather <axis = 1> (t, m)
        shape = Shape (u)
        wide = Expand (rows, shape)
        c1 = Unsqueeze (cols, last)
        r1 = Unsqueeze (wide, last)
        i = Concat <axis = 2> (r1, c1)
        z = ScatterND (x, i, u)
        {} }"""
    masked = """xs = Shape <end = 1> (x) h = Squeeze (xs, first) R = Range (zero, h, one)
        R1 = Unsqueeze (R, second) ys = Shape <start = 1> (x) w = Squeeze (ys, first)
        C = Range (zero, w, one) below = Greater (R1, two) there = Equal (C, five)
        both = And (below, there) x1 = Add (x, k) y = Where (both, x1, z)"""
    one, other = (text.replace("{}", tail) for tail in ("y = Identity (z)", masked))
    feed = {"x": np.zeros((4, 6), np.float32), "u": np.ones((3, 2), np.float32)}
    outputs = [run(parse(m), feed) for m in (one, other)]
    assert not agree(*outputs)
    assert_possible(one, feed, outputs[0])
    found = prove(parse(one), parse(other))  # of three rows, they are the same
    assert not found.covers({"R": 4, "C": 6, "n": 2})
