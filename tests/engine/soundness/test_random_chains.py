"""Random chains of scatters and views, with constant and computed indices, at several sizes.

Each test counts what the original accepted, and fails when that was too little to mean anything.
"""

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import onnx
import onnx.printer
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.drawing import Drawing, even
from tests.helpers.examples import scaled
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import optimize, parse

EXAMPLES = scaled(60)
SIZES = (0, 1, 2, 5)
SEEDS = st.integers(0, 2**32)
RECIPE = {
    "steps": {"write": 3, "move": 1, "compute": 0.3},
    "writes": even("rows columns box elements"),
    "moves": even("transpose slice concat"),
    "indices": {"cut": 6, "repeated": 4},
    "cuts": {"clamped": 3, "strided": 1, "backwards": 1},
    "bounds": {"small": 1},
    "updates": {"numbered": 1, "zeros": 1, "computed": 2},
    "computations": {"unary": 5, "binary": 1},
    "unary": even("Neg Exp Identity"),
    "binary": {"Add": 1},
    "sources": {"alike": 3, "fed": 1},
    "reductions": {"none": 4, **even("add mul max min")},
}
"""Writes and views of a tensor; views change the sizes, so indices are computed from it."""


def random_chain(rng: random.Random, dims: tuple[int | str, int | str]) -> Drawing:
    d = Drawing(rng, 18, RECIPE, {"N": 3, "M": 4})
    d.constants_as = "nodes"
    d.pool.append(d.tensor("float32", dims))
    d.show(d.grow(d.pool[0], rng.randint(1, 6)))
    return d


def check(original: onnx.ModelProto, feeds: Sequence[Feed], counts: Counter[str]) -> None:
    """Compare a chain before and after on what the original accepts."""
    pair = Pair(original, optimize(original))
    for feed in feeds:
        try:
            counts["accepted" if pair.accepts(feed) else "rejected"] += 1
        except AssertionError as error:
            error.add_note(onnx.printer.to_text(original))
            raise


def report(counts: Counter[str], least: int) -> None:
    print(f"accepted {counts['accepted']}, rejected {counts['rejected']}")
    assert counts["accepted"] >= least, f"too few cases were accepted: {dict(counts)}"


def test_chains_of_known_size() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(SEEDS, st.sampled_from([(2, 3), (4, 5), (5, 2), (1, 4), (3, 1)]))
    def chains(seed: int, size: tuple[int, int]) -> None:
        d = random_chain(random.Random(seed), size)
        check(d.model(), [d.feed(), d.feed()], counts)

    chains()
    report(counts, EXAMPLES)


def test_chains_of_sizes_that_are_fed() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(SEEDS)
    def chains(seed: int) -> None:
        d = random_chain(random.Random(seed), ("N", "M"))
        feeds = [d.feed({"N": n, "M": m}) for n in SIZES for m in SIZES]
        check(d.model(), feeds, counts)

    chains()
    report(counts, 3 * EXAMPLES)


def test_scatters_of_constant_points() -> None:
    # ScatterND with any constant indices of any width, against what ONNX Runtime says.
    counts: Counter[str] = Counter()

    @settings(max_examples=2 * EXAMPLES, deadline=None)
    @given(st.data())
    def points(data: st.DataObject) -> None:
        shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        width = data.draw(st.integers(1, len(shape)))
        count = data.draw(st.integers(0, 6))
        rows = [
            [data.draw(st.integers(-size, size - 1)) for size in shape[:width]]
            for _ in range(count)
        ]
        if data.draw(st.booleans()):
            rows.sort()
        reduction = data.draw(st.sampled_from(["none", "none", "add", "max"]))
        tail = [count, *shape[width:]]
        dims, sizes = (",".join(map(str, s)) for s in (tail, shape))
        values = ", ".join(str(n) for row in rows for n in row)
        text = f"""g (float[{sizes}] x, float[{dims}] u) => (float[{sizes}] y)
            <int64[{count},{width}] i = {{{values}}}> {{
                y = ScatterND <reduction: string = "{reduction}"> (x, i, u) }}"""
        # Whole numbers, so that the order of adding does not round.
        x, u = (np.arange(np.prod(s), dtype=np.float32).reshape(s) - 3 for s in (shape, tail))
        check(parse(text), [{"x": x, "u": 100 + u}], counts)

    points()
    report(counts, EXAMPLES)
