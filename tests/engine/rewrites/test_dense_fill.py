"""dense_fill: one number at any positions is a comparison with the positions."""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx import Reason
from onnx_scatterx.targets.target import Target
from tests.helpers.rules import Refuses, each, row
from tests.helpers.support import assert_sound, sample

ANY = Target("unbounded", dense_limit=float("inf"))
FILL = """g (float[B,S] x, int64[B,N] i) => (float[B,S] y) <float number = {%s}> {
        s = Shape (i)
        u = Expand (number, s)
        y = ScatterElements <axis = 1, reduction = "%s"> (x, i, u) }"""
SEVEN = FILL.replace("B,S", "B,7")


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
    "one number": row(*drawn()),
    "a negative zero": row(*drawn()),
    "the greater of a number and what is there": row(*drawn()),
    "tokens that came before": row(*drawn(), target=ANY),
    "whole rows": row(
        *[{"N": n, "i": np.array(r).reshape(-1, 1)} for n in (0, 2) for r in ([], [6, -6])]
    ),
    "a mask of the greatest": row(
        *(
            {**f, "B": 4}
            for f in [{"B": b, "k": np.array([k])} for b in (0, 1, 2) for k in (0, 1, 9)]
        ),
        target=Target("some", dense_limit=4 * 9 * 10),
    ),
    "a mask of words": row(
        *[{"B": b, "words": np.array(w, np.int64)} for b in (0, 2) for w in ([], [8, 0, 8, -1])],
        target=ANY,
    ),
    "no number that is kept or not": row(*drawn()),
    "one number at positions that are known to meet": row(rules=["dense_fill"]),
}
test_golden = each(GOLDEN, "golden")
