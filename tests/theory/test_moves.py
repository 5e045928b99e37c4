"""Moves: held against the scattering, against a search of all lists, and against the kernel."""

import itertools
import shutil
import subprocess
from functools import cache
from math import prod
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from onnx_scatterx.theory import Gathering, Reduction, Scattering, XTransformer, moves
from onnx_scatterx.theory.conventions.axes import by_axes
from onnx_scatterx.theory.strided_copies import Move
from tests.helpers.examples import are_all

CUSTOM_OPS = Path(__file__).parents[2] / "custom_ops"
Pairs = frozenset[tuple[int, int]]


def drawn(seed: int, largest: int = 5) -> XTransformer:
    """Draw boxes, rings, permutations and random tables; sizes may be 0, and updates collide."""
    rng = np.random.default_rng(seed)
    data_shape = tuple(map(int, rng.integers(1, largest + 2, rng.integers(1, 4))))
    shape = tuple(map(int, rng.integers(0 if seed % 5 == 0 else 1, largest, rng.integers(0, 4))))
    size, count = prod(data_shape), prod(shape)
    if seed % 3 == 0 and count <= size:
        flat = rng.permutation(size)[:count] if seed % 2 else np.arange(count) + size - count
        columns = np.unravel_index(flat.reshape(shape), data_shape)
        return XTransformer.from_provision(np.stack(columns, -1), data_shape)
    axes: list[int | NDArray[np.int64]] = []
    for extent in data_shape:
        d = int(rng.integers(0, max(len(shape), 1)))
        numbers = rng.integers(-extent, extent, shape)
        if shape and seed % 3 == 1:
            start, step = int(rng.integers(0, extent)), int(rng.integers(-2, 3))
            along = np.arange(shape[d]).reshape([-1] + [1] * (len(shape) - 1 - d))
            numbers = (start + step * along) % extent
        elif shape and shape[d] <= extent and seed % 4 == 0:
            axes.append(d)
            continue
        axes.append(numbers)
    return by_axes(shape, data_shape, axes)


def winners(transformer: XTransformer) -> dict[int, int]:
    """The update that each element of data gets, by flat offsets."""
    return {int(t): s for s, t in enumerate(transformer.offsets().ravel())}


def performed(found: tuple[Move[int], ...], pairs: dict[int, int], source: int, size: int) -> None:
    """Hold a list against memory: each element comes from its place, and is written once."""
    numbers, target = np.arange(source), np.full(size, -1)
    written = 0
    for move in found:
        assert min(move.extents, default=2) > 1 <= min(move.target_strides, default=1)
        move.copy(numbers, target)
        written += prod(move.extents)
        assert move.bytes == 4 * prod(move.extents)
    assert {int(t): int(s) for t, s in enumerate(target) if s >= 0} == pairs
    assert written == len(pairs)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("part", range(10))
def test_copies_in_memory_are_the_scattering(part: int) -> None:
    for seed in range(200 * part, 200 * part + 200):
        transformer = drawn(seed)
        found = moves(transformer, 4, last_wins=True)
        count, size = prod(transformer.shape), prod(transformer.data_shape)
        performed(found, winners(transformer), count, size)
        read = Gathering(np.arange(size).reshape(transformer.data_shape), transformer)
        pairs = dict(enumerate(transformer.offsets().ravel().tolist()))
        performed(moves(read, 4), pairs, size, count)


@cache
def grids_within(pairs: Pairs) -> tuple[Pairs, ...]:
    """All grids in a set of pairs: products of lines with any steps, whose targets differ."""
    found: set[Pairs] = {frozenset({p}) for p in pairs}
    waiting = list(found)
    while waiting:
        grid = waiting.pop()
        steps = {(s - a, t - b) for (s, t), (a, b) in itertools.product(pairs, pairs)}
        for a, b in steps - {(0, 0)}:
            line = grid
            for i in range(1, len(pairs)):
                moved = frozenset((s + i * a, t + i * b) for s, t in grid)
                if not moved <= pairs or moved & line:
                    break
                line |= moved
                if line not in found:
                    found.add(line)
                    waiting.append(line)
    return tuple(found)


