"""Picks against plain functions on tuples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.theory.picks import Pick
from tests.helpers.examples import examples

fast = examples(100)
index = tuple(range(100, 106))
picks = st.lists(st.integers(0, 5), max_size=6).map(Pick)
shuffles = st.integers(0, 6).flatmap(lambda n: st.permutations(range(n))).map(Pick)


def test_the_example_of_definition_2() -> None:
    p = Pick((4, 6, 7))
    assert p(range(10, 20)) == (14, 16, 17)
    assert p.codomain == {4, 6, 7}
    assert len(p) == 3
    assert not p.is_smooth
    assert not p.is_shuffle


@given(picks)
@fast
def test_a_pick_takes_coordinates(p: Pick) -> None:
    assert p(index) == tuple(index[p[i]] for i in range(len(p)))
    assert p.codomain == {p[i] for i in range(len(p))}
    assert p.is_smooth == all(p[i + 1] == p[i] + 1 for i in range(len(p) - 1))
    assert p.is_shuffle == (sorted(p) == list(range(len(p))))
    assert p.is_identity == (list(p) == list(range(len(p))))


@given(picks, picks)
@fast
def test_concatenation(p: Pick, q: Pick) -> None:
    assert (p + q)(index) == p(index) + q(index)


@given(st.data(), picks)
@fast
def test_composition(data: st.DataObject, q: Pick) -> None:
    places = st.lists(st.integers(0, max(len(q) - 1, 0)), max_size=6 if len(q) else 0)
    p = Pick(data.draw(places))
    assert (p @ q)(index) == p(q(index))


@given(shuffles)
@fast
def test_the_inverse_undoes(p: Pick) -> None:
    assert (p.inverse() @ p).is_identity
    assert (p @ p.inverse()).is_identity


def test_identities() -> None:
    assert Pick.identity(3) == Pick((0, 1, 2))
    assert Pick.identity(3).is_identity
    assert Pick.identity(1, 3) == Pick((1, 2))
    assert Pick.identity(1, 3).is_smooth
    assert not Pick.identity(1, 3).is_identity
    assert Pick.identity(2, 2) == Pick.identity(0) == Pick()
    assert Pick().is_smooth
    assert Pick().is_shuffle
    assert Pick()(()) == ()


def test_equal_picks_are_one_key() -> None:
    assert {Pick([1, 2]), Pick((1, 2)), Pick(range(1, 3))} == {Pick((1, 2))}
    assert Pick((1, 2)) != Pick((2, 1))
    assert eval(repr(Pick((2, 1)))) == Pick((2, 1))


def test_negative_coordinates_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 on, not -1"):
        Pick((0, -1))


def test_an_index_that_is_too_short() -> None:
    with pytest.raises(IndexError, match="takes coordinate 2 of an index of 2"):
        Pick((0, 2))((5, 6))
    with pytest.raises(IndexError):
        Pick((3,)) @ Pick((0, 1))


@pytest.mark.parametrize("p", [Pick((1,)), Pick((0, 0)), Pick((0, 2))])
def test_only_shuffles_have_an_inverse(p: Pick) -> None:
    with pytest.raises(ValueError, match="only a shuffle"):
        p.inverse()
