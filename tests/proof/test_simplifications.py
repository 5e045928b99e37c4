"""Z3 confirms each simplification of terms: before = after, for all values of the unknowns.

A random expression is built twice: as a term, by the functions that simplify, and in Z3's language,
by the definitions. Z3 must find no values for which the two differ. So arithmetic, division, logic,
reshaping and lookups need not be trusted.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import z3

from onnx_scatterx.proof.core import arithmetic, logic, lookups, tensor
from onnx_scatterx.proof.core.encoder import Encoder
from onnx_scatterx.proof.core.terms import Term, new_table, substitute, variable, walk
from onnx_scatterx.proof.core.types import range_of, wrapped
from onnx_scatterx.proof.operators import elementwise

Pair = tuple[Term, Any]
"""A term, and the same in Z3's language, not simplified."""

WORK = 3_000_000
N, C, S = z3.Int("N"), z3.Int("C"), z3.Int("S")
FACTS = [N >= 0, N <= 7, C >= 0, C < N, S >= -9, S <= 9]


def unknowns() -> list[Pair]:
    """Return a size, a coordinate below it, and a signed number."""
    size = variable("N", 0, 7)
    return [(size, N), (variable("C", limit=size), C), (variable("S", -9, 9), S)]


def whole(a: Any, b: Any) -> Any:
    return z3.If(b > 0, a / b, 0)


def rest(a: Any, b: Any) -> Any:
    return z3.If(b > 0, a % b, 0)


def wrap(a: Any, dtype: str) -> Any:
    low, high = range_of(dtype)
    return (a - low) % (high - low + 1) + low


def table(array: np.ndarray, index: Any) -> Any:
    made = z3.IntVal(int(array[-1]))
    for i in reversed(range(len(array) - 1)):
        made = z3.If(index <= i, int(array[i]), made)
    return made


def toward_zero(a: Any, b: Any) -> Any:
    size = z3.If(a < 0, -a, a) / z3.If(b < 0, -b, b)
    return z3.If((a < 0) == (b < 0), size, -size)


def like_divisor(a: Any, b: Any) -> Any:
    positive = a % z3.If(b < 0, -b, b)
    return z3.If(z3.And(b < 0, positive != 0), positive + b, positive)


def condition(depth: int, rng: random.Random, known: Sequence[Pair]) -> Pair:
    """Draw a condition."""
    (a, x), (b, y) = (number(depth - 1, rng, known) for _ in range(2))
    ways: tuple[Callable[[], Pair], ...] = (
        lambda: (logic.at_most(a, b), x <= y),
        lambda: (logic.below(a, b), x < y),
        lambda: (logic.equal(a, b), x == y),
        lambda: (logic.as_condition(a), x != 0),
    )
    if depth > 1:
        (p, u), (q, v) = (condition(depth - 1, rng, known) for _ in range(2))
        ways += (
            lambda: (logic.negation(p), z3.Not(u)),
            lambda: (logic.both(p, q), z3.And(u, v)),
            lambda: (logic.either(p, q), z3.Or(u, v)),
            lambda: (logic.implies(p, q), z3.Implies(u, v)),
            lambda: (logic.equal(p, q), u == v),
            lambda: (logic.choose(p, q, logic.negation(q)), z3.If(u, v, z3.Not(v))),
        )
    return rng.choice(ways)()


def number(depth: int, rng: random.Random, known: Sequence[Pair]) -> Pair:
    """Draw an integer."""
    if depth <= 0:
        n = rng.randint(-4, 4)
        return rng.choice([*known, (arithmetic.integer(n), z3.IntVal(n))])
    (a, x), (b, y) = (number(depth - 1, rng, known) for _ in range(2))
    k = rng.choice([1, 2, 3, 4])
    array = rng.choice([[3, -1, 4], [0, 1, 2, 3], [5, 5, 5], [2**63 - 1, -(2**63)]])
    column = np.array(array, np.int64)
    inside = arithmetic.minimum(
        arithmetic.maximum(a, arithmetic.ZERO), arithmetic.integer(len(array) - 1)
    )
    index = z3.If(x < 0, 0, z3.If(x > len(array) - 1, len(array) - 1, x))
    dtype = rng.choice(["int8", "uint8"])
    p, u = condition(depth, rng, known)
    ways: tuple[Callable[[], Pair], ...] = (
        lambda: (arithmetic.add(a, b), x + y),
        lambda: (arithmetic.subtract(a, b), x - y),
        lambda: (arithmetic.multiply(a, b), x * y),
        lambda: (arithmetic.scale(a, -k), -k * x),
        lambda: (arithmetic.minimum(a, b), z3.If(x < y, x, y)),
        lambda: (arithmetic.maximum(a, b), z3.If(x > y, x, y)),
        lambda: (arithmetic.divide(a, arithmetic.integer(k)), whole(x, k)),
        lambda: (arithmetic.modulo(a, arithmetic.integer(k)), rest(x, k)),
        lambda: (arithmetic.divide(a, b), whole(x, y)),
        lambda: (arithmetic.modulo(a, b), rest(x, y)),
        lambda: (elementwise.quotient(a, arithmetic.integer(-k)), toward_zero(x, z3.IntVal(-k))),
        lambda: (elementwise.remainder(a, arithmetic.integer(-k)), like_divisor(x, z3.IntVal(-k))),
        lambda: (wrapped(a, dtype), wrap(x, dtype)),
        lambda: (logic.choose(p, a, b), z3.If(u, x, y)),
        lambda: (logic.from_condition(p), z3.If(u, 1, 0)),
        lambda: (lookups.StoredArray(column, "int64").at([inside]), table(column, index)),
    )
    return rng.choice(ways)()