def fewest(pairs: Pairs) -> int:
    """The least number of grids that divide a set, by depth: no shorter list was left out."""
    grids = grids_within(pairs)

    def covers(left: Pairs, count: int) -> bool:
        if not left:
            return True
        first = min(left)
        return count > 0 and any(covers(left - g, count - 1) for g in grids if first in g <= left)

    return next(n for n in itertools.count() if covers(pairs, n))


def test_a_list_of_few_elements_is_almost_always_the_shortest() -> None:
    more, sizes = list[int](), set[int]()
    for seed in range(1500):
        transformer = drawn(seed, 4)
        pairs = frozenset((s, t) for t, s in winners(transformer).items())
        if len(pairs) <= 8:
            more.append(len(moves(transformer, last_wins=True)) - fewest(pairs))
            sizes.add(len(pairs))
    assert len(more) > 700
    assert sizes == set(range(9))
    assert set(more) == {0, 1}
    assert more.count(1) < len(more) / 100


def test_no_plan_of_the_kernel_has_fewer_pieces(tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program = tmp_path / "plan_pieces"
    sources = [f"{CUSTOM_OPS}/{name}.cc" for name in ("tests/plan_pieces", "kernel/affine")]
    command = [compiler, "-std=c++17", "-O1", f"-I{CUSTOM_OPS}/include", *sources]
    subprocess.run([*command, "-o", str(program)], check=True)
    count = 3000 if are_all() else 1000
    cases = [t for seed in range(count) if (t := drawn(seed)).is_injective()]
    lines = []
    for t in cases:
        for numbers in (t.shape, t.data_shape, t.p1, t.p2, t.p, t.f.ravel().tolist()):
            lines.append(f"{len(numbers)} {' '.join(map(str, numbers))}")
    text = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    nests = 0
    for t, line in zip(cases, text, strict=True):
        pieces, runs, run = map(int, line.split())
        found = moves(t, 4)
        assert sum(move.bytes for move in found) == 4 * runs * run
        assert len(found) <= pieces
        if pieces == 1:
            nests += 1
            assert [move.runs <= runs for move in found] == [True]
    assert nests > count / 10
    assert len(cases) - nests > count / 10


def test_refusals_have_a_reason() -> None:
    twice = XTransformer.from_provision(np.array([[2], [0], [2]]), (4,))
    with pytest.raises(ValueError, match=r"updates \(0,\) and \(2,\) go to one element"):
        moves(twice)
    adds = Scattering(np.zeros(4), np.ones(3), twice, Reduction.ADD)
    with pytest.raises(ValueError, match="no copy does the reduction add"):
        moves(adds, last_wins=True)
    with pytest.raises(ValueError, match="out of bounds"):
        moves(XTransformer.from_provision(np.array([[4]]), (4,)))


def test_only_winners_move() -> None:
    twice = XTransformer.from_provision(np.array([[2], [0], [2]]), (4,))
    assert moves(twice, 4, last_wins=True) == (Move(1, 0, (2,), (1,), (2,), 8),)


def test_a_read_may_repeat_and_turn() -> None:
    backwards = by_axes((2, 3), (3,), [np.array([2, 1, 0])])
    assert moves(Gathering(np.zeros(3, np.float32), backwards)) == (
        Move(2, 0, (2, 3), (0, -1), (3, 1), 24),
    )


def test_a_large_box_is_one_move() -> None:
    i, j = np.indices((300, 200), sparse=True)
    box = by_axes((300, 200), (601, 800), [2 * i + 1, 799 - 3 * j])
    assert moves(box, 2) == (Move(199, 1002, (300, 200), (200, -1), (1600, 3), 120000),)


def test_a_random_order_takes_bounded_time() -> None:
    order = np.random.default_rng(0).permutation(1 << 14)
    mixed = XTransformer.from_provision(order[:, None], (1 << 14,))
    performed(moves(mixed, 4), winners(mixed), 1 << 14, 1 << 14)
