"""The nodes of many graphs in rows of one tensor each, as graph nets do (`to_dense_batch`)."""

from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx.targets.target import Target
from tests.helpers.pair import Pair
from tests.helpers.support import parse, sample

MODEL = """g (float[N,3] x, int64[N] batch, float[B,1] graphs) => (float[b,k,3] y, bool[b,k] mask)
    {
    b = Shape <end = 1> (graphs)
    n = Shape (batch)
    count = ScatterElements <reduction = "add"> (Expand (0, b), batch, Expand (1, n))
    end = CumSum (count, 0)
    start = Sub (end, count)
    most = ReduceMax <keepdims = 0> (count)
    within = Sub (Range (0, Squeeze (n), 1), Gather (start, batch))
    i = Unsqueeze (Add (Mul (batch, most), within), [-1])
    width = Unsqueeze (most, [-1])
    size = Mul (b, width)
    rows = ScatterND (Expand (float 0, Concat <axis = 0> (size, [3])), i, x)
    y = Reshape (rows, Concat <axis = 0> (b, width, [3]))
    there = ScatterND (Expand (bool 0, size), i, Expand (bool 1, n))
    mask = Reshape (there, Concat <axis = 0> (b, width)) }"""
SIZES = ["N <= 1000", "B <= 50"]


def feeds() -> list[dict[str, Any]]:
    """Return batches with graphs of many sizes, some of them without nodes."""
    rng = np.random.default_rng(0)
    pairs = [(1, 1), (1, 9), (4, 2), (5, 300), (50, 1000)]
    batches = [(b, np.sort(rng.integers(0, b, n))) for b, n in pairs]
    return [
        {"x": sample("float32", len(at), 3), "batch": at, "graphs": np.zeros((b, 1), np.float32)}
        for b, at in batches
    ]


@pytest.mark.parametrize(("limit", "left"), [(1 << 13, ["count"]), (1 << 20, [])])
def test_rows_are_sorted_and_counts_compared(limit: int, left: list[str]) -> None:
    original = parse(MODEL)
    known = ["batch: nonnegative", *SIZES]
    target = Target("dense", dense_limit=limit)
    result = onnx_scatterx.optimize(original, target=target, assume=known)
    assert [e.node for e in result.report.scatters if not e.rules] == left
    pair = Pair(original, result.model)
    for feed in feeds():
        assert pair.accepts(feed)


def test_the_counts_stay_if_it_may_be_in_any_order() -> None:
    original = parse(MODEL)
    target = Target("dense", dense_limit=1 << 13)
    result = onnx_scatterx.optimize(original, target=target, assume=SIZES)
    assert [e.node for e in result.report.scatters if "sorted_write" not in e.rules] == ["count"]
    pair = Pair(original, result.model)
    for feed in feeds():
        assert pair.accepts({**feed, "batch": feed["batch"][::-1].copy()})
