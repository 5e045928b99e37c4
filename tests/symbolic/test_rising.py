"""Terms that never fall, against their numbers."""

import itertools
import random

import numpy as np
import pytest

from onnx_scatterx.optimizer.symbolic.constraints import Elements
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.search import never_falls
from onnx_scatterx.optimizer.symbolic.terms import (
    Term,
    coord,
    element,
    equals,
    floor_div,
    pos,
    step,
    term,
)

EXTENTS = 4, 3
NAMES = "free", "rows", "first"  # in no order; each row in its order; the first row


def _facts() -> Facts:
    facts = Facts({d: term(n) for d, n in enumerate(EXTENTS)})
    facts.learn_elements("rows", Elements(ordered=True))
    facts.learn_elements("first", Elements(ordered=True, row=0))
    return facts


def _term(rng: random.Random, depth: int) -> Term:
    x, y = coord(0), coord(1)
    if depth == 0:
        return rng.choice([x, x, y, term(rng.randint(-3, 3)), 3 - x, equals(x, 2)])
    inner = _term(rng, depth - 1)
    match rng.randrange(6):
        case 0:
            return rng.choice([2, 1, -1]) * inner + rng.choice([1, -1]) * _term(rng, depth - 1)
        case 1:
            return pos(inner)
        case 2:
            return step(inner)
        case 3:
            return floor_div(inner, rng.choice([1, 2, 3]))
        case 4:
            return inner * rng.choice([y, x, term(2)])
        case _:
            row = rng.choice([term(0), term(0), term(1), y, equals(x, 1)])
            return element(name := rng.choice(NAMES), [row, inner], name=name)


def _number(t: Term, tables: dict[str, np.ndarray], at: tuple[int, ...]) -> int:
    def read(leaf: object, parts: list[int]) -> int:
        table = tables[str(leaf).partition("[")[0]]
        return int(table[tuple(np.clip(parts, 0, np.array(table.shape) - 1))])

    return int(t.evaluate(read, at.__getitem__))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_said_never_to_fall_does_not(seed: int) -> None:
    rng, facts, found = random.Random(seed), _facts(), 0
    numbers = np.random.default_rng(seed)
    tables = {name: numbers.integers(-3, 4, (3, 12)) for name in NAMES}
    tables["rows"].sort(axis=-1)
    tables["first"][0].sort()
    for _ in range(300):
        t = _term(rng, rng.randint(0, 3))
        for dim in (0, 1):
            if dim not in t.coords or not never_falls(t, dim, facts):
                continue
            found += 1
            for at in itertools.product(*map(range, EXTENTS)):
                after = tuple(i + (d == dim) for d, i in enumerate(at))
                if after[dim] < EXTENTS[dim]:
                    assert _number(t, tables, after) >= _number(t, tables, at), f"{t} along {dim}"
    assert found > 20


@pytest.mark.parametrize(
    ("name", "row", "falls"), [("rows", 1, False), ("first", 0, False), ("first", 1, True)]
)
def test_rows_of_a_table(name: str, row: int, falls: bool) -> None:
    e = element(name, [term(row), coord(0)], name=name)
    assert never_falls(e, 0, _facts()) is not falls
    assert never_falls(e.at({0: floor_div(coord(0), 2)}), 0, _facts()) is not falls
    assert not never_falls(-e, 0, _facts())
