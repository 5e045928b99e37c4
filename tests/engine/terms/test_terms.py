"""Terms against plain Python: what the constructors build has the value that it should have."""

import gc
import math
import random
import weakref
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.engine.budget.spending import TooLargeError
from onnx_scatterx.engine.terms import (
    Indicator,
    Number,
    PositivePart,
    Symbol,
    Term,
    coord,
    element,
    equals,
    maximum,
    minimum,
    size,
    step,
    term,
    where,
)
from onnx_scatterx.engine.terms.cases import pos
from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols
from onnx_scatterx.engine.terms.symbols import IndexVar, lookup
from tests.helpers.examples import examples
from tests.helpers.limited import limited

Env: TypeAlias = Mapping[str, int]
Plain: TypeAlias = Callable[[Env], int]
Built: TypeAlias = tuple[Term, Plain]

N, M, S = size("terms.n"), size("terms.m"), element("terms.s", (), name="s")
X, Y = coord(0), coord(1)
ARRAYS = [
    np.array([3, 1, 4, 1, 5]),
    np.array([[0, 1], [2, 3], [4, 5]]),
    np.array([[7, 7, 7], [2, 2, 2]], np.int32),
    np.array([[1, 0], [0, 1]], bool),
]


def value(t: Term, env: Env) -> int:
    """Evaluate a term with its own method."""
    names = {N: "n", M: "m", S: "s"}
    found = t.evaluate(lambda leaf, _: env[names[term(leaf)]], lambda d: env["xy"[d]])
    return int(found)


