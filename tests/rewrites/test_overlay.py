"""overlay: a few boxes on an unchanged tensor are ScatterX nodes, if that takes less time."""

from pathlib import Path

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Golden, Refuses, sizes
from tests.helpers.slow_machine import use_slow_machine


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_slow_machine(tmp_path, monkeypatch)


BY = ["view"]
ROWS = """g ({0}[A,B] x, {0}[2,B] u) => ({0}[A,B] y) <int64[2,1] i = {{{1}}}> {{
        w = Identity (x)
        y = ScatterND (w, i, u) }}"""
COLUMNS = """g (float[A,B] x, float[A,2] u) => (float[A,B] y)
    <int64[2,1] i = {1, 3}> {
        t = Transpose <perm = [1, 0]> (x)
        v = Transpose <perm = [1, 0]> (u)
        s = ScatterND (t, i, v)
        y = Transpose <perm = [1, 0]> (s) }"""
TAIL = """g (float[A,2] x, float[T,2] u) => (float[A,2] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}> {
        s = Shape <end = 1> (u)
        n = Squeeze (s)
        rows = Range (zero, n, one)
        i = Unsqueeze (rows, last)
        y = ScatterND (x, i, u) }"""


def test_rows(golden: Golden) -> None:
    golden(ROWS.format("float", "1, 2"), *sizes(A=(3, 6), B=(0, 4)), by=BY, target="ort-cpu")


def test_columns_between_transposes(golden: Golden) -> None:
    golden(COLUMNS, *sizes(A=(0, 3), B=(4, 6)), by=BY, target="ort-cpu")


def test_as_many_rows_as_a_size_says(golden: Golden) -> None:
    golden(TAIL, *sizes(A=(5,), T=(0, 1, 5)), by=BY, target="ort-cpu")


def test_two_boxes(golden: Golden) -> None:
    text = """g (float[9,B] x, float[2,B] u, float[1,B] v) => (float[9,B] y)
        <int64[2,1] i = {1, 2}, int64[1,1] j = {6}> {
            w = ScatterND (x, i, u)
            y = ScatterND (w, j, v) }"""
    golden(text, *sizes(B=(1, 3)), by=BY, target="ort-cpu")


def test_an_element_type_that_scatterx_lacks(refuses: Refuses) -> None:
    text = ROWS.format("complex64", "1, 2")
    refuses(text, Reason.NO_KERNEL, beside=BY, target="ort-cpu")


def test_an_older_operator_set(refuses: Refuses) -> None:
    text = "g (float[6,2] x, float[2,2] u) => (float[6,2] y) <int64[2,2] i = {1, 1, 2, 2}> {"
    text += " y = Scatter (x, i, u) }"
    refuses(text, Reason.NO_RULE, beside=BY, target="ort-cpu", opset=10)


def test_the_whole_tensor(refuses: Refuses) -> None:
    text = ROWS.format("float", "0, 1").replace("[A,", "[2,")
    refuses(text, Reason.NO_RULE, target="ort-cpu")


def test_more_boxes_than_are_worth_it(refuses: Refuses) -> None:
    rows = ", ".join(str(n * n + n) for n in range(8))
    text = f"""g (float[A,B] x, float[8,B] u) => (float[A,B] y) <int64[8,1] i = {{{rows}}}>
        {{ y = ScatterND (x, i, u) }}"""
    refuses(text, Reason.NO_RULE, beside=BY, target="ort-cpu")
