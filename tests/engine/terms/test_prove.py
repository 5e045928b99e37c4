"""What is proven must hold everywhere, and a list of what must be proven and what must not."""

import itertools
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onnx_scatterx.engine.budget.spending import budget
from onnx_scatterx.engine.terms import (
    FloorDiv,
    Symbol,
    Term,
    coord,
    element,
    equals,
    maximum,
    minimum,
    search,
    size,
    step,
    term,
    where,
)
from onnx_scatterx.engine.terms.cases import pos
from onnx_scatterx.engine.terms.constraints import Elements
from onnx_scatterx.engine.terms.facts import Facts
from onnx_scatterx.engine.terms.one_size import never_negative
from onnx_scatterx.engine.terms.search import may_lead
from tests.helpers.examples import examples

T, U = size("prove.t"), size("prove.u")
A = element("prove.a", (), name="a")
X, Y = coord(0), coord(1)
RNG = st.randoms(use_true_random=False)


def value(t: Term, numbers: dict[Term, int], coords: tuple[int, ...] = ()) -> int:
    named = {str(k): v for k, v in numbers.items()}
    return int(t.evaluate(lambda leaf, _: named[leaf.name], lambda d: coords[d]))


def values(t: Term, numbers: dict[Term, np.ndarray]) -> np.ndarray:
    """Return the values of a term at many points at once."""
    named = {str(k): v for k, v in numbers.items()}
    found = t.evaluate(lambda leaf, _: named[leaf.name], lambda d: np.nan)
    return np.broadcast_to(found, np.broadcast_shapes(*(v.shape for v in named.values())))


