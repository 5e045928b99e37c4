"""gather: rows in any known order are one Gather."""

import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.rules import Refuses, each, row, sizes
from tests.helpers.support import parse

SHUFFLED = """g (float[9,N] x, float[4,N] u) => (float[9,N] y) <int64[4,1] i = {3, 0, 7, 5}>
    { y = ScatterND (x, i, u) }"""


GOLDEN = {
    "rows in any order": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "all rows in another order need the updates alone": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "columns": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "rows of two updates": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "rows of four tensors are taken in turn": row(
        *sizes(N=(0, 1, 5)), by=["view"], rules=["view", "gather"]
    ),
    "three boxes where they cannot be put together": row(
        *sizes(N=(0, 1, 5)), by=["view"], rules=["view", "gather"]
    ),
}
test_golden = each(GOLDEN, "golden")


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


def test_as_many_rows_as_are_listed() -> None:
    model = parse(SHUFFLED.replace("[9,N]", "[65536,N]"))
    report = onnx_scatterx.optimize(model, target="standard", rules=["view", "gather"]).report
    assert report.removed == 1
