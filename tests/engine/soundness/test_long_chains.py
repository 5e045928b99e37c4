"""Long chains of mixed writes to one tensor, which are cut where that takes fewer nodes."""

import random
from collections import Counter

import numpy as np
import onnx.printer
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.text.reasons import Reason
from tests.helpers.examples import is_full, scaled
from tests.helpers.limited import limited
from tests.helpers.long_chains import STYLES, H, W, long_chain
from tests.helpers.pair import Feed, Pair
from tests.helpers.support import assert_sound, optimize, sample, scatters

SIZES = ((H, W), (W, H), (12, 12), (9, 11), (8, 30), (1, 1), (0, 8))
EXAMPLES = scaled(40)


def feed_of(height: int, width: int, seed: int) -> Feed:
    mask = np.random.default_rng(seed).random((height, width)) < 0.3
    x, u = (sample("float32", height, width, seed=seed + i) for i in range(2))
    return {"x": x, "u": u, "m": mask}


def test_cut_chains() -> None:
    counts: Counter[bool] = Counter()

    @settings(max_examples=EXAMPLES, deadline=None)
    @given(st.randoms(), st.sampled_from(STYLES), st.booleans())
    def chains(draw: random.Random, style: str, dynamic: bool) -> None:
        seed, count = draw.randrange(1 << 30), draw.randint(3, 16)
        original = long_chain(count, seed, style, dynamic=dynamic)
        pair = Pair(original, optimize(original))
        for size in SIZES if dynamic else SIZES[:1]:
            try:
                counts[pair.accepts(feed_of(*size, seed % 1000))] += 1
            except AssertionError as error:
                error.add_note(onnx.printer.to_text(original))
                raise

    chains()
    assert counts[True] >= EXAMPLES, counts


@pytest.mark.sampled(2)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("dynamic", [False, True])
def test_each_write_takes_as_many_nodes_as_in_a_short_chain(style: str, dynamic: bool) -> None:
    def nodes_of_a_write(count: int) -> float:
        model = long_chain(count, 1, style, dynamic=dynamic)
        result = onnx_scatterx.optimize(model, target="standard")
        assert result.report.removed == len(result.report.scatters)
        return len(result.model.graph.node) / count

    assert nodes_of_a_write(60) <= 1.2 * nodes_of_a_write(10)


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize(("seed", "style", "count"), [(0, "torchscript", 200), (1, "dynamo", 1000)])
def test_the_steps_of_a_model_suffice_for_a_thousand_writes(
    seed: int, style: str, count: int
) -> None:
    """The fewer writes have their share of the steps."""
    with limited(model_steps=LIMITS.model_steps * count // 1000, node_steps=0):
        result = optimize(long_chain(count, seed, style, dynamic=True))
    assert scatters(result) == 0


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize(("style", "seed"), [("torchscript", 4), ("dynamo", 3)])
def test_wherever_the_steps_of_a_model_end_what_is_planned_is_written(
    style: str, seed: int
) -> None:
    original = long_chain(30, seed, style, dynamic=True)
    left = []
    for steps in range(12_000, 72_000, 6_000 if is_full() else 13_500):
        with limited(model_steps=steps, node_steps=0):
            result = onnx_scatterx.optimize(original, target="standard")
        kept = [s for s in result.report.scatters if s.refusal is not None]
        assert all(s.reason is Reason.MODEL_LIMIT for s in kept)
        assert len(kept) == scatters(result.model)
        left.append(len(kept))
        pair = Pair(original, result.model)
        assert all(pair.accepts(feed_of(*size, 7)) for size in SIZES[:2])
    assert left[0] == 30
    assert left[-1] == 0
    assert len(set(left)) > 3, left


# A column of the computed row that is written is read again: the reader knows no order of its
# pieces, so it keeps its Slice, and only the write behind it is written anew.
READ_BACK = """g (float[H,4] x, float[H,4] u) => (float[H,4] y) {
    place = ArgMax <axis = 0, keepdims = 1> (Gather <axis = 1> (u, 0))
    new = Neg (Gather <axis = 0> (u, [0]))
    written = ScatterND (x, Unsqueeze (place, [1]), new)
    y = ScatterND (written, [[3]], Slice (written, [0], [1], [0], [1])) }"""


def test_updates_whose_pieces_have_no_known_order() -> None:
    assert_sound(READ_BACK, *({"H": n} for n in (4, 5, 9) for s in range(4)), left=0)
