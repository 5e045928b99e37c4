"""The nearest number for which all assumptions are true, compared with a search."""

from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.optimizer.assumptions.assumption import COMPARISONS, Assumption, Relation
from tests.helpers.examples import examples

_REACH = 9000  # more than the least common multiple of the moduli, and all numbers excluded
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
    near = (n for k in range(_REACH) for n in (k, -k) if low is None or n >= low)
    expected = next((n for n in near if said.allows(n)), None)
    assert (said.witness() if low is None else said.witness(low)) == expected


@examples(100)
@given(st.integers(1, 10**18), st.integers(1, 10**18), st.data())
def test_large_moduli(one: int, other: int, data: st.DataObject) -> None:
    """Of two residues there is a number below the least common multiple, or none at all."""
    residues = [data.draw(st.integers(0, m - 1)) for m in (one, other)]
    pairs = zip((one, other), residues, strict=True)
    said = Assumption(tuple(Relation(m, "==", r) for m, r in pairs))
    found = said.witness()
    assert found is None or said.allows(found)
    number = data.draw(st.integers(-(1 << 60), 1 << 60))
    left = tuple(Relation(m, "==", number % m) for m in (one, other))
    met = Assumption(left).witness()
    assert met is not None
    assert abs(met) <= abs(number)
