"""Updates that are almost in the order of a mask's true elements."""

import numpy as np

from tests.support import assert_sound, f32

NAMES = """<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1},
    int64[2] column = {-1, 1}, int64[2] twice = {1, 2}>"""


def test_half_of_what_a_mask_reads_twice() -> None:
    # As many as the true elements, but a, a, b, b, ... and not a, b, c, d, ...
    model = f"""g (float[6] x, float[6] w, bool[6] m) => (float[6] y) {NAMES} {{
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        a = GatherND (w, i)
        s = Shape (a)
        k = Div (s, two)
        h = Slice (a, zero, k)
        c = Reshape (h, column)
        e = Expand (c, twice)
        u = Reshape (e, minus)
        y = ScatterND (x, i, u) }}"""
    feeds = [
        {"x": f32(np.arange(6)), "w": f32(np.arange(6, 12)), "m": np.array(m, bool)}
        for m in ([1, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0], [0] * 6)
    ]
    assert_sound(model, *feeds, left=0)
