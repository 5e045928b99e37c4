"""Verdicts on 10 000 random transformers, against a search over all picks.

The search knows of a transformer only its provision tensor: which component equals which
coordinate, and which is a function of which coordinates, each found by comparing every index.
"""

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from onnx_scatterx.theory import (
    Impossibility,
    Pick,
    Sliceability,
    XTransformer,
    disjoint_representation,
)

pytestmark = pytest.mark.slow

Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]
Index = tuple[int, ...]

SHAPES: list[Index] = [
    *((0,), (1,), (2,), (3,)),
    *((2, 2), (2, 3), (3, 1), (1, 2), (2, 0), (0, 1), (1, 1), (3, 2), (1, 3), (3, 3)),
    *((2, 2, 2), (2, 1, 2), (1, 2, 2), (2, 2, 1), (1, 1, 2), (2, 0, 2), (2, 3, 2), (1, 2, 1)),
    *((3, 2, 2), (2, 2, 3), (1, 2, 3)),
]
EACH = {1: 100, 2: 150, 3: 150}  # transformers of a shape into data of a rank
SIZE = 4


def coordinates(shape: Index) -> Integers:
    """Every coordinate at every index."""
    return np.indices(shape, np.int64).reshape(len(shape), *shape)


def drawn(shape: Index, rank: int, rng: np.random.Generator) -> Integers:
    """Provision tensors: coordinates, and what is nearly one, on every axis."""
    e = np.zeros((EACH[rank], *shape, rank), np.int64)
    grid = coordinates(shape)
    kinds = rng.choice(7, (len(e), rank), p=(0.45, 0.15, 0.1, 0.1, 0.06, 0.07, 0.07))
    for (t, c), kind in np.ndenumerate(kinds):
        column = e[t, ..., c]
        if kind == 6:
            column[...] = rng.integers(0, SIZE, shape)
            continue
        x, y = grid[rng.integers(len(shape), size=2)]
        column[...] = (x, 0, 3, x + 1, (x * y) % SIZE, (2 * x + y) % SIZE)[kind]
        if column.size and rng.random() < 0.04:
            column[tuple(rng.integers(0, shape))] = rng.integers(0, SIZE)
    return e


def equalities(e: Integers, shape: Index) -> Bools:
    """Of every tensor [t, c, d]: whether component c is I_d at every index."""
    grid = coordinates(shape)
    equal = e[..., None] == np.moveaxis(grid, 0, -1)[..., None, :]
    return np.asarray(equal.all(axis=tuple(range(1, len(shape) + 1))))


def dependences(e: Integers, shape: Index) -> Bools:
    """Of every tensor [t, c, s]: whether component c is a function of the dims in the set s."""
    dims = range(len(shape))
    result = np.ones((len(e), e.shape[-1], 2 ** len(shape)), bool)
    for number in range(2 ** len(shape)):
        free = tuple(d + 1 for d in dims if not number >> d & 1)
        if e.size and free:
            low, high = e.min(axis=free, keepdims=True), e.max(axis=free, keepdims=True)
            result[..., number] = (low == high).all(axis=tuple(range(1, len(shape) + 1)))
    return result


@cache
def representable(dims: int, rank: int, equal: bytes, depends: bytes) -> tuple[bool, int]:
    """Whether some picks of Definition 9 fit, and the longest end pick of Definition 8.

    All picks are tried: p any permutation, p2 any nonempty pick, p1 any set of other dims (its
    order and repetitions change nothing that f could be a function of).
    """
    is_coordinate = np.frombuffer(equal, bool).reshape(rank, dims)
    is_function = np.frombuffer(depends, bool).reshape(rank, 2**dims)

    def fits(p1: Index, p2: Index, order: Index) -> bool:
        by_f, by_p2 = order[: rank - len(p2)], order[rank - len(p2) :]
        members = sum(1 << d for d in p1)
        return all(is_coordinate[c, d] for c, d in zip(by_p2, p2, strict=True)) and all(
            is_function[c, members] for c in by_f
        )

    def all_picks() -> Iterator[tuple[Index, Index, Index]]:
        for length in range(1, rank + 1):
            for p2 in itertools.product(range(dims), repeat=length):
                others = [d for d in range(dims) if d not in p2]
                for size in range(len(others) + 1):
                    for p1 in itertools.combinations(others, size):
                        for order in itertools.permutations(range(rank)):
                            yield p1, p2, order

    identity = tuple(range(rank))
    ends = [
        k
        for k in range(min(dims, rank) + 1)
        if fits(tuple(range(dims - k)), tuple(range(dims - k, dims)), identity)
    ]
    return any(fits(*picks) for picks in all_picks()), max(ends, default=0)


def by_hand(form: XTransformer, shape: Index) -> Integers:
    """What the representation says at every index, by NumPy alone."""
    grid = coordinates(shape)
    inner = form.f[tuple(grid[d] for d in form.p1)]
    inner = np.broadcast_to(inner, (*shape, form.f.shape[-1]))
    rest = [grid[d][..., None] for d in form.p2]
    return np.asarray(np.concatenate([inner, *rest], -1)[..., list(form.p)])


@pytest.mark.full
def test_ten_thousand_transformers() -> None:
    counts: Counter[Sliceability] = Counter()
    extents: Counter[int] = Counter()
    rng = np.random.default_rng(20201108)
    for shape, rank in itertools.product(SHAPES, EACH):
        tensors = drawn(shape, rank, rng)
        equal, depends = equalities(tensors, shape), dependences(tensors, shape)
        for e, is_coordinate, is_function in zip(tensors, equal, depends, strict=True):
            t = XTransformer.from_provision(e, (SIZE + 1,) * rank)
            verdict, answer = t.verdict(), disjoint_representation(t)
            possible, longest = representable(
                len(shape), rank, is_coordinate.tobytes(), is_function.tobytes()
            )
            assert verdict.end_pick == Pick.identity(len(shape) - longest, len(shape)), e
            if isinstance(answer, Impossibility):
                assert not possible, e
                assert verdict.sliceability is Sliceability.NOT_SLICEABLE
                assert answer.holds(t), e
            else:
                assert possible
                assert verdict.sliceability is not Sliceability.NOT_SLICEABLE
                assert (verdict.sliceability is Sliceability.SLICEABLE) == (longest > 0)
                assert len(answer.p2)
                assert not answer.p1.codomain & answer.p2.codomain
                assert np.array_equal(by_hand(answer, shape), e)
            counts[verdict.sliceability] += 1
            extents.update(set(shape))
    assert counts.total() == 10_000
    assert min(counts[s] for s in Sliceability) >= 2_000, counts
    assert min(extents[n] for n in (0, 1, 2)) >= 1_000, extents


@pytest.mark.parametrize("shape", [(2, 2), (1, 2)])
def test_the_search_finds_what_is_there(shape: Index) -> None:
    """The identity slices whole, its transpose weakly, and one more than it not at all."""
    grid = np.moveaxis(coordinates(shape), 0, -1)
    tensors = np.stack([grid, grid[..., ::-1], grid + 1])
    equal, depends = equalities(tensors, shape), dependences(tensors, shape)
    found = [
        representable(2, 2, a.tobytes(), b.tobytes()) for a, b in zip(equal, depends, strict=True)
    ]
    assert found == [(True, 2), (True, 0), (False, 0)]
