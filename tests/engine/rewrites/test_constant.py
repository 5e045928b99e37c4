"""constant: a region of constants is a constant."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Golden, Refuses, each, row

ZEROS = """g (float like) => (float[2,4] y)
    <int64[2] shape = {2, 4}, int64[1,1] i = {1}, float[1,4] u = {1, 2, 3, 4}> {
        x = ConstantOfShape (shape)
        y = ScatterND (x, i, u) }"""
NUMBERS = """g (float like) => (int64[8] y)
    <int64[8] x = {0, 1, 2, 3, 4, 5, 6, 7}, int64[3,1] i = {7, 3, -3}, int64[3] u = {9, 8, 7}>
    { y = ScatterND (x, i, u) }"""
ALL = """g (float[2,2] x) => (float[2,2] y)
    <int64[2,1] i = {0, 1}, float[2,2] u = {1, 2, 3, 4}, int64[2] s = {2, 2}, int64[1] axis = {0},
     int64[1] minus = {-1}, int64[1] far = {-9}, float[3,2] large = {0, 0, 1, 2, 3, 4},
     int64[1] one = {1}, int64[1] three = {3}, float[1,2,2] tall = {1, 2, 3, 4}> {
        %s
        y = ScatterND (x, i, v) }"""


def test_a_large_constant_takes_the_place_of_the_one_it_is_made_of(golden: Golden) -> None:
    numbers = ", ".join(map(str, range(1100)))
    golden(f"""g (float like) => (float[1100] y) <float[1100] x = {{{numbers}}}>
        {{ y = ScatterND (x, [[1]], float [9]) }}""")


REFUSED = {
    "a constant that is there is not stored again": ALL % "v = Identity (u)",
    "updates that only the run knows": ZEROS.replace("float like", "float[1,4] v").replace(
        "(x, i, u)", "(x, i, v)"
    ),
    "numbers that are added": NUMBERS.replace("ScatterND", 'ScatterND <reduction = "add">'),
    "strings": """g (float like) => (string[2] y) <string[2] x = {"a", "b"}, int64[1,1] i = {1},
        string[1] u = {"c"}> { y = ScatterND (x, i, u) }""",
    "a tensor without elements": """
        g (float[0,4] u) => (float[0,4] y) <float[0,4] x = {}, int64[0,1] i = {}>
        { y = ScatterND (x, i, u) }""",
    "a size that only the run knows": """
        g (float[N] like) => (float[M] y) <int64[1,1] i = {1}, float[1] u = {1}> {
            s = Shape (like)
            x = ConstantOfShape (s)
            y = ScatterND (x, i, u) }""",
    "a position that only the run knows": """g (float[N] like) => (float[8] y)
        <float[8] x = {0, 1, 2, 3, 4, 5, 6, 7}, float[1] u = {1}, int64[1] four = {4},
         int64[1] last = {-1}> {
            s = Shape (like)
            quarter = Div (s, four)
            i = Unsqueeze (quarter, last)
            y = ScatterND (x, i, u) }""",
    "a row that only the run knows": """g (float[N] like, float[1,2] x) => (float[1,2] y)
        <float[4,2] rows = {0, 1, 2, 3, 4, 5, 6, 7}, int64[1,1] i = {0}, int64[1] four = {4}> {
            n = Shape (like)
            quarter = Div (n, four)
            u = Gather (rows, quarter)
            y = ScatterND (x, i, u) }""",
}


@pytest.mark.parametrize("model", REFUSED.values(), ids=REFUSED)
def test_what_is_no_new_constant(model: str, refuses: Refuses) -> None:
    refuses(model, Reason.NO_RULE)


def test_constants_that_are_much_larger_than_what_they_are_made_of(refuses: Refuses) -> None:
    text = ZEROS.replace("[2,4] y", "[1025] y").replace("[2] shape = {2, 4}", "[1] shape = {1025}")
    refuses(text.replace("float[1,4] u = {1, 2, 3, 4}", "float[1] u = {1}"), Reason.NO_RULE)


GOLDEN = {
    "numbers into zeros": row(),
    "numbers into numbers": row(),
    "a part of a larger tensor": row(by=["concat", "view"]),
    "what fills all is written out": row(rules=["constant"]),
    "a transposed constant": row(),
    "a reversed constant": row(),
    "a part of a constant": row(),
    "a constant without its first axis": row(),
    "a constant with another axis": row(),
    "a constant that is reshaped is written before": row(),
    "a constant of 4096 bytes is always written": row(),
}
test_golden = each(GOLDEN, "golden")
