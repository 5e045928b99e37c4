"""Reads by index become slices of what they read, bit for bit, or are kept."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.drawing import Drawing, even
from tests.helpers.examples import examples
from tests.helpers.pair import Pair
from tests.helpers.support import gathers_in, i64, nodes, optimize, parse, sample, scatters

RECIPE = {
    "reads": {"gather": 2, "gather_elements": 1, "gather_nd": 1},
    "moves": even("transpose slice unsqueeze"),
    "indices": {"line": 6, "constant": 1, "range": 4},
    "cuts": {"usual": 1, "whole": 1, "within": 2},
    "writes": {"rows": 1},
    "updates": {"other": 1},
    "sources": {"fed": 1},
    "reductions": {"none": 1},
}
SIZES = [dict(zip("NM", pair, strict=True)) for pair in ((3, 2), (5, 1), (1, 4), (0, 2), (2, 0))]


def test_reads() -> None:
    counted = Counter[str]()

    @examples(70, derandomize=True)
    @given(st.integers(0, 2**32))
    def draw(seed: int) -> None:
        counted.update(judged(drawn(random.Random(seed))))

    draw()
    assert counted["accepted"] >= 3 * counted["models"] // 2
    assert counted["gone"] >= counted["models"] // 2


def drawn(rng: random.Random) -> Drawing:
    """Draw a read, of what was written or not, with moves behind it and perhaps another read."""
    d = Drawing(rng, 18, RECIPE, SIZES[0])
    some: list[int | str] = [0, 1, 2, 3, 4, 5, "N", "N", "M"]
    x = d.tensor("float32", tuple(rng.choices(some, k=rng.randint(1, 3))))
    if d.does(0.25):
        x = d.draw("writes", x)
    x = d.draw("reads", x)
    for _ in range(rng.randint(0, 2)):
        x = d.draw("moves", x) if x.dims else x
    if d.does(0.3) and x.dims:
        x = d.draw("moves", x) if d.does(0.2) else d.draw("reads", x)
    d.show(d.of("Identity", x))
    return d


def judged(d: Drawing) -> dict[str, int]:
    """Compare on all feeds; return how many the original accepted, and how many gathers went."""
    original = d.model()
    optimized = optimize(original, gathers=True)
    if not scatters(original):
        assert len(nodes(optimized)) <= len(nodes(original)), "it grew"
    accepted = sum(map(Pair(original, optimized).accepts, map(d.feed, SIZES)))
    gone = gathers_in(original) - gathers_in(optimized)
    return {"models": 1, "accepted": accepted, "gone": gone}


@pytest.mark.parametrize(
    "kept",
    [
        "GatherElements (a, [[0, 3], [2, 1], [4, 0], [1, 1], [0, 2], [3, 3]])",
        "GatherElements (a, Gather (i, [[0, 1]]))",
        "Gather (a, i)",
    ],
)
def test_a_read_from_the_result_of_a_read_that_is_kept(kept: str) -> None:
    """The rows are a Slice, though what is read of them is no box, or is known only at run time."""
    model = parse(f"""g (float[9, 4] x, int64[2] i) => (float[A, B] y) {{
        a = Gather (x, [2, 3, 4, 5, 6])
        y = {kept} }}""")
    optimized = optimize(model, gathers=True)
    assert "Slice" in [node.op_type for node in optimized.graph.node]
    assert Pair(model, optimized).accepts({"x": sample("float32", 9, 4), "i": i64([3, 1])})
