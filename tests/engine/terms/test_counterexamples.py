"""The points at which terms are computed before a proof is tried."""

from onnx_scatterx.engine.budget.limits import NARROW
from onnx_scatterx.engine.terms import coord, size, term
from onnx_scatterx.engine.terms.counterexamples import Sample
from onnx_scatterx.engine.terms.facts import Facts

N, M = size("counterexamples.n"), size("counterexamples.m")
X = coord(0)


def test_a_size_is_0_at_some_points() -> None:
    numbers = Sample().of(N, {}, {}).numbers
    assert (numbers >= 0).all()
    assert (numbers == 0).any()


def test_a_coordinate_is_within_the_extent_of_each_question() -> None:
    sample = Sample()
    assert (sample.of(X, {0: term(9)}, {}).numbers > 0).any()
    assert (sample.of(X, {0: term(1)}, {}).numbers == 0).all()


def test_what_is_not_computed_is_right_nowhere() -> None:
    values = Sample().of(NARROW * N, {}, {})
    assert not values.numbers[values.right].size
    assert not Facts().counterexamples.refute(-NARROW * N)


def test_no_point_contradicts_outer_facts() -> None:
    outer = Facts(known=[M - N])
    assert Facts().counterexamples.refute(M - N)
    assert not outer.assuming(M - 1).counterexamples.refute(M - N)
