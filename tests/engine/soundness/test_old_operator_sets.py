"""Writes in old operator sets: a Slice without steps, and sizes that are not inferred."""

import pytest

from tests.helpers.support import assert_sound, parse


@pytest.mark.parametrize("opset", [9, 10, 11, 13])
def test_reversed_rows_in_old_operator_sets(opset: int) -> None:
    # Slice has no steps before version 10: a plan that wants them is no plan there.
    op = "Scatter" if opset < 11 else "ScatterElements"
    model = f"""g (float[5,2] x, float[3,2] u) => (float[5,2] y)
        {{ y = {op} <axis = 0> (x, [[3, 3], [2, 2], [1, 1]], u) }}"""
    assert_sound(parse(model, opset))


@pytest.mark.parametrize("opset", [9, 10, 11, 13])
def test_a_box_in_data_of_sizes_that_are_fed(opset: int) -> None:
    # ONNX infers for a Slice-10 of N rows that it has N rows again, and ONNX Runtime believes it:
    # buffers are shared that differ in length.
    op = "Scatter" if opset < 11 else "ScatterElements"
    model = f"""g (float[N,M,4] x, float[2,1,1] u) => (float[N,M,4] y)
        {{ z = {op} <axis = 0> (x, [[[2]], [[3]]], u) y = Identity (z) }}"""
    assert_sound(parse(model, opset), *({"N": n, "M": m} for n in (4, 5, 9) for m in (1, 2, 7)))


def test_updates_of_undeclared_sizes_in_operator_set_10() -> None:
    # The scatter says that u has seven columns; shape inference does not know it.
    model = parse(
        """g (float[1,8] x, float[A,B] u) => (float[1,8] y) {
            z = Scatter <axis = 1> (x, [[0, 2, 4, 6, 1, 3, 5]], u)
            y = Identity (z) }""",
        10,
    )
    assert_sound(model, {"A": 1, "B": 7})
