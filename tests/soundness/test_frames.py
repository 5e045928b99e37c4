"""Frames that overlap on an axis and are combined, as short-time transforms are inverted."""

import numpy as np
import pytest

from tests.helpers.pair import Feed
from tests.helpers.support import assert_sound, f32, sample

COUNTS = (0, 1, 2, 5)


def positions(hop: int, length: int) -> str:
    """Write where frames go, [T, length], and how many positions they take, [1]."""
    row = ", ".join(map(str, range(length)))
    return f"""
        zero = Constant <value = int64 {{0}}> ()
        one = Constant <value = int64 {{1}}> ()
        hop = Constant <value = int64 {{{hop}}}> ()
        rest = Constant <value = int64[1] {{{length - hop}}}> ()
        row = Constant <value = int64[{length}] {{{row}}}> ()
        last = Constant <value = int64[1] {{-1}}> ()
        count = Squeeze (t)
        line = Range (zero, count, one)
        starts = Mul (line, hop)
        column = Unsqueeze (starts, last)
        both = Add (column, row)
        steps = Mul (t, hop)
        size = Add (steps, rest)"""


def in_one_dim(
    hop: int, length: int, reduction: str, kind: str, batch: str = "B", given: str = ""
) -> str:
    """Write frames that stand one after the other in a dim; a tensor may be ``given`` for them."""
    data = "Identity (given)" if given else "Expand (v, sizes)"
    return f"""g ({kind}[{batch},T,{length}] u, {kind} v{given}) => ({kind}[?,?] y) {{
        b = Shape <end = 1> (u)
        t = Shape <start = 1, end = 2> (u)
        {positions(hop, length)}
        sizes = Concat <axis = 0> (b, size)
        x = {data}
        front = Constant <value = int64[2] {{1, -1}}> ()
        flat = Reshape (both, front)
        n = Constant <value = int64[1] {{{length}}}> ()
        wide = Mul (t, n)
        shape = Concat <axis = 0> (b, wide)
        i = Expand (flat, shape)
        w = Reshape <allowzero = 1> (u, shape)
        y = ScatterElements <axis = 1, reduction = "{reduction}"> (x, i, w) }}"""


def in_two_dims(hop: int, length: int) -> str:
    return f"""g (float[T,{length},C] u, float v) => (float[?,?] y) {{
        t = Shape <end = 1> (u)
        c = Shape <start = 2> (u)
        {positions(hop, length)}
        sizes = Concat <axis = 0> (size, c)
        x = Expand (v, sizes)
        i = Unsqueeze (both, last)
        y = ScatterND <reduction = "add"> (x, i, u) }}"""


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize(("hop", "length"), [(4, 8), (2, 6), (1, 3)])
def test_frames_one_after_the_other(hop: int, length: int, reduction: str) -> None:
    kind, dtype = ("int64", "int64") if hop == 2 else ("float", "float32")
    feeds: list[Feed] = [
        {"u": sample(dtype, b, t, length, seed=t), "v": np.array(-1).astype(dtype)}
        for b in (0, 1, 3)
        for t in COUNTS
    ]
    assert_sound(in_one_dim(hop, length, reduction, kind), *feeds, left=0)


def test_a_batch_of_one() -> None:
    feeds = [{"u": sample("float32", 1, t, 8), "v": f32(-0.0)} for t in COUNTS]
    assert_sound(in_one_dim(4, 8, "add", "float", "1"), *feeds, left=0)


@pytest.mark.parametrize(
    ("hop", "length", "left"),
    [
        (4, 8, 0),
        (1, 8, 0),
        (1, 9, 1),  # more blocks than are worth it
        (3, 8, 1),  # the last block is shorter
        (9, 8, 1),  # gaps
    ],
)
def test_frames_in_a_dim_of_their_own(hop: int, length: int, left: int) -> None:
    feeds = [
        {"u": sample("float32", t, length, c), "v": f32(-0.0)} for t in COUNTS for c in (0, 1, 3)
    ]
    # Frames with gaps would take less than nothing where there are none.
    assert_sound(in_two_dims(hop, length), *feeds, left=left, rejected=3 * (hop > length))


