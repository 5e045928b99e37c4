"""Writes of rows from a start known only at run time: at both ends, of no row, of all, of more."""

import numpy as np
import pytest

from onnx_scatterx import inspect, optimize
from tests.helpers.pair import Pair
from tests.helpers.support import assert_sound, parse, sample

SIZES = "<int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[1] last = {-1}>"


def rows(size: str, count: str, kind: str = "float", reduction: str = "none") -> str:
    return f"""g ({kind}[{size},2] x, int64 p, {kind}[{count},2] u) => ({kind}[{size},2] y)
        {SIZES} {{
        s = Shape (u)
        n = Gather <axis = 0> (s, zero)
        r = Range (zero, n, one)
        i = Add (r, p)
        j = Unsqueeze (i, last)
        y = ScatterND <reduction = "{reduction}"> (x, j, u) }}"""


def feeds(kind: str, cases: list[tuple[int, int, int]]) -> list[dict[str, np.ndarray]]:
    return [
        {"x": sample(kind, s, 2, seed=s), "p": np.array(p), "u": sample(kind, n, 2, seed=p + 9)}
        for s, n, p in cases
    ]


EVERY = [(s, n, p) for s in (1, 2, 5) for n in (0, 1, 2, 5, 7) for p in range(-s, s + 1)]
VALID = [(s, n, p) for s, n, p in EVERY if p + n <= s]  # it may go on from the end to the start


@pytest.mark.parametrize("kind", ["float32", "float16", "int64", "bool"])
def test_any_start_and_length(kind: str) -> None:
    model = rows("S", "N", kind.replace("float32", "float"))
    assert_sound(model, *feeds(kind, VALID), left=0)


@pytest.mark.parametrize("count", [1, 2, 5, 7])
def test_a_known_size_and_length(count: int) -> None:
    known = [case for case in VALID if case[:2] == (5, count)]
    assert_sound(rows("5", str(count)), *feeds("float32", known), left=0)


@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("size", ["9", "S"])
def test_reductions(reduction: str, size: str) -> None:
    given = feeds("float32", [(9, 9, p) for p in (-9, -4, -1, 0)])
    # Without a size, there may be more rows than positions: they would meet.
    left = 1 if size == "S" else 0
    assert_sound(rows(size, "9", reduction=reduction), *given, left=left)


def test_more_rows_than_positions_meet() -> None:
    (scatter,) = inspect(parse(rows("S", "9", reduction="add")), target="standard").scatters
    assert str(scatter.refusal) == (
        "two updates may write the same element (more rows than axis 0 has positions)"
    )


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("batch", ["1", "3", "B"])
@pytest.mark.parametrize("size", ["4", "S"])
def test_tensor_scatter(mode: str, batch: str, size: str) -> None:
    model = f"""g (float[{batch},2,{size},3] x, float[{batch},2,N,3] u, int64[{batch}] p)
        => (float[{batch},2,{size},3] y) {{
        y = TensorScatter <mode = "{mode}"> (x, u, p) }}"""
    rng = np.random.default_rng(1)
    given = []
    for b in (0, 1, 3) if batch == "B" else (int(batch),):
        for n in (0, 1, 3, 4):
            top = 4 - n + 1 if mode == "linear" else 9
            shape = {"x": (b, 2, 4, 3), "u": (b, 2, n, 3)}
            feed = {k: sample("float32", *v, seed=n) for k, v in shape.items()}
            given += [{**feed, "p": rng.integers(0, top, b)} for _ in range(2)]
    assert_sound(parse(model, opset=24, ir_version=11), *given, left=0)


