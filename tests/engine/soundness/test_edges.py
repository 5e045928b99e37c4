"""Edges: tensors without dims, old Slices, branches that never run, strings in ONNX Runtime."""

import numpy as np
import pytest

from tests.helpers.support import assert_sound, parse


def test_a_scalar_of_known_elements_stays_a_scalar() -> None:
    # The element is 7, whatever x is; behind it an Unsqueeze wants a tensor without dims.
    model = """g (float[4] x) => (float[4] z, float[1] y) {
            z = ScatterND (x, [[2]], float [7])
            y = Unsqueeze (Neg (Gather (z, 2)), [0]) }"""
    assert_sound(model, left=0)


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


def test_strings_are_left_to_gather() -> None:
    # ONNX Runtime's Gather of a row of strings gives empty strings; a Slice would give the row.
    model = """g (string[3,N] x, string[1,N] u) => (string[N] y) {
            z = ScatterND (x, [[2]], u)
            y = Gather <axis = 0> (z, 1) }"""
    feeds = [
        {"x": np.full((3, n), "row", object), "u": np.full((1, n), "update", object)}
        for n in (1, 2, 5)
    ]
    assert_sound(model, *feeds)


def test_a_branch_that_could_not_run() -> None:
    # Three updates for two places: the branch fails if it is taken, and yet the model loads.
    model = """g (float[4] x, float[3] u, bool c) => (float[M] y) <int64[2,1] i = {2, 3}> {
        y = If (c) <
            then_branch = yes () => (float[P] p) { p = ScatterND <reduction = "add"> (x, i, u) },
            else_branch = no () => (float[Q] q) { q = Neg (x) }
        > }"""
    assert_sound(model, {"c": False}, {"c": True}, rejected=1, left=1)


def test_a_branch_that_reads_beyond_known_elements() -> None:
    # There is no row 2 of the zeros.
    model = """g (float[2,3] x, float[1,3] u, bool c) => (float[M,K] y)
        <int64[2,1] both = {0, 1}, float[2,3] zeros = {0, 0, 0, 0, 0, 0},
         int64 two = {2}, int64[1] v0 = {0}> {
            y = If (c) <
                then_branch = yes () => (float[P,R] p) {
                    z = ScatterND (x, both, zeros)
                    row = Gather (z, two)
                    p = Unsqueeze (row, v0) },
                else_branch = no () => (float[Q,S] q) { q = Neg (x) }
            > }"""
    assert_sound(model, {"c": False}, {"c": True}, rejected=1)


def test_a_branch_that_reads_what_was_rewritten_outside() -> None:
    # What is known of the outer scatter's result holds for what replaced it.
    model = """g (float[4,2] x, float[1,2] u, bool c) => (float[M,K] y)
        <int64[1,1] i = {2}, int64[1,1] j = {0}> {
            z = ScatterND (x, i, u)
            y = If (c) <
                then_branch = yes () => (float[P,R] p) { p = ScatterND (z, j, u) },
                else_branch = no () => (float[Q,S] q) { q = Neg (z) }
            > }"""
    assert_sound(model, {"c": False}, {"c": True}, left=0)


@pytest.mark.parametrize("rows", [1, 3])
def test_indices_that_are_part_of_a_longer_tensor(rows: int) -> None:
    # One index per row, the first of five: the five would not broadcast, or would make five rows.
    model = f"""g (float[{rows},4] x, float[{rows},1] u, int64[5] k) => (float[{rows},4] y)
        <int64[1] end = {{{rows}}}> {{
            y = ScatterElements <axis = 1> (x, Unsqueeze (Slice (k, [0], end), [1]), u) }}"""
    assert_sound(model, {"k": [0, 3, -1, 2, 1]})


@pytest.mark.parametrize("op", ["Min", "Max"])
def test_the_least_and_the_greatest_of_one_number(op: str) -> None:
    model = f"""g (float[N,3] x, float[2,3] u) => (float[N,3] y) {{
        first = Constant <value_ints = [1]> ()
        i = {op} (first)
        rows = Add (i, Constant <value_ints = [0, 1]> ())
        y = ScatterND (x, Unsqueeze (rows, Constant <value_ints = [-1]> ()), u) }}"""
    assert_sound(model, *({"N": n} for n in (3, 5)), left=0)
