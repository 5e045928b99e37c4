"""Rows repeated by counts known only at run time, and written over the first rows of data."""

import numpy as np

from tests.helpers.support import assert_sound

IN_A_LOOP = """g (float[B,L,3] x, int64[B] n, float[B,M,3] o) => (float[B,M,3] y)
    <bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64[1] first = {0},
     int64[1] last = {-1}> {
    s = Shape <end = 1> (x)
    b = Squeeze (s)
    y = Loop (b, yes, o) <body = body (int64 i, bool c, float[B,M,3] p)
        => (bool d, float[B,M,3] q) {
        d = Identity (c)
        row = Gather <axis = 0> (x, i)
        k = Gather <axis = 0> (n, i)
        to = Unsqueeze (k, first)
        v = Slice (row, first, to, first)
        t = Shape <end = 1> (v)
        m = Squeeze (t)
        r = Range (zero, m, one)
        column = Unsqueeze (r, last)
        like = Shape (column)
        rows = Expand (i, like)
        at = Concat <axis = -1> (rows, column)
        q = ScatterND (p, at, v)
    }> }"""
A_LIST = """g (float[L,3] x, int64[L] n, float[M,3] o) => (float[M,3] y)
    <bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] last = {-1},
     int64[1] three = {3}> {
    s = Shape <end = 1> (x)
    b = Squeeze (s)
    none = SequenceEmpty ()
    list = Loop (b, yes, none) <body = body (int64 i, bool c, seq(float[k,3]) p)
        => (bool d, seq(float[k,3]) q) {
        d = Identity (c)
        row = Gather <axis = 0> (x, i)
        k = Gather <axis = 0> (n, i)
        to = Unsqueeze (k, first)
        shape = Concat <axis = 0> (to, three)
        v = Expand (row, shape)
        q = SequenceInsert (p, v)
    }>
    v = ConcatFromSequence <axis = 0> (list)
    t = Shape <end = 1> (v)
    m = Squeeze (t)
    r = Range (zero, m, one)
    at = Unsqueeze (r, last)
    y = ScatterND (o, at, v) }"""


def test_the_front_of_each_row_in_a_loop() -> None:
    feeds = [
        {"B": b, "L": rows, "M": m, "n": n}
        for b, rows, m, n in [
            (2, 4, 5, [3, 1]),
            (3, 4, 4, [0, 4, 9]),
            (2, 3, 5, [-1, -3]),
            (1, 0, 2, [1]),
            (0, 2, 2, np.zeros(0, np.int64)),
        ]
    ]
    assert_sound(IN_A_LOOP, *feeds, left=0)


def test_repeated_rows_that_a_loop_collects() -> None:
    feeds = [
        {"L": len(n), "M": m, "n": n} for m, n in [(5, [2, 0, 3]), (6, [1]), (2, [0, 0]), (0, [0])]
    ]
    assert_sound(A_LIST, *feeds, left=0, rejected=2)
