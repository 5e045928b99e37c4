"""Updates that collide, in every form that a rewrite gives them: equal folds are proven.

The pairs that differ are of the same forms, with one thing changed.
"""

import numpy as np
import pytest

from tests.helpers.equivalence_support import assert_follows, proof_of
from tests.helpers.support import i64

FORM = """g (float[B, T] x, int64[N, 1] i, float[N, T] y) => (float[B, T] z)
    <int64[1] first = {0}, int64[1] second = {1}, int64[1] third = {2}, int64[1] back = {-1},
     int64[1] end = {-9223372036854775807}, int64[1] far = {9223372036854775807}, int64 nil = {0},
     int64 unit = {1}, int64 last = {-1}, float plus = {0.0}, float none = {-0.0}> { BODY }"""
BY_ROWS = 'z = ScatterND<reduction = "add">(x, i, y)'
BY_ELEMENTS = """s = Shape(y) j = Expand(i, s)
    z = ScatterElements<axis = 0, reduction = "add">(x, j, y)"""
SUMMED_UP = """b = Shape<start = 0, end = 1>(x) d = Squeeze(b) ring = Max(b, second)
    n = Mod(i, ring)
    v = Squeeze(n, second) w = Unsqueeze(v, first) r = Range(nil, d, unit)
    rows = Unsqueeze(r, second) e = Equal(w, rows) m = Unsqueeze(e, third)
    old = Unsqueeze(x, second) new = Unsqueeze(y, first) chosen = Where(m, new, none)
    all = Concat<axis = 1>(old, chosen) sums = CumSum(all, unit) z = Gather<axis = 1>(sums, last)"""
TURNED = "y2 = Slice(y, back, end, first, back) j2 = Slice(j, back, end, first, back)"


def _pair(one: str, other: str) -> tuple[str, str]:
    return FORM.replace("BODY", one), FORM.replace("BODY", other)


@pytest.mark.parametrize("other", [BY_ELEMENTS, SUMMED_UP])
def test_the_same_sum_in_two_forms(other: str) -> None:
    found = proof_of(*_pair(BY_ROWS, other))
    assert found.proven, found
    assert "updates that collide are reduced in their order" in found.assumed


def test_a_scatter_needs_rows_in_range() -> None:
    """A comparison does not: so it is not replaced by a scatter."""
    assert not proof_of(*_pair(SUMMED_UP, BY_ROWS)).proven


