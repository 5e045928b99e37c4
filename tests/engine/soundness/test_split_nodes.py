"""Split behind a write: each part has the rows that are its own."""

import pytest

from tests.helpers.support import assert_sound


@pytest.mark.parametrize(
    ("axis", "row"), [(0, 0), (0, 1), (0, 2), (0, 4), (1, 1), (1, 2), (-1, 0), (-2, 3)]
)
def test_parts_of_known_sizes(axis: int, row: int) -> None:
    model = f"""g (float[5,3] x, float[1,3] u) => (float[?,?] a, float[?,?] b)
        <int64[1,1] i = {{{row}}}, int64[2] parts = {{{"2, 3" if axis in (0, -2) else "1, 2"}}}> {{
        y = ScatterND (x, i, u)
        a, b = Split <axis = {axis}> (y, parts) }}"""
    assert_sound(model, left=0)


def test_halves_of_a_size_that_is_fed() -> None:
    """The first half has the row more of an odd number."""
    model = """g (float[N,3] x, float[1,3] u) => (float[?,3] a, float[?,3] b) {
        a, b = Split <axis = 0, num_outputs = 2> (ScatterND (x, [[1]], u)) }"""
    assert_sound(model, *({"N": n} for n in (2, 3, 4, 7)))


def test_a_write_into_the_second_part() -> None:
    model = """g (float[5,3] x, float[1,3] u, float[1,3] v) => (float[3,3] z) {
        a, b = Split <axis = 0> (ScatterND (x, [[3]], u), [2, 3])
        z = ScatterND (b, [[0]], v) }"""
    assert_sound(model, left=0)
