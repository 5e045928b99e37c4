"""Each operator that the second judge models: what it says of drawn nodes, against ONNX Runtime."""

import os

import numpy as np
import onnx.printer
import pytest

from onnx_scatterx.proof.core.terms import UnsupportedError
from onnx_scatterx.proof.operators import BY_ROWS, OPERATORS
from tests.helpers.equivalence_support import judged, no_more, ranks
from tests.helpers.examples import scaled
from tests.helpers.one_node import drawn
from tests.helpers.one_node.source import EXTENTS
from tests.helpers.one_node.table import DRAWS
from tests.helpers.pair import open_session, rejections

EXAMPLES = int(os.environ.get("EXAMPLES", max(12, scaled(60))))  # nodes of each operator

SIZES = EXTENTS, (1, 2, 2, 3, 4)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", [op for op in DRAWS if op in OPERATORS])
def test_what_is_known_of_a_node_is_what_a_run_gives(op: str) -> None:
    told = []
    for seed in range(EXAMPLES):
        model, feed = drawn(op, seed, oldest=13, extents=SIZES[seed % 3 > 0])
        try:
            found = open_session(model).run(None, feed)
        except rejections():
            continue
        if sum(np.size(a) for a in (*feed.values(), *found)) > 60:
            continue
        try:
            masks = ranks(next(iter(feed.values())) != 0) if op == "NonZero" and feed else no_more
            told.append(judged(model, feed, masks))
        except UnsupportedError as error:  # as elements are asked for
            told.append(str(error))
        except AssertionError as error:
            text = onnx.printer.to_text(model)
            raise AssertionError(f"seed {seed}: {error}\n{feed}\n{text}") from error
    print(op, told)
    if op in BY_ROWS:  # a product is an unknown function of a row
        return
    assert sum(what == "follows" for what in told) >= len(told) // 12, told
