"""The nearest number for which all assumptions are true, compared with a search."""

from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.assumptions import assumption
from onnx_scatterx.assumptions.assumption import Assumption, Relation
from onnx_scatterx.assumptions.expressions import COMPARISONS
from tests.helpers.examples import examples

_REACH = 9000  # more than the least common multiple of the moduli, and all numbers excluded
_NEAR = np.array([0, *(n for k in range(1, _REACH) for n in (k, -k))])
COMPARISON = st.builds(
    Relation,
    st.sampled_from([0, 1, 2, 3, 4, 6, 8, 12, 20]),
    st.sampled_from(sorted(COMPARISONS)),
    st.integers(-30, 30),
)


@examples(400)
@given(st.lists(COMPARISON, max_size=5), st.sampled_from([None, 0, -7, 15]))
def test_the_nearest_of_all(comparisons: list[Relation], low: int | None) -> None:
    said = Assumption(tuple(comparisons))
    near: Any = _NEAR
    if low is not None:
        near = near[near >= low]
    for each in comparisons:
        rest = near % each.modulus if each.modulus else near
        near = near[COMPARISONS[each.sign](rest, int(each.bound))]
    with patch.object(assumption, "_TRIED", _REACH):  # none is found behind them either
        found = said.witness() if low is None else said.witness(low)
    assert found == (near[0] if near.size else None)


@examples(100)
@given(st.integers(1, 10**18), st.integers(1, 2000), st.integers(-(1 << 60), 1 << 60))
def test_a_large_modulus(large: int, small: int, number: int) -> None:
    """Of two moduli, the larger one gives the step."""
    said = Assumption(tuple(Relation(m, "==", number % m) for m in (large, small)))
    found = said.witness()
    assert found is not None
    assert said.allows(found)
    assert abs(found) <= abs(number)
