"""dense_fill: one number at any positions is a comparison with the positions."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx import Reason
from onnx_scatterx.optimizer.targets.catalogue import Target
from tests.helpers.rules import Case, Golden, Refuses
from tests.helpers.support import assert_sound, sample

ANY = Target("unbounded", dense_limit=float("inf"))
FILL = """g (float[B,S] x, int64[B,N] i) => (float[B,S] y) <float number = {%s}> {
        s = Shape (i)
        u = Expand (number, s)
        y = ScatterElements <axis = 1, reduction = "%s"> (x, i, u) }"""
SEVEN = FILL.replace("B,S", "B,7")
MASK = """g (float[B,9] x, int64[1] k) => (bool[B,9] y) <bool yes = {1}, bool no = {0}> {
        greatest, i = TopK <axis = 1> (x, k)
        s = Shape (i)
        u = Expand (yes, s)
        all = Shape (x)
        none = Expand (no, all)
        y = ScatterElements <axis = 1> (none, i, u) }"""
WORDS = """g (float[B,9] x, int64[K] words) => (float[B,9] y) <float[1,1] least = {-inf}> {
        b = Shape <start = 0, end = 1> (x)
        k = Shape (words)
        s = Concat <axis = 0> (b, k)
        i = Expand (words, s)
        u = Expand (least, s)
        y = ScatterElements <axis = 1> (x, i, u) }"""


ROWS = """g (float[7,N] x, int64[K,1] i) => (float[7,N] y) <float least = {-inf}> {
        k = Shape <start = 0, end = 1> (i)
        n = Shape <start = 1, end = 2> (x)
        s = Concat <axis = 0> (k, n)
        u = Expand (least, s)
        y = ScatterND (x, i, u) }"""


def drawn(size: int = 7) -> list[dict[str, Any]]:
    """Return feeds with positions from both ends of an axis, some of them twice."""
    draw = np.random.default_rng(0).integers
    return [{"S": size, "i": draw(-size, size, (b, n))} for b in (0, 1, 3) for n in (0, 1, 20)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("kind", ["float", "double", "float16", "int32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("reduction", ["none", "min", "max"])
def test_element_types(kind: str, reduction: str) -> None:
    if kind == "bool" and reduction != "none":
        return
    text = (
        (SEVEN % ("1", reduction))
        .replace("float[", f"{kind}[")
        .replace("float number", f"{kind} number")
    )
    name = {"float": "float32", "double": "float64"}.get(kind, kind)
    feeds = ({"x": sample(name, len(f["i"]), 7), "i": f["i"]} for f in drawn())
    assert_sound(text, *feeds)


def test_one_number_that_is_added(refuses: Refuses) -> None:
    refuses(SEVEN % ("1.0", "add"), Reason.UNKNOWN_INDICES)


def test_no_bound(refuses: Refuses) -> None:
    refuses(FILL % ("1.0", "none"), Reason.TOO_LARGE, target=Target("small", dense_limit=1000))


GOLDEN = {
    "one number": Case(SEVEN % ("1.0", "none"), *drawn()),
    "a negative zero": Case(SEVEN % ("-0.0", "none"), *drawn()),
    "the greater of a number and what is there": Case(SEVEN % ("1.0", "max"), *drawn()),
    "tokens that came before": Case(FILL % ("-inf", "none"), *drawn(), target=ANY),
    "whole rows": Case(
        ROWS,
        *[{"N": n, "i": np.array(r).reshape(-1, 1)} for n in (0, 2) for r in ([], [6, -6])],
    ),
    "a mask of the greatest": Case(
        MASK.replace("B,9", "4,9"),
        *(
            {**f, "B": 4}
            for f in [{"B": b, "k": np.array([k])} for b in (0, 1, 2) for k in (0, 1, 9)]
        ),
        target=Target("some", dense_limit=4 * 9 * 10),
    ),
    "a mask of words": Case(
        WORDS,
        *[{"B": b, "words": np.array(w, np.int64)} for b in (0, 2) for w in ([], [8, 0, 8, -1])],
        target=ANY,
    ),
    "no number that is kept or not": Case(SEVEN % ("nan", "min"), *drawn()),
    "one number at positions that are known to meet": Case(
        """g (float[5] x) => (float[5] y) <int64[2,1] i = {1, -4}, float[2] u = {1, 1}>
        { y = ScatterND <reduction = "max"> (x, i, u) }""",
        rules=["dense_fill"],
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Golden) -> None:
    GOLDEN[name].check(golden)
