"""Arrays of terms as one term, and sums that might wrap as sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.engine.terms import Term, coord, element, size, term
from onnx_scatterx.engine.terms.tabulate import fitted
from tests.helpers.examples import examples
from tests.helpers.support import assert_sound, sample


def spelt(t: Term, shape: tuple[int, ...]) -> np.ndarray:
    """Return a term over coordinates element by element."""
    found = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        found[index] = t.at(dict(enumerate(index)))
    return found


@examples(100)
@given(st.integers(1, 4), st.integers(1, 4), st.lists(st.integers(-3, 3), min_size=5, max_size=5))
def test_what_is_spelt_out_is_found_again(n: int, m: int, numbers: list[int]) -> None:
    a, b, c, d, e = numbers
    leaf = element("p", [a * coord(0) + b, coord(1) + c], name="p")
    whole = d * leaf + e * coord(0) + coord(1) - 7
    array = spelt(whole, (n, m))
    found = fitted(array)
    assert found is not None
    assert (spelt(found, (n, m)) == array).all()


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1])
def test_integers_beyond_int64_fit_no_term(number: int) -> None:
    found = fitted(np.array([number, 0], np.uint64))
    assert (found is None) == (number >= 2**63)
    assert found is None or found.at({0: 0}) is term(number)


def test_a_table_stands_beside_a_leaf() -> None:
    numbers = [4, 0, 1, 1]
    array = np.array([element("p", [i], name="p") + k for i, k in enumerate(numbers)], dtype=object)
    found = fitted(array)
    assert found is not None
    assert str(found) in ("p[x0] + table[x0]", "table[x0] + p[x0]")


@pytest.mark.parametrize(
    "terms",
    [
        [element("p", [0], name="p"), element("q", [1], name="q")],
        [element("p", [0], name="p"), 2 * element("p", [1], name="p")],
        [element("p", [0], name="p"), term(3)],
        [size("n"), size("m")],
        [],
    ],
)
def test_what_is_no_line(terms: list[Term]) -> None:
    array = np.empty(len(terms), dtype=object)
    array[:] = terms
    assert fitted(array) is None


@pytest.mark.parametrize("op", ["Add", "Sub"])
def test_sums_that_wrap_are_no_index(op: str) -> None:
    # Where the sum leaves 64 bits it is out of bounds, unless nothing is written at all.
    model = f"""g (float[S,2] x, int64 p, float[N,2] u) => (float[S,2] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}> {{
        s = Shape (u)
        n = Gather <axis = 0> (s, zero)
        r = Range (zero, n, one)
        i = {op} ({"r, p" if op == "Add" else "p, r"})
        j = Unsqueeze (i, last)
        y = ScatterND (x, j, u) }}"""
    ends = [np.iinfo(np.int64).min, np.iinfo(np.int64).max, -3, -1, 0, 2]
    feeds = [
        {"x": sample("float32", 5, 2), "p": np.array(p), "u": sample("float32", n, 2, seed=n)}
        for p in ends
        for n in (0, 1, 2)
    ]
    rejected = 5 if op == "Add" else 4
    assert_sound(model, *feeds, rejected=rejected)