def meaning(term: Term, known: dict[Term, Any]) -> Any:
    """Return a term in Z3's language, by the definitions."""
    if term in known:
        return known[term]
    args = [meaning(a, known) for a in term.args]
    match term.op:
        case "integer":
            made = z3.IntVal(term.data)
        case "true" | "false":
            made = z3.BoolVal(term.op == "true")
        case "polynomial":
            made = z3.IntVal(0)
            for monomial, coefficient in term.data:
                part = z3.IntVal(coefficient)
                for atom in monomial:
                    part = part * meaning(atom, known)
                made = made + part
        case "minimum":
            made = z3.If(args[0] < args[1], *args)
        case "maximum":
            made = z3.If(args[0] > args[1], *args)
        case "divide":
            made = whole(*args)
        case "modulo":
            made = rest(*args)
        case "wrap":
            made = wrap(args[0], term.data)
        case "lookup":
            made = table(term.data.array, args[0])
        case "at most 0":
            made = args[0] <= 0
        case "equals 0":
            made = args[0] == 0
        case "same":
            made = args[0] == args[1]
        case "not":
            made = z3.Not(args[0])
        case "and":
            made = z3.And(*args)
        case "choose":
            made = z3.If(*args)
        case _:
            raise AssertionError(term.op)
    known[term] = made
    return made


def refutes(claim: Any, *facts: Any) -> bool:
    """Return whether Z3 finds values for which a claim is wrong."""
    solver = z3.Solver()
    solver.set("rlimit", WORK)
    solver.add(*FACTS, *facts, z3.Not(claim))
    return bool(solver.check() == z3.sat)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(150))
def test_a_simplified_term_is_the_term(seed: int) -> None:
    rng = random.Random(seed)
    with new_table():
        known = unknowns()
        depth = 2 if seed % 3 else 3
        term, before = (condition if seed % 4 == 0 else number)(depth, rng, known)
        after = meaning(term, dict(known))
        assert not refutes(before == after), term
        if term.sort == "integer":
            assert not refutes(z3.And(after >= term.low, after <= term.high)), term
            low, high = arithmetic.lowest(term), arithmetic.highest(term)
            assert not refutes(z3.And(after >= low, after <= high)), term


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(40))
def test_a_term_with_replaced_parts_is_the_term_of_these_parts(seed: int) -> None:
    rng = random.Random(seed)
    with new_table():
        known = unknowns()
        term, _ = number(2, rng, known)
        new, value = number(1, rng, known[:2])
        replaced = substitute(term, {known[2][0]: new})
        expected = meaning(term, {known[0][0]: N, known[1][0]: C, known[2][0]: value})
        in_range = z3.And(value >= -9, value <= 9)  # of the number that is replaced
        assert not refutes(meaning(replaced, dict(known)) == expected, in_range)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(30))
def test_a_reshaped_coordinate_is_at_the_same_place(seed: int) -> None:
    """The place of an element in row-major order is the same in both shapes."""
    rng = random.Random(seed)
    with new_table():
        size = variable("N", 0, 7)
        n = arithmetic.integer
        shapes = rng.sample(
            [
                [size, n(6)],
                [size, n(2), n(3)],
                [arithmetic.multiply(size, n(2)), n(3)],
                [n(6), size],
                [n(2), arithmetic.multiply(size, n(3))],
                [arithmetic.multiply(size, n(6))],
                [n(1), size, n(6), n(1)],
            ],
            2,
        )
        one, other = (tuple(shape) for shape in shapes)
        at = tuple(variable(("at", k), limit=d) for k, d in enumerate(one))
        there = tensor.remapped(one, other)(at)
        names = {c: z3.Int(f"at{k}") for k, c in enumerate(at)} | {size: N}
        facts = [
            z3.And(names[c] >= 0, names[c] < meaning(d, names))
            for c, d in zip(at, one, strict=True)
        ]

        def place(where: Sequence[Term], dims: Sequence[Term]) -> Any:
            made = z3.IntVal(0)
            for c, d in zip(where, dims, strict=True):
                made = made * meaning(d, names) + meaning(c, names)
            return made

        assert not refutes(place(at, one) == place(there, other), *facts)
        for c, d in zip(there, other, strict=True):
            inside = z3.And(meaning(c, names) >= 0, meaning(c, names) < meaning(d, names))
            assert not refutes(inside, *facts)


def test_a_wrong_simplification_is_found() -> None:
    """What the tests above would say of a division that rounds towards zero."""
    assert refutes(whole(S, 2) == toward_zero(S, z3.IntVal(2)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(60))
def test_z3_is_asked_about_what_a_term_means(seed: int) -> None:
    """At some values of the unknowns, what Z3 is told of a term allows the value of the term."""
    rng = random.Random(seed)
    with new_table():
        known = unknowns()
        term, _ = (condition if seed % 4 == 0 else number)(2, rng, known)
        size = rng.randint(1, 7)
        values = dict(zip((N, C, S), (size, rng.randrange(size), rng.randint(-9, 9)), strict=True))
        pairs = [(name, z3.IntVal(value)) for name, value in values.items()]
        expected = z3.simplify(z3.substitute(meaning(term, dict(known)), *pairs))
        encode = Encoder()
        solver = z3.SimpleSolver(ctx=encode.context)
        solver.add(encode(term) == expected.translate(encode.context))
        for unknown, name in known:
            solver.add(encode(unknown) == values[name])
        for part in walk([term, *(unknown for unknown, _ in known)]):
            solver.add(*encode.definition(part))
        assert solver.check() == z3.sat, term