def draw(rng: random.Random, depth: int) -> Built:
    """Build a random term, and the same in plain Python."""
    if depth == 0 or rng.random() < 0.15:
        number = rng.choice([-7, -2, -1, 0, 1, 2, 3, 6])
        leaves: list[Built] = [
            (N, lambda e: e["n"]),
            (M, lambda e: e["m"]),
            (S, lambda e: e["s"]),
            (X, lambda e: e["x"]),
            (Y, lambda e: e["y"]),
            (term(number), lambda e: number),
        ]
        return rng.choice(leaves)
    (a, fa), (b, fb), (c, fc) = (draw(rng, depth - 1) for _ in range(3))
    d = rng.choice([-3, -1, 1, 2, 3, 4, 6])
    array = rng.choice(ARRAYS)

    def looked_up(e: Env) -> int:
        inside = (min(max(f(e), 0), n - 1) for f, n in zip((fa, fb), array.shape, strict=False))
        return int(array[tuple(inside)])

    index = [minimum(maximum(t, 0), n - 1) for t, n in zip((a, b), array.shape, strict=False)]
    kinds: list[Callable[[], Built]] = [
        lambda: (a + b, lambda e: fa(e) + fb(e)),
        lambda: (a - d * b, lambda e: fa(e) - d * fb(e)),
        lambda: (a * b, lambda e: fa(e) * fb(e)),
        lambda: (pos(a), lambda e: max(fa(e), 0)),
        lambda: (step(a), lambda e: int(fa(e) >= 0)),
        lambda: (maximum(a, b), lambda e: max(fa(e), fb(e))),
        lambda: (minimum(a, b), lambda e: min(fa(e), fb(e))),
        lambda: (equals(a, b), lambda e: int(fa(e) == fb(e))),
        lambda: (where(step(c), a, b), lambda e: fa(e) if fc(e) >= 0 else fb(e)),
        lambda: (a // d, lambda e: fa(e) // d),
        lambda: (a % d, lambda e: fa(e) % d),
        lambda: (a // (pos(b) + 1), lambda e: fa(e) // (max(fb(e), 0) + 1)),
        lambda: (a % (N + 2), lambda e: fa(e) % (e["n"] + 2)),
        lambda: ((a * (M + 1) + b * (M + 1)) // (M + 1), lambda e: fa(e) + fb(e)),
        lambda: (lookup(array, index), looked_up),
    ]
    return rng.choice(kinds)()


ENVS = st.fixed_dictionaries(
    {
        "n": st.sampled_from([0, 1, 2, 3, 7, 30]),
        "m": st.sampled_from([0, 1, 2, 5]),
        "s": st.integers(-9, 9),
        "x": st.integers(0, 6),
        "y": st.integers(0, 6),
    }
)
RNG = st.randoms(use_true_random=False)


@examples(200)
@given(RNG, st.lists(ENVS, min_size=4, max_size=8))
def test_values_and_intervals(rng: random.Random, envs: list[Env]) -> None:
    t, plain = draw(rng, 4)
    low, high = t.interval()
    for env in envs:
        assert value(t, env) == plain(env), t
        assert low <= plain(env) <= high, t


@examples(100)
@given(RNG, ENVS)
def test_replacing_is_composition(rng: random.Random, env: dict[str, int]) -> None:
    t, plain = draw(rng, 3)
    (a, fa), (b, fb) = draw(rng, 2), draw(rng, 2)
    inside = {**env, "x": fa(env), "y": fb(env)}
    if inside["x"] >= 0 and inside["y"] >= 0:  # a coordinate is never negative
        assert value(t.at({0: a, 1: b}), env) == plain(inside)
    (leaf,) = S.atoms
    assert value(t.replace({leaf: a}), env) == plain({**env, "s": fa(env)})


@examples(100)
@given(RNG, ENVS)
def test_split(rng: random.Random, env: Env) -> None:
    t, plain = draw(rng, 4)
    for atom in t.atoms:
        slope, rest = t.split(atom)
        assert slope * term(atom) + rest is t
        assert value(slope, env) * value(term(atom), env) + value(rest, env) == plain(env)


@examples(100)
@given(RNG, ENVS)
def test_what_is_asked_of_a_term(rng: random.Random, env: Env) -> None:
    t, plain = draw(rng, 4)
    atoms = t.all_atoms()
    assert t.leaves() == {a for a in atoms if isinstance(a, Symbol)}
    assert t.coords == {a.dim for a in atoms if isinstance(a, IndexVar)}
    assert t.piecewise == any(a.decidable for a in atoms)
    if t.constant is not None:
        assert plain(env) == t.constant
    zero = {**env, "n": 0, "m": 0, "s": 0, "x": 0, "y": 0}
    if not t.piecewise and not any(a.parts for a in atoms):
        assert t.offset == plain(zero)


@examples(100)
@given(RNG)
def test_ring_laws_give_the_same_object(rng: random.Random) -> None:
    (a, _), (b, _), (c, _) = (draw(rng, 3) for _ in range(3))
    assert a + b is b + a
    assert (a + b) + c is a + (b + c)
    assert a * b is b * a
    assert a * (b + c) is a * b + a * c
    assert a - a is term(0)
    assert 0 - (0 - a) is a
    assert a * 1 is a
    assert 0 * a is term(0)
    assert sum([a, a, a], start=term(0)) is 3 * a


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (maximum(N, 3) + minimum(N, 3), N + 3),
        (pos(N - 5) - pos(5 - N), N - 5),
        (pos(3 * N - 6), 3 * pos(N - 2)),
        (pos(pos(N - 2) + 1 - N), pos(1 - N)),
        (pos(pos(N - 2) - M), pos(N - M - 2)),
        (pos(pos(N - 4) - N), term(0)),
        (pos(pos(4 - N) + N - 3), pos(4 - N) + N - 3),
        (pos(M + 4 - pos(4 - N)), M + 4 - pos(4 - N)),
        (pos(4 - pos(N + 4 - M)), pos(4 - pos(N + 4 - M))),
        (pos(2 - pos(N + 3)), term(0)),
        (step(2 * N - 3), step(N - 2)),
        (step(3 - N), 1 - step(N - 4)),
        (step(N - 4) * step(N - 4), step(N - 4)),
        ((4 * N + 2 * M + 1) // 2, 2 * N + M),
        (N // -2, -N // 2),
        (N // -1, -N),
        ((N // 2) // 3, N // 6),
        ((N + 5) // 2, (N + 1) // 2 + 2),
        ((2 * N) // 4, N // 2),
        ((N * M + M) // M, N + 1),
        ((6 * N + 5) % 3, term(2)),
        ((N + 4) % 4, N % 4),
        (7 // term(-2), term(-4)),
        (7 % term(-2), term(-1)),
        (-7 % (N + 1), term(-7) % (N + 1)),
        (pos(N), N),
        (step(N), term(1)),
        (equals(N, -1), term(0)),
        (where(term(1), N, M), N),
        (where(step(N - 1), M, M), M),
        (lookup(np.arange(6).reshape(2, 3), (X, Y)), 3 * X + Y),
        (lookup(np.array([[5, 5], [7, 7]]), (X, Y)), 2 * X + 5),
        (lookup(np.array([9, 0, 4]), [1]), term(0)),
        (lookup(np.array([[1, 2, 5], [1, 2, 5]]), (X, Y)), lookup(np.array([1, 2, 5]), [Y])),
        (lookup(np.array([4, 0, 1]), [X]), lookup(np.array([4, 0, 1], np.int32), [X])),
    ],
)
def test_equal_functions_are_one_object(one: Number, other: Number) -> None:
    assert one is other, f"{one} and {other}"


def test_maxima_of_maxima() -> None:
    rng = random.Random(7)

    def linear() -> Term:
        return rng.randint(-2, 2) * N + rng.randint(-1, 1) * M + rng.randint(-4, 4)

    for _ in range(500):
        t = (
            linear()
            + rng.choice((-2, -1, 1, 2)) * pos(linear())
            + rng.randint(-1, 1) * pos(linear())
        )
        found = pos(t)
        for n, m in ((n, m) for n in range(6) for m in (0, 1, 5)):
            values = {"terms.n": n, "terms.m": m}
            expected = max(int(t.evaluate(lambda leaf, _, v=values: v[leaf.name], int)), 0)
            assert found.evaluate(lambda leaf, _, v=values: v[leaf.name], int) == expected, t


def test_tables_at_the_ends_of_int64() -> None:
    ends = np.array([-(2**63), 2**63 - 1, 0])
    t = lookup(ends, [X])
    assert np.array_equal(t.evaluate(lambda *_: 0, lambda _: np.arange(3)), ends)
    assert t.interval() == (-(2**63), 2**63 - 1)


def test_tables_are_not_read_outside() -> None:
    t = lookup(np.array([4, 0, 1]), [X])
    pieces = where(step(2 - X), t, 9)
    found = pieces.evaluate(lambda *_: 0, lambda _: np.arange(5))
    assert found.tolist() == [4, 0, 1, 9, 9]
    assert lookup(np.array([4, 0, 1]), [7]).constant is not None


def test_a_remainder_has_bounds() -> None:
    free = element("free", (), name="free")
    assert (free % 8 + 3 - X).interval() == (-math.inf, 10)
    assert (5 - 2 * ((free + X) % 8)).interval() == (-9, 5)
    assert (free % (N + 2)).interval() == (0, math.inf)
    assert (free - 7 * (free // 8)).interval() == (-math.inf, math.inf)


def test_intervals_are_exact_beyond_float() -> None:
    big = 2**60 + 1
    assert (N + big).interval()[0] == big
    assert (big * pos(N - 1) - big).interval()[0] == -big
    assert ((N + big) // 2).interval()[0] == big // 2
    below = element("terms.below", (), name="b", low=-9, high=-1)
    assert (below // (M + 1)).interval() == (-9, -1)


@pytest.mark.parametrize(
    ("t", "text"),
    [
        (N - 1, "terms.n - 1"),
        (-2 * N * M + X, "x0 - 2*terms.n*terms.m"),
        (pos(N - 2), "max(0, terms.n - 2)"),
        (term(0), "0"),
        (N // 2, "((terms.n) // (2))"),
    ],
)
def test_text(t: Term, text: str) -> None:
    assert sorted(str(t)) == sorted(text)


def test_sums_are_remembered_as_long_as_their_model() -> None:
    with fresh_symbols():
        n, m = size("a"), size("b")
        total = n + m
        assert n + m is total
        found = weakref.ref(total)
        del n, m, total
        assert found() is not None
    gc.collect()
    assert found() is None


def test_kinds_of_atoms() -> None:
    assert {type(a) for a in (pos(N - 1) * step(M - 1)).atoms} == {PositivePart, Indicator}


def test_sets_of_atoms_have_one_order() -> None:
    t = sum((k * size(f"terms.ordered{k}") for k in range(1, 30)), start=term(0))
    orders = [leaf.order for leaf in t.leaves()]
    assert [hash(leaf) for leaf in t.leaves()] == orders


def test_the_order_of_atoms_is_that_of_what_they_are() -> None:
    def made(first: int) -> list[int]:
        with fresh_symbols():
            n, m = size("a"), size("b")
            terms = [pos(n - m + k) for k in (-2, -1, 0, 1)]
            terms += [step(n + coord(0) - k) for k in (1, 2)]
            terms += [(lookup(np.array([3, 1, k]), [coord(1)]) + n) // m for k in (4, 8)]
            terms = terms[first:] + terms[:first]
            atoms = {a: None for t in terms for a in (t * pos(t + 5)).all_atoms()}
            return [a.order for a in sorted(atoms, key=lambda a: str(a))]

    kept = [pos(size("a") - 7) for _ in range(3)]
    assert made(0) == made(3) == made(5)
    assert len(set(made(0))) == len(made(0)), kept


def test_a_size_times_whether_there_is_one_is_the_size() -> None:
    n, p = size("n"), element("p", (), name="p")
    assert n * step(n - 1) is n
    assert n * n * step(n - 1) is n * n
    assert n * step(n - 2) is not n
    assert p * step(p - 1) is not p  # p may be negative


def test_a_sum_of_any_length_is_kept_if_nothing_in_it_is_replaced() -> None:
    total = sum((size(f"terms.part{k}") for k in range(5)), term(0))
    with limited(product_monomials=4):
        assert total.replace(dict.fromkeys(N.atoms, 1)) is total


def test_a_product_of_more_factors_than_the_limit_is_too_large() -> None:
    """They are counted before equal ones become one: so no long product is sorted."""
    both = step(N - 3) * step(M - 3)
    assert both * both is both
    with limited(degree=3):
        for other, count in (both, 4), (N * N, 4):
            with pytest.raises(TooLargeError, match=f"a product of {count} factors"):
                both * other