def draw(rng: random.Random, leaves: list[Term], depth: int) -> Term:
    """Build a random piecewise term over some leaves, linear for the most part."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([*leaves, *leaves, term(rng.randint(-5, 5))])
    a, b = draw(rng, leaves, depth - 1), draw(rng, leaves, depth - 1)
    k = rng.randint(1, 4)
    kinds: list[Callable[[], Term]] = [
        lambda: a + b,
        lambda: a - b,
        lambda: a - k,
        lambda: k * a - b,
        lambda: pos(a),
        lambda: maximum(a, b),
        lambda: minimum(a, b),
        lambda: where(step(a), b, a),
        lambda: a // k,
        lambda: a % k,
        lambda: equals(a, b),
    ]
    return rng.choice(kinds)()


@examples(300)
@given(RNG)
def test_one_size_is_never_decided_wrongly(rng: random.Random) -> None:
    t = draw(rng, [T], 4)
    low = rng.choice([0, 0, 1, 3])
    (leaf,) = T.leaves()
    if t.leaves() != {leaf}:
        return
    answer = never_negative(t, leaf, low)
    truth = bool((values(t, {T: np.arange(low, 400)}) >= 0).all())
    assert answer is None or answer == truth, f"{t} from {low} on"


@pytest.mark.parametrize(
    ("t", "truth"),
    [
        (2 * T + 1, True),
        (T - 1, False),
        (2 * (T // 2) - T + 1, True),
        (2 * (T // 2) - T, False),
        (T - (T + 3) // 4, True),
        (3 - T % 4, True),
        (2 - T % 4, False),
        (maximum(T, 7) - T, True),
        (maximum(T - 7, 0) - T + 6, False),
        (8 * (T // 8) + T % 8 - T, True),
        (300 - T // 3, False),
    ],
    ids=str,
)
def test_one_size_is_decided(t: Term, truth: bool) -> None:
    (leaf,) = T.leaves()
    assert never_negative(t, leaf, 0) is truth


@examples(200)
@given(RNG)
def test_one_size_is_never_decided_wrongly_with_what_is_known_of_it(rng: random.Random) -> None:
    (leaf,) = T.leaves()
    t, *known = (draw(rng, [T], 3) for _ in range(3))
    if any(each.leaves() != {leaf} for each in (t, *known)):
        return
    answer = never_negative(t, leaf, 0, tuple(known))
    points = {T: np.arange(400)}
    allowed = np.all([values(each, points) >= 0 for each in known], axis=0)
    truth = bool((values(t, points)[allowed] >= 0).all())
    assert answer is None or answer == truth, f"{t} with {known}"


@examples(300)
@given(RNG)
def test_one_size_is_refuted_only_by_a_point_that_other_facts_allow(rng: random.Random) -> None:
    known = [draw(rng, [T, U, A], 2) for _ in range(rng.randint(1, 4))]
    known += [A, T - 1 - A] if rng.random() < 0.3 else []
    t = draw(rng, [T], 3)
    assume(all((f.constant or 0) >= 0 for f in known))  # else no point is allowed
    if Facts(known=known).one_size.decide(t) is not False:
        return
    axes = np.ix_(range(80), range(16), range(-16, 17))
    points = dict(zip((T, U, A), axes, strict=True))
    allowed = np.all([values(f, points) >= 0 for f in known], axis=0)
    assume(allowed.any())  # facts that contradict each other refute everything
    assert (values(t, points)[allowed] < 0).any(), f"{t} with {known}"


def test_one_size_is_refuted_if_the_least_of_other_sizes_allows_it() -> None:
    """So no proof is sought; where the least of others contradicts a fact, one may be."""
    assert Facts(known=[U - T]).one_size.decide(T - 4) is False
    assert Facts(known=[T - U, U - 2]).one_size.decide(T - 4) is False
    assert Facts(known=[T - U, U - 5]).one_size.decide(T - 4) is None
    assert Facts(known=[2 - T - U, U * U - 1]).one_size.decide(T - 4) is None


@examples(300)
@given(RNG)
def test_only_facts_that_lead_nowhere_are_left_out(rng: random.Random) -> None:
    facts = Facts(known=[draw(rng, [T, U, A], 2) for _ in range(rng.randint(0, 3))])
    t, fact = (draw(rng, [T, U, A], 4) for _ in range(2))
    b, a, most = rng.randint(1, 3), rng.choice([1, 2, 3, 2**62]), rng.randint(0, 4)
    leads = may_lead(t, b, fact, a, most, facts)
    rest = b * t - a * fact
    good = len(rest.items) <= most or facts.interval(rest)[0] >= 0
    assert leads or not good, f"{t} with {fact}"
    if leads and not good:
        assert any(isinstance(atom, FloorDiv) for atom in rest.atoms)


def test_one_size_is_decided_with_numbers_beyond_64_bits() -> None:
    (leaf,) = T.leaves()
    big = 2**62
    assert never_negative(big * big * T - big * big, leaf, 1) is True
    assert never_negative(3 * big * pos(T - 3) - big * T, leaf, 0) is False
    assert never_negative(3 * big * pos(T - 3) - big * T, leaf, 0, (pos(T - 3) - 2,)) is True


@examples(200)
@given(RNG)
def test_one_size_is_decided_with_integers_of_the_whole_type(rng: random.Random) -> None:
    (leaf,) = T.leaves()
    ends = (-(2**63), -(2**62), -(2**31), 2**31, 2**62 - 1, 2**62, 2**63 - 1)
    t = rng.choice(ends) * draw(rng, [T], 3) + draw(rng, [T], 3) + rng.choice((0, *ends))
    if t.leaves() != {leaf}:
        return
    points = [*range(200), *(2**k + d for k in range(8, 66) for d in (-1, 0, 1))]
    if never_negative(t, leaf, 0):
        assert all(value(t, {T: n}) >= 0 for n in points), f"{t}"


def test_one_size_is_mostly_decided() -> None:
    (leaf,) = T.leaves()
    rng = random.Random(1)
    drawn = [t for t in (draw(rng, [T], 4) for _ in range(400)) if t.leaves() == {leaf}]
    decided = [never_negative(t, leaf, 0) for t in drawn]
    assert len(drawn) > 150
    assert decided.count(None) < len(drawn) // 10
    assert decided.count(True) > 20
    assert decided.count(False) > 20


@pytest.mark.slow
@examples(200)
@given(RNG)
def test_what_is_proven_holds(rng: random.Random) -> None:
    extents = {0: draw(rng, [T, U], 1), 1: pos(draw(rng, [T, U], 1))}
    known = [draw(rng, [T, U, A], 2) for _ in range(rng.randint(0, 3))]
    facts = Facts(extents, known[:1]).assuming(*known[1:])
    queries = [draw(rng, [T, U, A, X, Y], 3) for _ in range(6)]
    queries += [q - r for q, r in itertools.pairwise(queries)]
    proven = [q for q in queries if facts.is_nonnegative(q)]
    simplified = [(q, facts.simplify(q)) for q in queries]
    for _ in range(60):
        numbers = {T: rng.randint(0, 30), U: rng.randint(0, 6), A: rng.randint(-6, 6)}
        if any(value(f, numbers) < 0 for f in known):
            continue
        sizes = [value(extents[d], numbers) for d in (0, 1)]
        if min(sizes) < 1:
            continue  # no element is there
        at = tuple(rng.randrange(n) for n in sizes)
        for q in proven:
            assert value(q, numbers, at) >= 0, f"{q} with {known} within {extents}"
        for before, after in simplified:
            same = value(before, numbers, at) == value(after, numbers, at)
            assert same, f"{before} became {after} with {known} within {extents}"


def test_a_fair_share_is_proven() -> None:
    rng = random.Random(2)
    proven = sum(Facts({0: T}).is_nonnegative(draw(rng, [T, U, X], 3)) for _ in range(300))
    assert 60 < proven < 280


def slice_length(extent: Term, start: int, stop: int) -> Term:
    return pos(minimum(term(stop) if stop >= 0 else extent + stop, extent) - start)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (pos(pos(T - 1) - minimum(1, T)), pos(T - 2)),
        ((T + 1) // 2 + T // 2, T),
        ((T + 2) // 3 + (T + 1) // 3 + T // 3, T),
        (slice_length(T, 1, -1), pos(T - 2)),
        (minimum(T, 4) + pos(T - 4), T),
        (slice_length(T, 0, 2) + slice_length(T, 2, 5) + pos(T - 5), T),
        (maximum(T, 1) - 1, pos(T - 1)),
        (where(equals(T, 1), U, T) * 0, term(0)),
        (((T // 2) * 2) // 2, T // 2),
        (pos(T + U - U - 3), pos(T - 3)),
        (maximum(T, U) + minimum(T, U), T + U),
        (pos(minimum(T, U) - T), term(0)),
        (minimum(minimum(T, U), T), minimum(T, U)),
        ((T % 4) % 4, T % 4),
    ],
)
def test_must_be_proven_equal(a: Term, b: Term) -> None:
    assert Facts().equal(a, b), f"{a} = {b}"


@pytest.mark.parametrize(
    ("facts", "t"),
    [
        (Facts(), T - minimum(T, 4)),
        (Facts(), T - T // 2),
        (Facts(), T * U + T),
        (Facts({0: T}), T - 1 - X),
        (Facts({0: T}), T - 1 + X),
        (Facts({0: term(4)}), 9 - X * X),
        (Facts({0: T, 1: U}), T * U - 1 - (X * U + Y)),
        (Facts({0: T // 2}), T - 2 - 2 * X),
        (Facts(known=[T - 4]), minimum(T, 6) - 4),
        (Facts(known=[T - U]), T - minimum(U, 3)),
        (Facts(known=[T - U, U - 3]), T - 3),
        (Facts(known=[T - U, U - A, A - 2]), T - 2),
        (Facts(known=[T // 2 - 3]), T - 6),
        (Facts(known=[A, T - 1 - A]), T - 1),
        (Facts(known=[pos(T - 2) - 1]), T - 3),
        (Facts(), T * step(T + U - 1) + U * pos(T + U - 4) - pos(T - 3)),
        (Facts(known=[A - 1, T - U]), U // A + T - (T + U) // 2),
    ],
)
def test_must_be_proven(facts: Facts, t: Term) -> None:
    assert facts.is_nonnegative(t), f"{t} >= 0"


@pytest.mark.parametrize(
    ("facts", "t"),
    [
        (Facts(), T - 1),
        (Facts(), A),
        (Facts(), T - U),
        (Facts(), pos(T - 2) - (T - 1)),
        (Facts(), 5 - T),
        (Facts({0: T}), T - 2 - X),
        (Facts(known=[T - U]), U - T),
        (Facts(known=[T - 1]), T - 2),
        (Facts(), T // 2 + T // 2 - T),
        (Facts(), T * T - 2),
        (Facts(known=[A]), A // U + 1),  # U may be 0
    ],
)
def test_must_not_be_proven(facts: Facts, t: Term) -> None:
    assert not facts.is_nonnegative(t), f"{t} >= 0"


def test_facts_learnt_later_are_used() -> None:
    facts = Facts()
    assert not facts.is_nonnegative(T - 3)
    assert not facts.is_nonnegative(U - 3)
    facts.add([T - U])
    assert not facts.is_nonnegative(T - 3)
    facts.add([U - 3])
    assert facts.is_nonnegative(T - 3)
    assert facts.is_nonnegative(U - 3)


@examples(200)
@given(RNG)
def test_one_size_with_a_residue_is_decided_where_it_has_this_residue(rng: random.Random) -> None:
    t, (leaf,) = draw(rng, [T], 4), T.leaves()
    low, modulus = rng.choice([0, 1, 3, 7]), rng.randint(2, 6)
    residue = rng.randrange(modulus)
    facts = Facts(known=[T - low])
    facts.learn_residue(leaf, modulus, residue)
    if t.leaves() == {leaf} and facts.one_size.decide(t):
        numbers = np.arange(low, 400)
        numbers = numbers[numbers % modulus == residue]
        assert (values(t, {T: numbers}) >= 0).all(), f"{t} at {residue} of {modulus} from {low} on"


@pytest.mark.parametrize(("low", "first"), [(0, 2), (2, 2), (3, 6), (6, 6), (7, 10)])
def test_the_first_number_of_a_residue(low: int, first: int) -> None:
    (leaf,) = T.leaves()
    facts = Facts(known=[T - low])
    facts.learn_residue(leaf, 4, 2)
    assert facts.one_size.decide(T - first)
    assert not facts.one_size.decide(T - first - 1)
    rest = T - 4 * (T // 4)
    assert facts.one_size.decide(rest - 2)
    assert facts.one_size.decide(2 - rest)


def test_a_small_size_is_tried_only_where_the_facts_allow_it() -> None:
    odd = T - 2 * (T // 2) - 1
    facts = Facts(known=[9 - T, odd])
    assert facts.one_size.decide((T - 4) * (T - 4) - 1)  # T is not 4
    assert not facts.one_size.decide((T - 5) * (T - 5) - 1)


def test_one_size_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(*_: object) -> bool:
        raise AssertionError("searched")

    monkeypatch.setattr(search, "_by_cases", searched)
    nested = [pos(T - i) - pos(T - 2 * i) for i in range(1, 9)]  # true of every size
    facts = Facts(known=nested)
    assert not facts.is_nonnegative(2 * pos(T - 2) - pos(T - 1) - pos(T - 4))
    facts.add([T // 2 - pos(T - 4) - 1])  # T is 2 to 6
    assert facts.is_nonnegative(6 - T)
    assert not facts.is_nonnegative(5 - T)
    facts = Facts(known=[A, T - 1 - A, T - U - 2])  # others than T are 0
    assert not facts.is_nonnegative(pos(T - 4) - pos(T - 3))


def pieces(k: int) -> list[tuple[Facts, Term]]:
    """Return terms to prove with their cases in any order, which depends on k."""
    t, u = size(f"prove.t{k}"), size(f"prove.u{k}")
    a = element(f"prove.a{k}", (), name="a")
    x = [element(f"prove.x{k}", (i,), name="x") for i in range(6)]
    inner, outer = pos(a + k - t), pos(a + k)
    lost = u - t + pos(t - k) - pos(u - t)
    chosen = pos(x[0]) + sum(
        (step(X - i) * (pos(x[i]) - pos(x[i - 1])) for i in range(1, 6)), start=term(0)
    )
    return [
        (Facts(), outer - inner - pos(a + k - inner)),
        (Facts(known=[pos(t - k) - pos(t - k - 1)]), lost + pos(pos(t - k - 1) - lost)),
        (Facts({0: term(6)}), chosen),
    ]


@pytest.mark.parametrize("which", range(3))
def test_the_order_of_cases_makes_no_difference(which: int) -> None:
    for k in range(1, 25):
        facts, t = pieces(k)[which]
        assert facts.is_nonnegative(t), f"{t} >= 0, the {k}th"
        assert not facts.is_nonnegative(t - 1), f"{t} >= 1, the {k}th"


def test_what_is_assumed_stays_below() -> None:
    facts = Facts(known=[T - 1])
    inner = facts.assuming(T - 5)
    assert inner.is_nonnegative(T - 5)
    assert not facts.is_nonnegative(T - 5)
    facts.add([U - 2])
    assert inner.is_nonnegative(U - 2)


def test_simplify_decides_cases() -> None:
    facts = Facts({0: T}, [T - 2])
    assert facts.simplify(maximum(T, 2)) is T
    assert facts.simplify(where(step(X - T), U, X)) is X
    assert facts.simplify(X // T) is term(0)
    assert facts.simplify(pos(1 - T)) is term(0)
    assert isinstance(next(iter(facts.simplify(U).atoms)), Symbol)


def test_what_a_minimum_says_of_its_parts() -> None:
    n, m = size("n"), size("m")
    facts = Facts(known=[minimum(n, m + 1) - 1])
    assert facts.is_nonnegative(n - 1)
    assert not facts.is_nonnegative(m - 1)
    assert not Facts(known=[maximum(n, m) - 1]).is_nonnegative(n - 1)


def _hit(flags: list[Term]) -> Term:
    """Return whether one of some flags is set, as ReduceMax computes it: a chain of maxima."""
    found = flags[0]
    for flag in flags[1:]:
        found = maximum(found, flag)
    return found


def test_a_term_of_many_cases_is_refuted_without_a_search() -> None:
    """Whether one of eight unknown positions is 3 is known of no dense write."""
    indices = [element("prove.i", [term(k)], name="i", low=0, high=9) for k in range(8)]
    facts = Facts()
    before = budget().price
    assert not facts.is_nonnegative(_hit([equals(i, 3) for i in indices]) - 1)
    assert budget().price - before < 100


def test_a_quotient_by_what_may_be_zero_hides_no_other_one() -> None:
    """No bounds of the first quotient follow from its divisor, but those of the second do."""
    quotient = T // U
    for n in T, U, size("prove.n"):
        assert Facts(known=[U - 1]).is_nonnegative(quotient + n - 2 * (n // 3))


def test_a_size_above_one_with_a_remainder_is_not_refuted_by_its_bound() -> None:
    """If u is even, but not a multiple of four, its least number is 2, and not 0."""
    facts = Facts(known=[T - U])
    (u,) = U.leaves()
    facts.learn_residue(u, 4, 2)
    assert facts.is_nonnegative(T - 2)


def test_a_term_without_elements_is_looked_at_once() -> None:
    """What is known of the elements of another tensor does not make it more expensive."""
    facts, n = [Facts(), Facts()], size("prove.once")
    (leaf,) = A.leaves()
    facts[1].learn_elements(leaf.origin, Elements((Elements.ANY,)))
    prices = []
    for each in facts:
        before = budget().price
        assert not each.is_nonnegative(maximum(n - 2, T) - U)
        prices.append(budget().price - before)
    assert prices[0] == prices[1]


def test_numbers_are_drawn_within_the_bounds_that_are_known() -> None:
    """Of points beyond them, none would satisfy the facts about eight small sizes."""
    sizes = [size(f"prove.small{k}") for k in range(8)]
    facts = Facts(known=[2 - n for n in sizes])
    total = sum(sizes, term(0))
    before = budget().price
    assert not facts.is_nonnegative(maximum(total, 3) - maximum(total - 1, 3) - 1)
    assert budget().price - before < 100


@pytest.mark.parametrize(("low", "high"), [(5, 4), (-(2**63), 2**63 - 1)])
def test_bounds_that_no_point_can_have(low: int, high: int) -> None:
    """Facts that contradict each other, and bounds at the ends of int64."""
    facts = Facts(known=[A - low, high - A])
    facts.is_nonnegative(maximum(A, 3) - maximum(A, 4))
    assert facts.is_nonnegative(maximum(A, 4) - maximum(A, 3))


def test_an_element_of_uint64_is_drawn() -> None:
    """It has more values than int64 has numbers."""
    large = element("prove.large", (), name="u", low=0, high=2**64 - 1)
    assert not Facts().is_nonnegative(maximum(large, 3) - maximum(large, 4))
    assert Facts().is_nonnegative(maximum(large, 4) - maximum(large, 3))
