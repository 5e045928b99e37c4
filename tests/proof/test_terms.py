"""The terms of the judge: normal forms, intervals and the encoding for Z3 keep every value."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.proof.core import arithmetic, logic
from onnx_scatterx.proof.core.encoder import Encoder
from onnx_scatterx.proof.core.lookups import StoredArray, tabulated
from onnx_scatterx.proof.core.terms import Term, new_table, substitute, variable, walk
from onnx_scatterx.proof.core.types import constant, range_of, wrapped
from tests.helpers.support import f32


def drawn(depth: int, rng: random.Random, variables: Sequence[Term]) -> Term:
    """Draw an integer term."""
    if depth == 0:
        return rng.choice([*variables, arithmetic.integer(rng.randint(-4, 4))])
    a, b, c = (drawn(depth - 1, rng, variables) for _ in range(3))
    divisor = arithmetic.integer(rng.randint(1, 4))
    ways = (
        lambda: arithmetic.add(a, b, c),
        lambda: arithmetic.multiply(a, b),
        lambda: arithmetic.subtract(a, b),
        lambda: arithmetic.minimum(a, b),
        lambda: arithmetic.maximum(a, b),
        lambda: arithmetic.divide(a, divisor),
        lambda: arithmetic.modulo(a, divisor),
        lambda: arithmetic.divide(a, b),
        lambda: arithmetic.modulo(a, b),
        lambda: wrapped(a, "int8"),
        lambda: logic.choose(logic.at_most(a, b), b, c),
        lambda: logic.choose(logic.equal(a, b), b, c),
        lambda: logic.choose(logic.both(logic.at_most(a, b), logic.below(b, c)), a, c),
        lambda: logic.choose(logic.either(logic.at_most(a, b), logic.equal(b, c)), a, c),
    )
    return ways[rng.randrange(len(ways))]()


def value(term: Term, known: Mapping[Term, int]) -> int:
    """Return the value of a term at some values of its variables, by the definitions."""
    if term in known:
        return known[term]
    if term.op == "choose":
        return value(term.args[1 if true(term.args[0], known) else 2], known)
    args = [value(a, known) for a in term.args]
    match term.op:
        case "integer":
            return int(term.data)
        case "polynomial":
            inside = dict(zip(term.args, args, strict=True))
            products = (int(np.prod([inside[a] for a in m], dtype=object)) for m, _ in term.data)
            return sum(p * c for p, (_, c) in zip(products, term.data, strict=True))
        case "minimum":
            return min(args)
        case "maximum":
            return max(args)
        case "divide":
            return args[0] // args[1] if args[1] > 0 else 0
        case "modulo":
            return args[0] % args[1] if args[1] > 0 else 0
        case "wrap":
            low, high = range_of(term.data)
            return (args[0] - low) % (high - low + 1) + low
    raise AssertionError(term.op)


def true(term: Term, known: Mapping[Term, int]) -> bool:
    """Return whether a condition holds."""
    match term.op:
        case "true" | "false":
            return term.op == "true"
        case "at most 0":
            return value(term.args[0], known) <= 0
        case "equals 0":
            return value(term.args[0], known) == 0
        case "not":
            return not true(term.args[0], known)
        case "and":
            return all(true(a, known) for a in term.args)
    raise AssertionError(term.op)


def variables(rng: random.Random) -> dict[Term, int]:
    """Return a size, a coordinate below it and a number, with values."""
    size = variable("size", 0, 6)
    n = rng.randint(1, 6)
    below, signed = variable("below", limit=size), variable("signed", -5, 5)
    return {size: n, below: rng.randrange(n), signed: rng.randint(-5, 5)}


@given(st.integers(0, 2**32))
def test_terms_have_the_value_of_their_parts(seed: int) -> None:
    """A simplified term has the same value as the term computed with numbers."""
    rng = random.Random(seed)
    known = variables(rng)
    state = rng.getstate()
    made = drawn(3, rng, list(known))
    rng.setstate(state)
    numbers = {t: arithmetic.integer(n) for t, n in known.items()}
    expected = drawn(3, rng, list(numbers.values())).data
    assert value(made, known) == expected
    assert made.low <= expected <= made.high
    assert arithmetic.lowest(made) <= expected <= arithmetic.highest(made)
    assert substitute(made, numbers).data == expected


@given(st.integers(0, 2**32))
def test_z3_gets_the_same_value(seed: int) -> None:
    rng = random.Random(seed)
    known = variables(rng)
    made = drawn(2, rng, list(known))
    encode = Encoder()
    solver = z3.Solver(ctx=encode.context)
    solver.add(*(encode(logic.equal(t, arithmetic.integer(n))) for t, n in known.items()))
    claim = logic.equal(made, arithmetic.integer(value(made, known)))
    for part in walk([claim, *known]):
        solver.add(*encode.definition(part))
    assert solver.check() == z3.sat
    wraps = any(part.op == "wrap" for part in walk([claim]))
    if not wraps and claim is not logic.TRUE:  # of wrap, Z3 knows only the range
        solver.add(z3.Not(encode(claim)))
        assert solver.check() == z3.unsat


@given(st.integers(0, 2**32))
def test_a_table_of_a_term_has_its_value_at_every_place(seed: int) -> None:
    rng = random.Random(seed)
    variables = [variable((seed, k), limit=arithmetic.integer(3 + k)) for k in range(2)]
    grid = dict(zip(variables, np.indices((3, 4)).astype(object), strict=True))
    term = drawn(rng.randint(0, 3), rng, variables)
    table = tabulated(term, grid)
    if table is not None:
        for place, found in np.ndenumerate(np.broadcast_to(table, (3, 4))):
            assert found == value(term, dict(zip(variables, place, strict=True)))


def test_quotients_of_coordinates_have_a_table() -> None:
    point = variable("p", limit=arithmetic.integer(7))
    table = tabulated(arithmetic.divide(point, arithmetic.integer(2)), {point: np.arange(7)})
    assert table is not None
    assert table.tolist() == [0, 0, 1, 1, 2, 2, 3]


def test_what_a_sum_and_a_condition_are_to_themselves() -> None:
    total = arithmetic.add(variable("n", 1, 6), variable("m", 1, 6))
    assert arithmetic.divide(total, total) is arithmetic.ONE
    assert arithmetic.modulo(total, total) is arithmetic.ZERO
    is_small = logic.at_most(total, arithmetic.integer(5))
    assert logic.both(is_small, logic.negation(is_small)) is logic.FALSE
    assert logic.either(is_small, logic.negation(is_small)) is logic.TRUE


KINDS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "int64": lambda rng, shape: rng.integers(-2, 2, shape),
    "float32": lambda rng, shape: rng.choice(f32([0, -0.0, np.nan, 1]), shape),
    "bool": lambda rng, shape: rng.integers(0, 2, shape) > 0,
    "complex128": lambda rng, shape: rng.choice([0j, 1j, complex(-0.0, 0)], shape),
    "bfloat16": lambda rng, shape: rng.integers(0, 2, shape).astype(ml_dtypes.bfloat16),
    "string": lambda rng, shape: rng.choice(np.array(["a", b"b\0", "b"], object), shape),
}


@pytest.mark.parametrize("dtype", KINDS)
def test_elements_of_a_constant(dtype: str) -> None:
    """At every place, by known coordinates and others, along axes that change or do not."""
    number = arithmetic.integer
    rng = np.random.default_rng(0)
    for _ in range(60):
        shape = tuple(rng.choice([1, 1, 2, 3, 4], rng.integers(1, 4)).tolist())
        array = np.asarray(KINDS[dtype](rng, shape))
        if rng.integers(2):
            array = np.broadcast_to(array.take([0], 0), shape)
        with new_table():
            at = [variable(("at", k), limit=number(n)) for k, n in enumerate(shape)]
            known = [number(int(rng.integers(n))) for n in shape]
            asked = [c if rng.integers(2) else k for c, k in zip(at, known, strict=True)]
            element = StoredArray(array, dtype).at(asked)
            for place in np.ndindex(*shape):
                values = dict(zip(at, map(number, place), strict=True))
                if all(values.get(c, c) is v for c, v in zip(asked, values.values(), strict=True)):
                    element_there: Any = array[place]
                    expected = constant(element_there, dtype)
                    assert substitute(element, values) is expected, (array, asked, place)
