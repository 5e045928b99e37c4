"""scatterx: a scatter that no other rule removes becomes the native operator."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Golden, Refuses

ROWS = """g ({0}[A,B] x, int64[N,1] i, {0}[N,B] u) => ({0}[A,B] y)
    {{ y = ScatterND <reduction = "{1}"> (x, i, u) }}"""
ELEMENTS = """g (float[A,B] x, int64[M,N] i, float[M,N] u) => (float[A,B] y)
    { y = ScatterElements <axis = 1> (x, i, u) }"""
TENSOR = """g (float[A,S,B] x, float[A,{0},B] u, int64[A] at) => (float[A,S,B] y)
    {{ y = TensorScatter <axis = 1, mode = "{1}"> (x, u, at) }}"""
FEEDS = [{"A": 5, "B": 3, "i": i} for i in ([[4], [0], [-2]], [[1], [1]])]


def test_rows(golden: Golden) -> None:
    golden(ROWS.format("float", "none"), *FEEDS, target="scatterx")


def test_a_sum(golden: Golden) -> None:
    golden(ROWS.format("int64", "add"), *FEEDS, target="scatterx")


def test_strings(golden: Golden) -> None:
    golden(ROWS.format("string", "none"), *FEEDS, target="scatterx")


def test_one_row_collides_with_no_other(golden: Golden) -> None:
    text = ROWS.format("float", "none").replace("[N,", "[1,")
    golden(text, {"A": 5, "B": 3, "i": [[-1]]}, target="scatterx")


def test_elements_along_an_axis(golden: Golden) -> None:
    golden(ELEMENTS, {"A": 3, "B": 4, "i": [[0, 3], [-1, 1]]}, target="scatterx")


def test_rows_from_a_start_in_each_batch(golden: Golden) -> None:
    feed = {"A": 2, "S": 6, "B": 3, "at": [0, 4]}
    golden(TENSOR.format(2, "linear"), feed, target="scatterx", opset=24)


def test_a_ring(golden: Golden) -> None:
    feeds = [{"A": 2, "S": s, "B": 3, "at": at} for s, at in ((6, [5, 4]), (2, [1, 0]))]
    golden(TENSOR.format(2, "circular"), *feeds, target="scatterx", opset=24)


def test_as_many_rows_as_a_size_says(golden: Golden) -> None:
    feeds = [{"A": 2, "S": 6, "B": 3, "T": t, "at": [0, 2]} for t in (1, 4)]
    golden(TENSOR.format("T", "linear"), *feeds, target="scatterx", opset=24)


@pytest.mark.parametrize(("kind", "reduction"), [("complex64", "none"), ("string", "add")])
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(ROWS.format(kind, reduction), Reason.NO_KERNEL, target="scatterx")


def test_more_dims_than_the_operator_takes(refuses: Refuses) -> None:
    text = ROWS.format("float", "none").replace("B]", ",".join(f"B{d}" for d in range(16)) + "]")
    refuses(text, Reason.NO_KERNEL, target="scatterx")
