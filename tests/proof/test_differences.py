"""Pairs of models that differ: none is proven to be the same."""

import pytest

from tests.helpers.equivalence_support import proof_of, replayed
from tests.helpers.proving import prove
from tests.helpers.support import parse


def test_a_size_that_was_baked_in_is_refuted() -> None:
    """As onnxslim does it: a Reshape to the sizes of one example."""
    one = """g (float[B, T, 4] x) => (float[C, D] z) { z = Reshape(x, [-1, 4]) }"""
    other = """g (float[B, T, 4] x) => (float[C, D] z) { z = Reshape(x, [6, 4]) }"""
    found = proof_of(one, other)
    assert found.kind == "refuted"
    assert found.inputs["x"].size != 24


def test_overwritten_infinities_do_not_survive() -> None:
    """As onnx2tf does it: data * (1 - mask) keeps NaN and infinities."""
    one = "g (bool[N] m, float[N] x, float[N] y) => (float[N] z) { z = Where(m, y, x) }"
    other = """g (bool[N] m, float[N] x, float[N] y) => (float[N] z) {
        f = Cast<to = 1>(m) g = Sub(float 1, f) a = Mul(x, g) b = Mul(y, f) z = Add(a, b) }"""
    assert not proof_of(one, other).proven


def test_updates_that_may_collide_are_not_summed() -> None:
    """As TorchScript does it: none on zeros for add, equal only if nothing collides."""
    one = """g (float[5] x, int64[3, 1] i, float[3] u) => (float[5] z)
        { z = ScatterND<reduction = "add">(x, i, u) }"""
    other = one.replace('<reduction = "add">', "")
    assert not proof_of(one, other).proven


HEAD = "g (float[N, 4] x, int64[K] i) => (float[A, B] z) "

WRONG = {
    "a bound off by one": (
        "<int64[1] a = {0}, int64[1] b = {-1}, int64[1] c = {0}> { z = Slice(x, a, b, c) }",
        "<int64[1] a = {0}, int64[1] b = {-2}, int64[1] c = {0}> { z = Slice(x, a, b, c) }",
    ),
    "a bound that only short axes notice": (
        "<int64[1] a = {0}, int64[1] b = {9}, int64[1] c = {0}> { z = Slice(x, a, b, c) }",
        "<int64[1] a = {0}, int64[1] b = {10}, int64[1] c = {0}> { z = Slice(x, a, b, c) }",
    ),
    "parts in another order": (
        "{ y = Neg(x) z = Concat<axis = 0>(x, y) }",
        "{ y = Neg(x) z = Concat<axis = 0>(y, x) }",
    ),
    "another axis": ("{ z = Concat<axis = 0>(x, x) }", "{ z = Concat<axis = 1>(x, x) }"),
    "transposed within a reshape": (
        "<int64[2] s = {4, -1}> { z = Reshape(x, s) }",
        "{ z = Transpose<perm = [1, 0]>(x) }",
    ),
    "positions taken as they are where they may count from the end": (
        "{ z = Gather<axis = 0>(x, i) }",
        "<int64 zero = {0}> { j = Max(i, zero) z = Gather<axis = 0>(x, j) }",
    ),
    "a read that may fail where the first has none": (
        "{ z = Identity(x) }",
        "<int64 zero = {0}> { y = Gather<axis = 0>(x, i) z = Identity(x) }",
    ),
    "a Squeeze that fails": (
        "{ z = Identity(x) }",
        "<int64[1] a = {0}> { y = Squeeze(x, a) z = Identity(x) }",
    ),
    "a division by what may be 0": (
        "{ z = Identity(x) }",
        "<int64 one = {1}> { y = Div(one, i) z = Identity(x) }",
    ),
    "less for at most": (
        "<int64 k = {3}> { m = Less(i, k) w = Cast<to = 1>(m) z = Expand(w, i) }",
        "<int64 k = {3}> { m = LessOrEqual(i, k) w = Cast<to = 1>(m) z = Expand(w, i) }",
    ),
    "an empty axis": (
        "<int64[1] s = {-1}, int64[2] t = {-1, 4}> { y = Reshape(x, s) z = Reshape(y, t) }",
        "<int64[2] s = {4, -1}, int64[2] t = {-1, 4}> { y = Reshape(x, s) w = Reshape(x, s) "
        "z = Reshape(w, t) e = ReduceMax(i) }",
    ),
    "numbers that wrap": (
        "<int64 k = {1}> { j = Add(i, k) m = Less(i, j) w = Cast<to = 1>(m) z = Mul(w, w) }",
        "<float one = {1}> { s = Shape(i) w = Expand(one, s) z = Mul(w, w) }",
    ),
    "a float that is not its double negation's zero": (
        "<float v = {0}> { z = Add(x, v) }",
        "{ z = Identity(x) }",
    ),
    "another type": (
        "{ z = Identity(x) }",
        "{ y = Cast<to = 11>(x) w = Cast<to = 1>(y) z = Cast<to = 1>(w) }",
    ),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", WRONG)
def test_what_differs_is_never_proven(name: str) -> None:
    one, other = (parse(HEAD + text) for text in WRONG[name])
    assert not prove(one, other, replay=replayed(one, other)).proven


def test_contradictory_facts_prove_nothing() -> None:
    """If no input satisfies the facts, everything could be proven; the answer is "unknown"."""
    never = """g (float[3] x) => (float[A] z) { z = Reshape(x, [5]) }"""
    found = proof_of(never, "g (float[3] x) => (float[A] z) { z = Neg(x) }")
    assert found.kind == "unknown"
    assert "the first model runs on no input" in str(found)


def test_a_need_of_the_second_model_is_no_fact() -> None:
    """The second runs for squares only: were that a fact, the two would be the same."""
    one = "g (float[N, M] x) => (float[A, B] z) { z = Identity(x) }"
    other = """g (float[N, M] x) => (float[A, B] z)
        { t = Transpose<perm = [1, 0]>(x) s = Add(t, x) z = Identity(x) }"""
    assert proof_of(one, other).kind == "refuted"


def test_dims_of_one_name_may_be_distrusted() -> None:
    one = "g (float[N] x, float[N] y) => (float[N] z) { s = Add(x, y) z = Identity(x) }"
    one = one.replace("s = Add(x, y) ", "")
    other = "g (float[N] x, float[N] y) => (float[N] z) { s = Add(x, y) z = Identity(x) }"
    before, after = parse(one), parse(other)
    trusted = prove(before, after)
    assert trusted.proven
    assert "dims of inputs with the same name have the same size" in trusted.assumed
    assert (
        prove(before, after, replay=replayed(before, after), distrust_dims=True).kind == "refuted"
    )
