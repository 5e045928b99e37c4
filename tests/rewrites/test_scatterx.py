"""scatterx: a scatter that no other rule removes becomes the native operator."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Golden, Refuses

ROWS = """g ({0}[A,B] x, int64[N,1] i, {0}[N,B] u) => ({0}[A,B] y)
    {{ y = ScatterND <reduction = "{1}"> (x, i, u) }}"""
ELEMENTS = """g (float[A,B] x, int64[M,N] i, float[M,N] u) => (float[A,B] y)
    { y = ScatterElements <axis = 1> (x, i, u) }"""
TENSOR = """g (float[A,S,B] x, float[A,{0},B] u, int64[A] at) => (float[A,S,B] y)
    {{ y = TensorScatter <axis = 1, mode = "{1}"> (x, u, at) }}"""
FEEDS = [{"A": 5, "B": 3, "i": i} for i in ([[4], [0], [-2]], [[1], [1]])]


GOLDEN = {
    "rows": Case(ROWS.format("float", "none"), *FEEDS, target="scatterx"),
    "a sum": Case(ROWS.format("int64", "add"), *FEEDS, target="scatterx"),
    "strings": Case(ROWS.format("string", "none"), *FEEDS, target="scatterx"),
    "one row collides with no other": Case(
        ROWS.format("float", "none").replace("[N,", "[1,"),
        {"A": 5, "B": 3, "i": [[-1]]},
        target="scatterx",
    ),
    "elements along an axis": Case(
        ELEMENTS, {"A": 3, "B": 4, "i": [[0, 3], [-1, 1]]}, target="scatterx"
    ),
    "rows from a start in each batch": Case(
        TENSOR.format(2, "linear"),
        {"A": 2, "S": 6, "B": 3, "at": [0, 4]},
        target="scatterx",
        opset=24,
    ),
    "a ring": Case(
        TENSOR.format(2, "circular"),
        *[{"A": 2, "S": s, "B": 3, "at": at} for s, at in ((6, [5, 4]), (2, [1, 0]))],
        target="scatterx",
        opset=24,
    ),
    "as many rows as a size says": Case(
        TENSOR.format("T", "linear"),
        *[{"A": 2, "S": 6, "B": 3, "T": t, "at": [0, 2]} for t in (1, 4)],
        target="scatterx",
        opset=24,
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Golden) -> None:
    GOLDEN[name].check(golden)


@pytest.mark.parametrize(("kind", "reduction"), [("complex64", "none"), ("string", "add")])
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(ROWS.format(kind, reduction), Reason.NO_KERNEL, target="scatterx")


def test_more_dims_than_the_operator_takes(refuses: Refuses) -> None:
    text = ROWS.format("float", "none").replace("B]", ",".join(f"B{d}" for d in range(16)) + "]")
    refuses(text, Reason.NO_KERNEL, target="scatterx")
