"""sorted_write: every position finds its last update in the order of all of them."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx import Reason
from onnx_scatterx.targets.target import Target
from tests.helpers.rules import Case, Golden, each, row
from tests.helpers.support import assert_sound, sample

SMALL = Target("small", dense_limit=1)
LACKING = Target("lacking", avoid=frozenset({"ScatterND", "ScatterElements"}))
ROWS = """g ({0}[P,3] x, int64[N,1] i, {0}[N,3] u) => ({0}[P,3] y) {{ y = ScatterND (x, i, u) }}"""
PAIRS = """g (float[A,B] x, int32[N,2] j, float[N] u) => (float[A,B] y) {
        i = Cast <to = 7> (j)
        y = ScatterND (x, i, u) }"""
FILL = """g ({0}[B,S] x, int64[B,N] i) => ({0}[B,S] y) <{0} number = {{{1}}}> {{
        y = ScatterElements <axis = 1, reduction = "{2}"> (x, i, Expand (number, Shape (i))) }}"""


def positions(size: int, *shape: int) -> np.ndarray:
    """Draw positions from both ends of an axis, some of them twice."""
    return np.random.default_rng(0).integers(-size, size, shape)


def for_rows(*pairs: tuple[int, int]) -> list[dict[str, Any]]:
    """Return numbers of positions and updates, with indices."""
    return [{"P": p, "i": positions(p, n, 1)} for p, n in pairs]


def for_each_row() -> list[dict[str, Any]]:
    return [
        {"S": s, "i": positions(s, b, n)} for b in (0, 1, 3) for n in (0, 1, 20) for s in (1, 7)
    ]


SIZES = [(5, 0), (1, 1), (1, 4), (5, 3), (4, 30), (50, 9), (300, 300)]


def test_pairs_of_positions(golden: Golden) -> None:
    draw = np.random.default_rng(1).integers
    pairs = [np.stack([draw(-3, 3, n), draw(-4, 4, n)], 1).astype(np.int32) for n in (0, 1, 40)]
    golden(PAIRS, *({"A": 3, "B": 4, "j": j} for j in pairs), target=SMALL)


GOLDEN = {
    "rows in any order": row(*for_rows(*SIZES), {"P": 0, "i": np.zeros((0, 1), int)}, target=SMALL),
    "positions for each row": row(
        *[{"S": s, "i": positions(s, b, n, 2)} for b, n, s in [(0, 2, 3), (1, 0, 2), (3, 20, 7)]],
        target=LACKING,
    ),
    "one number": row(*for_each_row(), target=SMALL),
    "the lesser of a number and what is there": row(*for_each_row(), target=SMALL),
}
test_golden = each(GOLDEN, "golden")


@pytest.mark.parametrize("kind", ["double", "float16", "int64", "int8", "bool"])
def test_element_types(kind: str) -> None:
    name = {"double": "float64"}.get(kind, kind)
    feeds = [
        {"x": sample(name, p, 3), "i": positions(p, n, 1), "u": sample(name, n, 3, seed=1)}
        for p, n in SIZES
    ]
    assert_sound(ROWS.format(kind), *feeds, left=0, target=SMALL)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(20))
def test_any_positions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, count = int(rng.integers(1, 40)), int(rng.integers(0, 80))
    index = rng.integers(-size, size, (count, 1))
    if seed % 2 and count:
        index = np.sort(index, 0)
    feed = {
        "x": sample("float32", size, 3),
        "i": index,
        "u": sample("float32", count, 3, seed=seed),
    }
    assert_sound(ROWS.format("float"), feed, left=0, target=SMALL)


KEPT = {
    "rows known to meet": Case(
        """g (float[5,2] x, float[3,2] u) => (float[5,2] y) {
        y = ScatterND (x, [[1], [-4], [3]], u) }""",
        Reason.COLLIDES,
        target=SMALL,
    ),
    "numbers that are added": Case(
        FILL.format("float", "1", "add"), Reason.UNKNOWN_INDICES, target=SMALL
    ),
    "a target that has the scatter": Case(ROWS.format("float"), Reason.UNKNOWN_INDICES),
    "a target that cannot sort": Case(
        ROWS.format("float"),
        Reason.UNKNOWN_INDICES,
        target=Target("unsorted", avoid=frozenset({"TopK"}), dense_limit=1),
    ),
    "an old operator set": Case(
        """g (float[P] x, int64[N] i, float[N] u) => (float[P] y) { y = Scatter (x, i, u) }""",
        Reason.UNKNOWN_INDICES,
        target=SMALL,
        opset=10,
    ),
}
test_kept = each(KEPT, "refuses")
