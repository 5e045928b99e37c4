"""The end of speech models: a signal is divided by the sum of its windows where that is not 0."""

import pytest

from tests.helpers.support import assert_sound

DIVIDED = """
    big = Greater (sums, tiny)
    n = NonZero (big)
    i = Transpose <perm = [1, 0]> (n)
    k = Squeeze (i, one)
    a = Gather <axis = 2> (x, k)
    w = Gather <axis = 0> (sums, k)
    q = Div (a, w)
    xt = Transpose <perm = [2, 0, 1]> (x)
    qt = Transpose <perm = [2, 0, 1]> (q)
    yt = ScatterND (xt, i, qt)
    y = Transpose <perm = [1, 2, 0]> (yt) }"""
OF_ONE_LENGTH = """g (float[B,1,10] x) => (float[B,1,10] y)
    <float[10] sums = {%s}, float tiny = {0.000001}, int64[1] one = {1}> {"""
OF_ANY_LENGTH = """g (float[B,4,T] frames) => (float[B,1,n] y)
    <float[4,1,4] basis = {1, 2, 3, 4, 5, 6, 7, 8, 1, 0, 1, 0, 1, 1, 1, 1}, float unit = {1},
     float[1,1,4] window = {0, 0.5, 1, 0.5}, float tiny = {0.000001}, int64[1] one = {1},
     int64[2] both = {0, 1}, int64[2] ones = {1, 1}> {
    x = ConvTranspose <strides = [2]> (frames, basis)
    t = Shape <start = 2, end = 3> (frames)
    s = Concat <axis = 0> (ones, t)
    all = Expand (unit, s)
    overlapped = ConvTranspose <strides = [2]> (all, window)
    sums = Squeeze (overlapped, both)"""


@pytest.mark.parametrize("sums", ["0, .5, 1, 1, 1, 1, 1, 1, .5, 0", "0, 1, 0, 1, 0, 0, 0, 0, 0, 2"])
def test_a_window_of_one_length(sums: str) -> None:
    text = OF_ONE_LENGTH % sums.replace(" .5", " 0.5") + DIVIDED
    assert_sound(text, *({"B": b} for b in (0, 1, 3)), left=0)


def test_a_window_of_any_length() -> None:
    feeds = ({"B": b, "T": t} for b in (1, 2) for t in (1, 2, 9))
    assert_sound(OF_ANY_LENGTH + DIVIDED, *feeds, left=0)
