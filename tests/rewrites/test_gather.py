"""gather: rows in any known order are one Gather."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Golden, Refuses, sizes

SHUFFLED = """g (float[9,N] x, float[4,N] u) => (float[9,N] y) <int64[4,1] i = {3, 0, 7, 5}>
    { y = ScatterND (x, i, u) }"""


GOLDEN = {
    "rows in any order": Case(SHUFFLED, *sizes(N=(0, 1, 5)), by=["view"]),
    "all rows in another order need the updates alone": Case(
        """g (float[7,N] x, float[7,N] u) => (float[7,N] y) <int64[7,1] i = {3, 0, 6, 5, 1, 4, 2}>
        { y = ScatterND (x, i, u) }""",
        *sizes(N=(0, 1, 5)),
        by=["view"],
    ),
    "columns": Case(
        """g (float[N,9] x, float[N,4] u) => (float[N,9] y) <int64[4,1] i = {3, 0, 7, 5}> {
            t = Transpose (x)
            v = Transpose (u)
            z = ScatterND (t, i, v)
            y = Transpose (z) }""",
        *sizes(N=(0, 1, 5)),
        by=["view"],
    ),
    "rows of two updates": Case(
        """g (float[9,N] x, float[3,N] u, float[3,N] v) => (float[9,N] y)
        <int64[3,1] i = {3, 0, 7}, int64[3,1] j = {8, 5, 2}> {
            z = ScatterND (x, i, u)
            y = ScatterND (z, j, v) }""",
        *sizes(N=(0, 1, 5)),
        by=["view"],
    ),
    "rows of four tensors are taken in turn": Case(
        """g (float[9,N] x, float[2,N] a, float[2,N] b, float[2,N] c) => (float[9,N] y)
        <int64[2,1] i = {3, 0}, int64[2,1] j = {7, 5}, int64[2,1] k = {8, 1}> {
            p = ScatterND (x, i, a)
            q = ScatterND (p, j, b)
            y = ScatterND (q, k, c) }""",
        *sizes(N=(0, 1, 5)),
        by=["view"],
        rules=["view", "gather"],
    ),
    "three boxes where they cannot be put together": Case(
        SHUFFLED.replace("4,N", "3,N").replace("4,1", "3,1").replace("3, 0, 7, 5", "2, 3, 4"),
        *sizes(N=(0, 1, 5)),
        by=["view"],
        rules=["view", "gather"],
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Golden) -> None:
    GOLDEN[name].check(golden)


REFUSED = {
    "two boxes are slices": SHUFFLED.replace("3, 0, 7, 5", "0, 1, 2, 3"),
    "a size that only the run knows": SHUFFLED.replace("[9,N]", "[M,N]"),
    "a row that only the run knows": """
        g (float[9,N] x, float[1,N] u, float[K] like) => (float[9,N] y)
        <int64[1] four = {4}, int64[1] last = {-1}> {
            s = Shape (like)
            quarter = Div (s, four)
            i = Unsqueeze (quarter, last)
            y = ScatterND (x, i, u) }""",
    "more rows than are listed": SHUFFLED.replace("[9,N]", "[65537,N]"),
    "boxes of two axes": """g (float[9,4] x, float[3,1] u) => (float[9,4] y)
        <int64[3,1,2] i = {3,0, 0,2, 7,1}> { y = ScatterND (x, i, u) }""",
}


@pytest.mark.parametrize("model", REFUSED.values(), ids=REFUSED)
def test_what_is_no_gather(model: str, refuses: Refuses) -> None:
    refuses(model, Reason.NO_RULE, beside=["view"])


def test_element_types_without_kernels(refuses: Refuses) -> None:
    refuses(SHUFFLED.replace("float", "complex64"), Reason.NO_KERNEL, beside=["view"])


def test_rows_that_are_added(refuses: Refuses) -> None:
    text = SHUFFLED.replace("ScatterND", 'ScatterND <reduction = "add">')
    refuses(text, Reason.NO_RULE, beside=["view", "combine"])


@pytest.mark.parametrize("columns", ["0 1", "4 5", "0 2 4"])
def test_rows_that_are_written_in_part(columns: str, refuses: Refuses) -> None:
    of = columns.split()
    points = ", ".join(f"{row}, {column}" for row in (3, 0, 7) for column in of)
    text = f"""g (float[9,6] x, float[3,{len(of)}] u) => (float[9,6] y)
        <int64[3,{len(of)},2] i = {{{points}}}> {{ y = ScatterND (x, i, u) }}"""
    refuses(text, Reason.NO_RULE, beside=["view"])


def test_rows_that_are_all_the_same(refuses: Refuses) -> None:
    text = SHUFFLED.replace("[4,N] u", "[N] w").replace("{ y =", "{ u = Expand (w, s) y =")
    refuses(text.replace("<int64", "<int64[2] s = {4, 1}, int64"), Reason.NO_RULE, beside=["view"])