def test_frames_that_may_lie_outside_stay() -> None:
    """In an empty batch no position is looked at, and the axis may be shorter than the frames."""
    model = in_one_dim(4, 8, "add", "float", given=", float[B,S] given")
    feeds = [
        {"u": sample("float32", b, 2, 8), "v": f32(0), "given": sample("float32", b, s)}
        for b, s in ((3, 12), (3, 20), (0, 1))
    ]
    assert_sound(model, *feeds, left=1)


def test_frames_that_overwrite_each_other_stay() -> None:
    feed = {"u": sample("float32", 2, 3, 8), "v": f32(1)}
    assert_sound(in_one_dim(4, 8, "none", "float"), feed, left=1)


def placed(at: str, *, flat: bool) -> str:
    """Write frames of 8 at ``both``, which is made of i and j, on an axis with room for them."""
    row = ", ".join(map(str, range(8)))
    index, updates = ("Reshape (k, front)", "Reshape (u, rows)") if flat else ("Identity (k)", "u")
    return f"""g (float[T,8,C] u, float[C] v) => (float[?,?] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 four = {{4}},
         int64[8] j = {{{row}}}, int64[1] last = {{-1}}, int64[2] front = {{-1, 1}},
         int64[1] room = {{24}}> {{
        t = Shape <end = 1> (u)
        c = Shape (v)
        count = Squeeze (t)
        total = Mul (count, four)
        line = Range (zero, count, one)
        i = Unsqueeze (line, last)
        {at}
        size = Add (total, room)
        sizes = Concat <axis = 0> (size, c)
        x = Expand (v, sizes)
        k = Unsqueeze (both, last)
        rows = Concat <axis = 0> (last, c)
        idx = {index}
        new = {updates if flat else "Identity (u)"}
        y = ScatterND <reduction = "add"> (x, idx, new) }}"""


@pytest.mark.parametrize(
    ("at", "flat"),
    [
        ("a = Mul (i, four)  b = Sub (total, a)  both = Add (b, j)", True),  # backwards
        ("a = Sub (i, i)  both = Add (a, j)", True),  # all in one place
        ("a = Mul (i, four)  b = Sub (a, four)  both = Add (b, j)", True),  # from the end on
        ("a = Mul (i, four)  b = Mul (j, two)  both = Add (a, b)", True),  # every other position
        ("a = Mul (i, four)  b = Mul (j, two)  both = Add (a, b)", False),
    ],
)
def test_other_frames_stay(at: str, flat: bool) -> None:
    feeds = [
        {"u": sample("float32", t, 8, c, seed=t), "v": sample("float32", c)}
        for t in (1, 2, 3)
        for c in (1, 3)
    ]
    assert_sound(placed(at, flat=flat), *feeds, left=1)


def test_frames_in_some_rows_and_twice_in_each() -> None:
    """Fewer rows than the data has are its first rows; two writes to one row are kept."""
    fewer = in_one_dim(4, 8, "add", "float").replace("float v)", "float v, float[A] a)")
    fewer = fewer.replace(
        "x = Expand (v, sizes)",
        """rows = Shape (a)
        more = Concat <axis = 0> (rows, size)
        x = Expand (v, more)""",
    )
    feeds = [
        {"u": sample("float32", b, 2, 8), "v": f32(0), "a": sample("float32", a)}
        for a, b in ((3, 3), (3, 2), (1, 1))
    ]
    assert_sound(fewer, *feeds)
    twice = in_two_dims(4, 8).replace("float[T,8,C] u", "float[T,8,2,C] u")
    twice = twice.replace("Shape <start = 2>", "Shape <start = 3>")
    twice = twice.replace(
        "i = Unsqueeze (both, last)",
        """ends = Constant <value = int64[2] {2, 3}> ()
        k = Unsqueeze (both, ends)
        pair = Constant <value = int64[4] {1, 1, 2, 1}> ()
        i = Expand (k, pair)""",
    )
    feeds = [{"u": sample("float32", t, 8, 2, 3), "v": f32(-0.0)} for t in (1, 2)]
    assert_sound(twice, *feeds, left=1)
