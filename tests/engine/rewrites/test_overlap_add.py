"""frames: overlapping frames are added block by block, with one Add for a block of all frames."""

from collections.abc import Iterator
from typing import Any

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Refuses, assert_sound_at, each


def frames(
    hop: int,
    length: int,
    reduction: str = "add",
    kind: str = "float",
    *,
    start: str = "start = Identity (hops)",
    room: int | None = None,
) -> str:
    """Return overlapping frames in a dim of their own; ``start`` makes the first position of each.

    The axis ends with the last frame, or is as long as all hops and some ``room``.
    """
    row = ", ".join(map(str, range(length)))
    return f"""g ({kind}[T,{length},C] u, {kind} v) => ({kind}[?,?] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64 hop = {{{hop}}}, int64[{length}] row = {{{row}}},
     int64[1] rest = {{{length - hop if room is None else room}}}, int64[1] last = {{-1}}> {{
        t = Shape <end = 1> (u)
        c = Shape <start = 2> (u)
        count = Squeeze (t)
        line = Range (zero, count, one)
        hops = Mul (line, hop)
        {start}
        column = Unsqueeze (start, last)
        both = Add (column, row)
        total = Mul (t, hop)
        size = Add (total, rest)
        sizes = Concat <axis = 0> (size, c)
        x = Expand (v, sizes)
        i = Unsqueeze (both, last)
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""


def in_one_dim(hop: int, length: int, data: str = "x = Expand (v, sizes)", given: str = "") -> str:
    """Return frames one after the other, for every row of a batch."""
    row = ", ".join(map(str, range(length)))
    return f"""g (float[B,T,{length}] u, float v{given}) => (float[?,?] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64 hop = {{{hop}}}, int64[{length}] row = {{{row}}},
     int64[1] rest = {{{length - hop}}}, int64[1] last = {{-1}}, int64[2] front = {{1, -1}},
     int64[1] length = {{{length}}}> {{
        b = Shape <end = 1> (u)
        t = Shape <start = 1, end = 2> (u)
        count = Squeeze (t)
        line = Range (zero, count, one)
        start = Mul (line, hop)
        column = Unsqueeze (start, last)
        both = Add (column, row)
        total = Mul (t, hop)
        size = Add (total, rest)
        sizes = Concat <axis = 0> (b, size)
        {data}
        flat = Reshape (both, front)
        wide = Mul (t, length)
        shape = Concat <axis = 0> (b, wide)
        i = Expand (flat, shape)
        w = Reshape <allowzero = 1> (u, shape)
        y = ScatterElements <axis = 1, reduction = "add"> (x, i, w) }}"""


def counts(name: str, *others: int) -> Iterator[dict[str, int]]:
    """Return how many frames there are, and how long the other axis is."""
    return ({"T": t, name: n} for t in (0, 1, 2, 5) for n in others or (0, 1, 3))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize(("hop", "length"), [(4, 8), (2, 6), (1, 3)])
def test_other_frames_one_after_the_other(hop: int, length: int, reduction: str) -> None:
    text = in_one_dim(hop, length).replace('"add"', f'"{reduction}"')
    assert_sound_at(text.replace("float", "int64") if hop == 2 else text, *counts("B"))


def test_frames_for_a_batch_of_one() -> None:
    assert_sound_at(in_one_dim(4, 8).replace("[B,", "[1,"), *counts("C", 0))


def test_frames_in_some_rows() -> None:
    """Fewer rows than the data has are its first rows."""
    more = "rows = Shape (a) more = Concat <axis = 0> (rows, size) x = Expand (v, more)"
    text = in_one_dim(4, 8, more, ", float[A] a")
    assert_sound_at(
        text, *({"T": 2, "A": a, "B": b} for a, b in ((3, 3), (3, 2), (1, 1))), left=None
    )


GOLDEN = {
    "frames in a dim of their own": Case(frames(4, 8), *counts("C")),
    "frames one after the other": Case(in_one_dim(4, 8), *counts("B")),
    "frames of three blocks": Case(frames(2, 6, "mul", "int64"), *counts("C")),
    "a maximum of floats": Case(frames(4, 8, "max"), *counts("C")),
    "frames on the first axis of transposed data": Case(
        in_one_dim(4, 8)
        .replace(
            "y = ScatterElements <axis = 1",
            "tx = Transpose (x) ti = Transpose (i) tw = Transpose (w) y = ScatterElements <axis = 0",
        )
        .replace("(x, i, w)", "(tx, ti, tw)"),
        *counts("B"),
    ),
    "frames behind the start of the axis": Case(
        frames(4, 8, start="start = Add (hops, hop)", room=12), *counts("C", 0, 2)
    ),
    "eight blocks": Case(frames(1, 8), *counts("C", 2)),
}
test_golden = each(GOLDEN, "golden")


LENGTH = """ls = Shape <start = 1, end = 2> (u)
        l = Squeeze (ls)
        places = Range (zero, l, one)
        start = Identity (hops)"""
OTHER = {
    "more blocks than are worth it": frames(1, 9),
    "blocks of unequal length": frames(3, 8),
    "frames side by side": frames(8, 8),
    "frames with gaps": frames(9, 8),
    "frames from the last to the first": frames(
        4, 8, start="end = Mul (count, hop) start = Sub (end, hops)", room=24
    ),
    "every second position of a frame": frames(4, 8, room=24).replace(
        "row = {0, 1, 2, 3, 4, 5, 6, 7}", "row = {0, 2, 4, 6, 8, 10, 12, 14}"
    ),
    "frames before the start of the axis": frames(4, 8, start="start = Sub (hops, hop)", room=24),
    "frames that overwrite each other": frames(4, 8, "none"),
    "frames that may lie outside": in_one_dim(4, 8, "x = Identity (given)", ", float[B,S] given"),
    "frames of any length": frames(4, 8, start=LENGTH)
    .replace("[T,8,C]", "[T,L,C]")
    .replace("(column, row)", "(column, places)"),
    "frames of any length, one after the other": in_one_dim(4, 8, f"x = Expand (v, sizes) {LENGTH}")
    .replace("[B,T,8]", "[B,T,L]")
    .replace("start = Identity (hops)", "")
    .replace("(column, row)", "(column, places)")
    .replace("Mul (t, length)", "Mul (t, ls)"),
    "frames as far apart as a size says": frames(
        4, 8, start="far = Squeeze (c) start = Mul (line, far)", room=24
    ),
    "frames as far apart as a size says, one after the other": in_one_dim(
        4, 8, "x = Identity (given)", ", float[B,S] given, float[H] like"
    ).replace(
        "start = Mul (line, hop)", "hs = Shape (like) h = Squeeze (hs) start = Mul (line, h)"
    ),
    "frames that lie elsewhere in each row": in_one_dim(
        4, 8, "x = Identity (given)", ", float[B,S] given"
    ).replace(
        "i = Expand (flat, shape)",
        """bs = Squeeze (b)
        ranks = Range (zero, bs, one)
        ahead = Unsqueeze (ranks, last)
        moved = Add (flat, ahead)
        i = Expand (moved, shape)""",
    ),
    "frames of which the first begins before": in_one_dim(4, 8).replace(
        "flat = Reshape (both, front)",
        """all = Reshape (both, front)
        axis = Constant <value = int64[1] {1}> ()
        far = Constant <value = int64[1] {9223372036854775807}> ()
        flat = Slice (all, axis, far, axis)""",
    ),
    "frames that each are written twice": frames(4, 8)
    .replace("[T,8,C]", "[T,8,2,C]")
    .replace("c = Shape <start = 2>", "c = Shape <start = 3>")
    .replace(
        "i = Unsqueeze (both, last)",
        """pair = Constant <value = int64[4] {1, 1, 2, 1}> ()
        ends = Constant <value = int64[2] {2, 3}> ()
        k = Unsqueeze (both, ends)
        i = Expand (k, pair)""",
    ),
    "positions on two axes": """g (float[A,B] x, int64[K,2] i, float[K] u) => (float[A,B] y)
        { y = ScatterND <reduction = "add"> (x, i, u) }""",
}


AS_ROWS = [
    "frames from the last to the first",
    "every second position of a frame",
    "frames before the start of the axis",
]
OTHER |= {
    f"{how}, as rows": OTHER[how]
    .replace(
        "i = Unsqueeze (both, last)",
        """column_of_all = Constant <value = int64[2] {-1, 1}> ()
        k = Unsqueeze (both, last)
        i = Reshape (k, column_of_all)
        as_rows = Concat <axis = 0> (last, c)
        w = Reshape (u, as_rows)""",
    )
    .replace("(x, i, u)", "(x, i, w)")
    for how in AS_ROWS
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("how", OTHER)
def test_other_frames(how: str, refuses: Refuses) -> None:
    given = {"B": 2, "C": 4, "L": 8, "H": 4, "A": 3, "K": 2, "i": [[0, 0], [1, -1]]}
    feeds: list[dict[str, Any]] = [{**given, "T": t, "S": 4 * t + 24} for t in (0, 1, 2, 5)]
    feeds.append({**given, "T": 2, "B": 0, "S": 1})  # in an empty batch no position is looked at
    refuses(OTHER[how], Reason.UNKNOWN_INDICES, *feeds, left=1, rejected=len(feeds) - 1)


def test_frames_in_one_place(refuses: Refuses) -> None:
    text = frames(4, 8, start="start = Sub (hops, hops)")
    refuses(text, Reason.MAY_COLLIDE, *({"T": t, "C": 2} for t in (1, 2, 3)), left=1)


@pytest.mark.parametrize(("kind", "reduction"), [("bool", "max"), ("complex64", "add")])
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(frames(4, 8, reduction, kind), Reason.NO_KERNEL)
