"""row: a write of one position per row is a comparison with the positions and a Where."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Refuses, assert_sound_at, each, row, rows

PER_ROW = """g (float[B,%s] x, int64[B,1] p, float[B,1] u) => (float[B,%s] y)
    { y = ScatterElements <axis = 1, reduction = "%s"> (x, p, u) }"""
FOR_ALL = """g (float[%s,B] x, int64 p, float[B] u) => (float[%s,B] y) {
        y = ScatterND (x, Unsqueeze (p, [0]), u) }"""


def positions(size: int) -> list[dict[str, Any]]:
    """Return feeds for rows of a size, with indices from both ends."""
    rng = np.random.default_rng(0)
    return [{"p": rng.integers(-size, size, (b, 1)), "S": size} for b in (0, 1, 7)]


@pytest.mark.parametrize("size", ["6", "S"])
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_an_index_for_each_row_and_column(kind: str, size: str) -> None:
    text = (PER_ROW % (size, size, "mul")).replace("B,1]", "B,1,8]").replace("B,S]", "B,S,8]")
    text = text.replace("B,6]", "B,6,8]").replace("int64", kind)
    rng = np.random.default_rng(1)
    assert_sound_at(text, *({"S": 6, "p": rng.integers(-6, 6, (b, 1, 8))} for b in (0, 1, 3)))


COMPUTED = """g (float[B,6] x, int32[B,1] p, float[B,1] u) => (float[B,6] y)
    <int64 one = {1}, int64 two = {2}> {
        c = Cast <to = 7> (p)
        %s
        y = ScatterElements <axis = 1> (x, q, u) }"""


@pytest.mark.parametrize("position", ["q = Mul (c, two)", "q = Div (c, two)"])
def test_positions_that_are_no_element_of_a_tensor(position: str, refuses: Refuses) -> None:
    refuses(COMPUTED % position, Reason.UNKNOWN_INDICES)


REFUSED = {
    "twice a position and one more": COMPUTED % "d = Mul (c, two) q = Add (d, one)",
    "indices that have the axes in another order": """
        g (float[B,6,C] x, int64[C,B] p, float[B,1,C] u) => (float[B,6,C] y) {
            y = ScatterElements <axis = 1> (x, Unsqueeze (Transpose (p), [1]), u) }""",
    "updates that have the axes in another order": f"""
        g (float[B,6,C] x, int64[C,B,1] p, float[C,B] u) => (float[B,6,C] y) {{
            {rows("b", "x", 0)}
            {rows("c", "x", 2)}
            s = Shape (p)
            i = Concat <axis = 2> (Expand (b, s), p, Expand (Unsqueeze (c, [1]), s))
            y = ScatterND (x, i, u) }}""",
    "indices of a type that is compared with nothing": (COMPUTED % "q = Identity (c)").replace(
        "int32[B,1]", "uint8[B,1]"
    ),
}


@pytest.mark.parametrize("model", REFUSED.values(), ids=REFUSED)
def test_what_is_not_one_per_row(model: str, refuses: Refuses) -> None:
    refuses(model, Reason.UNKNOWN_INDICES)


@pytest.mark.parametrize(("shape", "axis"), [("9,1", 0), ("5,2", 1)])
def test_indices_that_are_the_first_of_more(shape: str, axis: int, refuses: Refuses) -> None:
    refuses(
        f"""g (float[5,6] x, int64[{shape}] p, float[5,1] u) => (float[5,6] y)
        <int64[1] end = {{{(5, 1)[axis]}}}, int64[1] axis = {{{axis}}}> {{
            y = ScatterElements <axis = 1> (x, Slice (p, [0], end, axis), u) }}""",
        Reason.UNKNOWN_INDICES,
    )


def test_pairs_in_rows_of_any_size() -> None:
    text = f"""g (float[B,S] x, int64[B] p, float[B] u) => (float[B,S] y) {{
            {rows("r", "x")}
            y = ScatterND (x, Concat <axis = -1> (r, Unsqueeze (p, [-1])), u) }}"""
    rng, sizes = np.random.default_rng(1), [(1, 1), (3, 4), (2, 7), (5, 5), (5, 1), (0, 3)]
    assert_sound_at(text, *({"S": s, "p": rng.integers(-s, s, b)} for b, s in sizes))


@pytest.mark.parametrize(("order", "shape"), [("c, d", "4,5"), ("d, c", "5,4")])
def test_pairs_with_constant_rows(order: str, shape: str) -> None:
    text = f"""g (float[{shape}] x, int64[4] p, float[4] u) => (float[{shape}] y)
        <int64[4,1] c = {{0, 1, 2, 3}}> {{
            d = Unsqueeze (p, [-1])
            y = ScatterND (x, Concat <axis = -1> ({order}), u) }}"""
    rng = np.random.default_rng(1)
    assert_sound_at(text, *({"p": rng.integers(-5, 5, 4)} for _ in range(4)))


def test_a_column_that_is_read_is_there() -> None:
    """As the read at i has run there is a column, so the slice of the first one has one."""
    text = """g (float[A,C] x, int64[1] i, float[A,C] h) => (float[A,C] y) {
            new = Gather <axis = 1> (h, i)
            shape = Shape (Slice (x, [0], [1], [1]))
            u = Expand (new, shape)
            y = ScatterElements <axis = 1> (x, Expand (Unsqueeze (i, [0]), shape), u) }"""
    cases = ((0, 3, 2), (1, 1, 0), (4, 5, 3), (4, 5, -1))
    assert_sound_at(text, *({"A": a, "C": c, "i": [at]} for a, c, at in cases))


def test_one_element_of_one_row() -> None:
    # The updates have no dim at all.
    text = """g (float[1,S] x, int64[1] p, float u) => (float[1,S] y) {
            y = ScatterND (x, Concat <axis = 0> ([0], p), u) }"""
    assert_sound_at(text, *({"S": 5, "p": [p], "u": -0.0} for p in (0, 4, -1)), left=None)


GOLDEN = {
    "an index for each row": row(*positions(6)),
    "rows of a symbolic size": row(*positions(6), *positions(1)),
    "one position for all": row(*({"p": p, "B": b} for p in (-6, -1, 0, 5) for b in (0, 1, 3))),
    "the only row": row(*({"p": p, "S": s} for s in (1, 4) for p in (1 - s, 0, 1, s))),
    "narrow indices are widened for a size of the run": row(*positions(6), *positions(1)),
    "numbers that are added": row(*positions(6)),
    "a position behind the one that is fed": row(
        *({"p": [[k] for k in range(5 - b, 5)], "B": b} for b in (0, 1, 11))
    ),
    "a position that sizes decide": row(
        *({"K": k, "B": b} for k in (0, 2, 3, 8) for b in (0, 1, 3))
    ),
    "a single row": row(*({"p": [[p]]} for p in (-6, 0, 5))),
    "rows of one position": row(*positions(1)),
    "one element of the first row": row(*({"p": [[p]]} for p in (-6, 0, 5)), rules=["one_per_row"]),
    "pairs of row and position": row(*({"p": [-6, 5, 0, 2][:b]} for b in (0, 1, 4))),
    "a position of a part of the rows": row({"p": [[0], [5], [-6]]}, rules=["one_per_row"]),
    "an index that counts from the start": row(
        *({"p": [[k] for k in range(b)], "B": b} for b in (0, 1, 6))
    ),
    "a number that is no negative zero": row(*positions(6)),
}
test_golden = each(GOLDEN, "golden")


@pytest.mark.parametrize("kind", ["int16", "complex64"])
def test_element_types_without_kernels(kind: str, refuses: Refuses) -> None:
    refuses((PER_ROW % (6, 6, "none")).replace("float", kind), Reason.NO_KERNEL)


KEPT = {
    # They may meet: the last one wins, as in ONNX Runtime.
    "two positions per row": Case(
        (PER_ROW % (6, 6, "none")).replace("[B,1]", "[B,2]"),
        Reason.UNKNOWN_INDICES,
        {"p": [[1, 1], [0, -6], [4, 2]]},
        left=0,
    ),
    "rows that have no elements": Case(FOR_ALL % (0, 0), Reason.UNKNOWN_SIGN),
    "positions on two axes": Case(
        """g (float[4,6] x, int64[2] i, float u) => (float[4,6] y) { y = ScatterND (x, i, u) }""",
        Reason.UNKNOWN_SIGN,
    ),
    "rows in another order than their indices": Case(
        """g (float[4,4] x, int64[1,4] p, float[4,1] u) => (float[4,4] y) {
            y = ScatterElements <axis = 1> (x, Transpose (p), u) }""",
        Reason.UNKNOWN_INDICES,
        {"p": [[0, 3, -1, 1]]},
        left=0,
    ),
    "a reduction without a kernel": Case(
        (PER_ROW % (6, 6, "max")).replace("float", "bool"), Reason.NO_KERNEL
    ),
    "positions of the run need operator set 11": Case(
        (PER_ROW % ("S", "S", "none"))
        .replace(', reduction = "none"', "")
        .replace("ScatterElements", "Scatter"),
        Reason.OPSET,
        opset=10,
    ),
}
test_kept = each(KEPT, "refuses")
