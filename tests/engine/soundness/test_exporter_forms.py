"""Random slice assignments on one to three axes, in the forms that exporters give them.

`x[a:b:c, d:e:f] = u` becomes nested views that are written back (dynamo), one index column per axis
(TorchScript), or expanded indices for ScatterElements. The test counts what the original accepted,
and fails when that was too little to mean anything.
"""

import random
from collections import Counter

import onnx.printer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.drawing import Drawing
from tests.helpers.examples import scaled
from tests.helpers.pair import Pair
from tests.helpers.support import optimize

SIZES = (0, 1, 2, 3, 5, 8, 9)
EXAMPLES = scaled(80)
RECIPE = {
    "writes": {"nested": 2, "box": 1},
    "indices": {"cut": 1},
    "cuts": {"usual": 7, "whole": 1, "strided": 1, "backwards": 3},
    "updates": {"computed": 2, "same": 1, "elsewhere": 1, "zeros": 1},
    "computations": {"unary": 1},
    "unary": {"Neg": 1},
    "sources": {"alike": 1},
    "reductions": {"none": 1},
}
AGAIN = {**RECIPE, "writes": {"nested": 1}, "updates": {"same": 1}}
"""As ``x[..] += y`` is written back once more."""


def drawn(rng: random.Random) -> Drawing:
    d = Drawing(rng, rng.choice([13, 16, 18, 21]), RECIPE, {"N": 5, "M": 8})
    d.constants_as = "nodes"
    some: list[int | str] = ["N", "M", "N", "M", 1, 4]
    dims = tuple(rng.choices(some, k=rng.randint(1, 3)))
    d.pool += [d.tensor("float32", dims) for _ in range(2)]
    x = d.pool[0]
    for _ in range(rng.randint(1, 2)):
        x = d.draw("writes", x)
        if d.does(0.3):
            d.recipe = AGAIN
            x = d.draw("writes", x)
            d.recipe = RECIPE
        if d.does(0.2):  # a reader between two writes
            x = d.of("Abs", x)
    d.show(d.of("Identity", x))
    return d


@pytest.mark.slow
def test_slice_assignments() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.integers(0, 2**32))
    def writes(seed: int) -> None:
        d = drawn(random.Random(seed))
        original = d.model()
        pair = Pair(original, optimize(original))
        for _ in range(8):
            feed = d.feed({name: d.rng.choice(SIZES) for name in "NM"})
            try:
                counts["accepted" if pair.accepts(feed) else "rejected"] += 1
            except AssertionError as error:
                error.add_note(onnx.printer.to_text(original))
                raise

    writes()
    print(f"accepted {counts['accepted']}, rejected {counts['rejected']}")
    assert counts["accepted"] >= 3 * EXAMPLES, f"too few cases were accepted: {dict(counts)}"