def test_another_axis_that_is_written_in_part() -> None:
    numbers = ", ".join(map(str, range(9)))
    model = f"""g (float[12,3] x, int64 p, float[9,2] u) => (float[12,3] y)
        <int64[9,1] nine = {{{numbers}}}> {{
        i = Add (nine, p)
        like = Shape (u)
        k = Expand (i, like)
        y = ScatterElements <axis = 0> (x, k, u) }}"""
    given = {"x": sample("float32", 12, 3), "u": sample("float32", 9, 2)}
    assert_sound(model, *({**given, "p": np.array(p)} for p in (-12, -4, -1, 0, 3)), left=0)


def test_another_axis_of_which_one_row_is_written() -> None:
    """It is as long as the updates, which all go to its first row: the last of them wins."""
    text = """g (float[A,S] x, int64 p, float[A,2] u) => (float[A,S] y)
        <int64 zero = {0}, int64[2] steps = {0, 1}, int64[1] last = {-1}> {
        i = Add (steps, p)
        like = Shape (u)
        column = Expand (i, like)
        row = Expand (zero, like)
        ii = Unsqueeze (column, last)
        rr = Unsqueeze (row, last)
        idx = Concat <axis = -1> (rr, ii)
        y = ScatterND (x, idx, u) }"""
    cases = [(a, p) for a in (0, 1, 3) for p in (0, 2, -3)]
    feeds = [
        {"x": sample("float32", a, 4), "p": np.array(p), "u": sample("float32", a, 2, seed=p + 9)}
        for a, p in cases
    ]
    assert_sound(text, *feeds)


@pytest.mark.parametrize("ring", [3, 5, 7])
def test_rows_that_go_round_before_the_end_or_behind_it(ring: int) -> None:
    model = f"""g (float[5,2] x, int32 q, float[N,2] u) => (float[5,2] y)
        {SIZES[:-1]}, int64 ring = {{{ring}}}> {{
        p = Cast <to = 7> (q)
        s = Shape (u)
        n = Gather <axis = 0> (s, zero)
        r = Range (zero, n, one)
        i = Add (r, p)
        h = Mod (i, ring)
        j = Unsqueeze (h, last)
        y = ScatterND (x, j, u) }}"""
    given = [
        {"x": sample("float32", 5, 2), "q": np.array(q, np.int32), "u": sample("float32", n, 2)}
        for n, q in ((2, 1), (3, 2), (3, 7), (2, -1), (0, 4))
    ]
    assert_sound(model, *given, rejected=2)


def test_steps_that_are_fed_beside_a_count() -> None:
    # The positions go on by one, and by what is fed.
    model = """g (float[9,2] x, int32[3] q, float[3,2] u) => (float[9,2] y)
        <int64[3] r = {0, 1, 2}, int64[1] last = {-1}> {
        p = Cast <to = 7> (q)
        i = Add (r, p)
        j = Unsqueeze (i, last)
        y = ScatterND (x, j, u) }"""
    feed = {"x": sample("float32", 9, 2), "u": sample("float32", 3, 2, seed=1)}
    assert_sound(model, feed | {"q": np.array([4, 0, 3], np.int32)}, left=0)


def test_no_bound_is_computed_that_clamping_makes_no_matter() -> None:
    model = parse("""g (float[S,2] x, int64[N] p, float[N,2] u) => (float[S,2] y)
        <int64[1] last = {-1}> { j = Unsqueeze (p, last)  y = ScatterND (x, j, u) }""")
    found = optimize(model, target="standard", assume=["p: contiguous, nonnegative"]).model
    # The first position, rows up to it, the position after the last, rows from it.
    written = "Concat Slice Slice Shape Add Slice Concat"
    assert " ".join(n.op_type for n in found.graph.node) == written
    pair = Pair(model, found)
    for size, count, start in VALID:
        given = {"x": sample("float32", size, 2), "u": sample("float32", count, 2, seed=1)}
        for past in (0, 9) if count == 0 else (0,):  # no row: what it says is of no row
            feed = {**given, "p": np.arange(count) + max(start, 0) + past}
            if max(start, 0) + count <= size:
                assert pair.accepts(feed), (size, count, start)
