"""segment_write: positions that never decrease are found by a search in blocks."""

from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.pair import Pair
from tests.helpers.rules import Refuses, each, row
from tests.helpers.support import parse, sample, scatters

KNOWN = ["batch: nondecreasing, nonnegative", "N <= 3000", "P <= 64"]
ROWS = """g ({0}[P,3] x, int64[N] batch, {0}[N,3] u) => ({0}[P,3] y) {{
        y = ScatterND <reduction = "{1}"> (x, Unsqueeze (batch, [-1]), u) }}"""


def feeds() -> list[dict[str, Any]]:
    """Return positions in their order: none, one, all of them, gaps, and as many as may be."""
    rng = np.random.default_rng(0)
    pairs = [(1, 0), (5, 0), (1, 1), (1, 9), (7, 3), (9, 400), (64, 100), (64, 3000)]
    found = [{"P": p, "batch": np.sort(rng.integers(0, p, n))} for p, n in pairs]
    found += [{"P": 6, "batch": np.full(9, at)} for at in (0, 5)]
    return [*found, {"P": 0, "batch": np.zeros(0, np.int64)}]


GOLDEN = {
    "rows of segments": row(*feeds(), assume=KNOWN),
    "numbers of segments": row(*feeds(), assume=KNOWN),
    "one number": row(*feeds(), assume=KNOWN),
}
test_golden = each(GOLDEN, "golden")


@pytest.mark.parametrize("kind", ["double", "float16", "int32", "uint8", "bool"])
def test_element_types(kind: str) -> None:
    model = parse(ROWS.format(kind, "none"))
    check(model, {"double": "float64"}.get(kind, kind), KNOWN)


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_sums_that_wrap(kind: str) -> None:
    check(parse(ROWS.format(kind, "add")), kind, KNOWN)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 15, 16, 17])
def test_as_many_updates_as_are_known(size: int) -> None:
    text = ROWS.format("float", "none").replace("[N", f"[{size}").replace("[P", "[20000")
    rng = np.random.default_rng(size)
    original = parse(text)
    result = onnx_scatterx.optimize(
        original, target="standard", rules=["segment_write"], assume=KNOWN[:1]
    )
    pair = Pair(original, result.model)
    for _ in range(3):
        batch = np.sort(rng.choice([0, 1, 7, 19999], size))
        feed = {"x": sample("float32", 20000, 3), "batch": batch}
        assert pair.accepts(feed | {"u": sample("float32", size, 3, seed=1)})


def check(original: Any, kind: str, assume: list[str]) -> None:
    """Compare a model and the optimized one on inputs of an element type."""
    result = onnx_scatterx.optimize(original, target="standard", assume=assume)
    assert scatters(result.model) == 0
    pair = Pair(original, result.model)
    for feed in feeds():
        x, u = sample(kind, feed["P"], 3), sample(kind, len(feed["batch"]), 3, seed=1)
        assert pair.accepts({"x": x, "batch": feed["batch"], "u": u})


def test_the_assumption_is_named_and_verified() -> None:
    original = parse(ROWS.format("float", "none"))
    result = onnx_scatterx.optimize(original, target="standard", assume=KNOWN)
    assert "batch: nondecreasing" in result.report.assumptions
    assert onnx_scatterx.verify(original, result.model, samples=10)


@pytest.mark.parametrize(
    "known", ["batch: nonnegative", "batch: nondecreasing", "batch: unique, nonnegative"]
)
def test_positions_that_may_decrease_or_be_negative(known: str, refuses: Refuses) -> None:
    text = ROWS.format("float", "none")
    refuses(text, Reason.UNKNOWN_INDICES, assume=[known, *KNOWN[1:]])


def test_sums_of_floats_depend_on_their_order(refuses: Refuses) -> None:
    refuses(ROWS.format("float", "add"), Reason.UNKNOWN_INDICES, assume=KNOWN)


def test_no_bound(refuses: Refuses) -> None:
    refuses(ROWS.format("float", "none"), Reason.UNKNOWN_INDICES, assume=KNOWN[:1])


IN_ORDER = {  # made of scores and of a mask
    "the rows of a mask": "f = NonZero (m) i = Gather (f, none)",
    "the rows of a mask, in halves": "f = NonZero (m) r = Gather (f, none) i = Div (r, two)",
    "sorted numbers": "a = ArgMax <axis = 1, keepdims = 0> (s) n = Shape (a)"
    " i, o = TopK <largest = 0> (a, n)",
    "counts": "b = Cast <to = 9> (w) c = Cast <to = 7> (b) i = CumSum <exclusive = 1> (c, none)",
    "chosen sorted numbers": "a = ArgMax <axis = 1, keepdims = 0> (s) n = Shape (a)"
    " v, o = TopK <largest = 0> (a, n) f = NonZero (v) g = Gather (f, none) i = Gather (v, g)",
}


def _made(name: str, reduction: str) -> str:
    return f"""g (int64[70,3] x, bool[60,40] m, float[900,60] s, int64[900] w, int64[5000,3] u0)
            => (int64[70,3] y) <int64 none = {{0}}, int64 two = {{2}}> {{
        {IN_ORDER[name]}
        u = Slice (u0, [0], Shape (i), [0])
        y = ScatterND <reduction = "{reduction}"> (x, Unsqueeze (i, [-1]), u) }}"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", IN_ORDER)
@pytest.mark.parametrize("reduction", ["none", "add"])
def test_an_order_that_is_known(name: str, reduction: str) -> None:
    original = parse(_made(name, reduction))
    result = onnx_scatterx.optimize(original, target="standard", rules=["segment_write"])
    assert scatters(result.model) == 0
    pair = Pair(original, result.model)
    rng = np.random.default_rng(0)
    x, u = sample("int64", 70, 3), sample("int64", 5000, 3, seed=1)
    for seed, share in enumerate((0.0, 0.001, 0.05, 0.5, 1.0)):
        w = np.zeros(900, np.int64)
        w[rng.integers(0, 900, 69)] = share > 0
        feed = {"m": rng.random((60, 40)) < share, "w": w}
        feed["s"] = sample("float32", 900, 60, seed=seed)
        assert pair.accepts(feed | {"x": x, "u0": u})


def test_the_columns_of_a_mask_are_in_no_order(refuses: Refuses) -> None:
    text = _made("the rows of a mask", "none").replace("Gather (f, none)", "Gather (f, one)")
    text = text.replace("<int64 none", "<int64 one = {1}, int64 none")
    refuses(text, Reason.UNKNOWN_INDICES)