WRONG = {
    "another reduction": (BY_ELEMENTS, '"add"', '"mul"'),
    "other data": (BY_ELEMENTS, "z = ScatterElements", "w = Neg(x) z = ScatterElements"),
    "updates in another order": (BY_ELEMENTS, "(x, j, y)", "(x, j, y2)"),
    "rows in another order": (BY_ELEMENTS, "(x, j, y)", "(x, j2, y)"),
    "additions in another order": (BY_ELEMENTS, "(x, j, y)", "(x, j2, y2)"),
    "all but the first": (SUMMED_UP, "all = ", "chosen = Slice(c, second, far, second) all = "),
    "the sum of the first": (SUMMED_UP, "(sums, last)", "(sums, nil)"),
    "a zero that loses a sign": (SUMMED_UP, "new, none", "new, plus"),
    "rows off by one": (SUMMED_UP, "(nil, d, unit)", "(unit, g, unit)"),
    "data last": (SUMMED_UP, "(old, chosen)", "(chosen, old)"),
    "rows that count from the end": (SUMMED_UP, "Mod(i, ring)", "Abs(i)"),
    "a product": (SUMMED_UP, "Where(m, new, none)", "Where(m, new, new)"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", WRONG)
def test_a_sum_that_differs(what: str) -> None:
    body, old, new = WRONG[what]
    assert body.count(old) == 1
    made = body.replace(old, new)
    if what == "other data":
        made = made.replace("(x, j, y)", "(w, j, y)")
    if what == "all but the first":
        made = made.replace("chosen = Where", "c = Where")
    if what == "rows off by one":
        made = made.replace("r = Range", "g = Add(d, unit) r = Range")
    made = made.replace("z = ScatterElements", f"{TURNED} z = ScatterElements")
    assert not proof_of(*_pair(BY_ROWS, made)).proven


NUMBERS = """g (int32[B] x, int64[99] i, int8[99] s) => (int32[B] z)
    <int64[1] first = {0}, int64[1] second = {1}, int64 nil = {0}, int64 unit = {1},
     int32 none = {0}> { y = Cast<to = 6>(s) BODY }"""
AT_ONCE = 'z = ScatterElements<axis = 0, reduction = "add">(x, i, y)'
ADDED = """b = Shape(x) d = Squeeze(b) ring = Max(b, second)
    n = Mod(i, ring) w = Unsqueeze(n, first)
    r = Range(nil, d, unit) rows = Unsqueeze(r, second) e = Equal(w, rows) u = Unsqueeze(y, first)
    chosen = Where(e, u, none) sums = ReduceSum<keepdims = 0>(chosen, second) z = Add(x, sums)"""


def test_integers_are_summed_in_any_order() -> None:
    one = NUMBERS.replace("BODY", AT_ONCE)
    assert proof_of(one, NUMBERS.replace("BODY", ADDED)).proven
    for old, new in (
        ("Mod(i, ring)", "Abs(i)"),
        ("Add(x, sums)", "Sub(x, sums)"),
        ("(chosen, second)", "(chosen, first)"),
    ):
        wrong = ADDED.replace(old, new)
        assert wrong != ADDED
        assert not proof_of(one, NUMBERS.replace("BODY", wrong)).proven


MASKED = """g (float[B] x, int64[7] i, float v) => (float[B] z)
    <int64[1] first = {0}, int64[1] second = {1}, int64 nil = {0}, int64 unit = {1}> { BODY }"""
GREATEST = """s = Shape(i) u = Expand(v, s)
    z = ScatterElements<axis = 0, reduction = "max">(x, i, u)"""
CHOSEN = """b = Shape(x) d = Squeeze(b) ring = Max(b, second)
    n = Mod(i, ring) w = Unsqueeze(n, first)
    r = Range(nil, d, unit) rows = Unsqueeze(r, second) e = Equal(w, rows) f = Cast<to = 6>(e)
    h = ReduceMax<keepdims = 0>(f, second) m = Cast<to = 9>(h) g = Greater(x, v)
    k = Where(g, x, v) z = Where(m, k, x)"""


def test_one_of_equal_updates_will_do_for_a_maximum() -> None:
    one, other = MASKED.replace("BODY", GREATEST), MASKED.replace("BODY", CHOSEN)
    assert proof_of(one, other).proven
    for wrong in ('"add"', '"min"', '"mul"'):
        assert not proof_of(one.replace('"max"', wrong), other).proven


def _one_by_one(order: list[int]) -> str:
    """Return the sum of three updates of one element, each by a choice of its own."""
    steps = ["n = Mod(i, five) a0 = Identity(x)"]
    for k, place in enumerate(order):
        steps.append(
            f"i{k} = Gather(n, p{place}) y{k} = Gather(y, p{place}) e{k} = Equal(i{k}, rows) "
            f"s{k} = Add(a{k}, y{k}) a{k + 1} = Where(e{k}, s{k}, a{k})"
        )
    return " ".join([*steps, "z = Identity(a3)"])


def test_additions_are_in_their_order() -> None:
    head = """g (float[5] x, int64[3] i, float[3] y) => (float[5] z) <int64[1] five = {5},
        int64[5] rows = {0, 1, 2, 3, 4}, int64 p0 = {0}, int64 p1 = {1}, int64 p2 = {2}>"""
    one = f"{head} {{ {AT_ONCE} }}"
    assert proof_of(one, f"{head} {{ {_one_by_one([0, 1, 2])} }}").proven
    for order in ([1, 0, 2], [2, 1, 0], [0, 1, 1]):
        assert not proof_of(one, f"{head} {{ {_one_by_one(order)} }}").proven


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reduction", ["add", "mul", "min", "max"])
def test_updates_at_rows_of_the_run(reduction: str) -> None:
    text = f"""g (int64[5] i) => (int32[C] z)
        <int32[3] x = {{100, -2, 3}}, int32[5] y = {{3, -7, 25, 7, 10}}> {{
        z = ScatterElements<axis = 0, reduction = "{reduction}">(x, i, y) }}"""
    assert_follows(text, {"i": i64([0, -3, 1, 0, 0])})
    assert_follows(text, {"i": i64([2, 2, 2, 2, 2])})


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["float", "int32", "int64"])
def test_a_running_sum(axis: int, dtype: str) -> None:
    """The order of the additions shows in floats: 3 + 1e8 - 1e8 is not 3."""
    text = f"""g (bool b) => ({dtype}[C, D] z) <int64 axis = {{{axis}}},
        {dtype}[3, 3] x = {{3, 100000000, -100000000, 100000000, 2, 7, -100000000, 8, 3}}> {{
        z = CumSum(x, axis) }}"""
    assert_follows(text, {"b": np.array(True)})


@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("axes", ["{0}", "{-1}", "{0, 2}"])
def test_a_sum_of_integers(axes: str, keepdims: int) -> None:
    count = axes.count(",") + 1
    dims = "C, D, E" if keepdims else ", ".join("CDE"[: 3 - count])
    text = f"""g (int8[2, 3, 2] s) => (int32[{dims}] z) <int64[{count}] axes = {axes}> {{
        x = Cast<to = 6>(s) z = ReduceSum<keepdims = {keepdims}>(x, axes) }}"""
    assert_follows(text, {"s": np.arange(12, dtype=np.int8).reshape(2, 3, 2) - 5})
