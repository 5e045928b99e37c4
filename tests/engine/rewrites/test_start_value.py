"""start_value: a write of one number becomes the start value of the write that reads it."""

from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.rules import each, parse_text, row
from tests.helpers.support import assert_sound, sample

PAIR = """g ({0}[N] x, int64[E] i, int64[E] j, {0}[E] u) => ({0}[E] z) <{0} number = {{{1}}}> {{
        s = Shape (i)
        c = Expand (number, s)
        n = Shape (x)
        o = Expand (zero, n)
        first = ScatterElements {2} ({3}, i, c)
        y = ScatterElements <reduction = "{4}"> (first, i, u)
        z = GatherElements (y, i) }}"""
FEEDS: list[dict[str, Any]] = [
    {"N": 6, "i": np.array(i, np.int64), "j": np.array(i, np.int64)}
    for i in ([], [0], [5, 5, 5], [-1, 5, 0], [2, 0, 1, 2, 2, -6, -1])
]
BY = ["scatterx"]


def pair(
    number: str = "0", kind: str = "float", first: str = "", x: str = "x", second: str = "max"
) -> str:
    """Return a pair of writes to the same positions, which are read."""
    text = PAIR.format(kind, number, first, x, second)
    if x == "x":
        return text.replace("n = Shape (x)\n        o = Expand (zero, n)\n        ", "")
    return text.replace("> {", f", {kind} zero = {{0}}> {{", 1)


@pytest.mark.parametrize("second", ["none", "add", "mul", "min"])
def test_whatever_comes_next(second: str) -> None:
    feeds = (f for f in FEEDS if second != "none" or len(f["i"]) < 2)
    full = (
        {**f, "x": sample("float32", f["N"]), "u": sample("float32", *f["i"].shape)} for f in feeds
    )
    assert_sound(
        pair("1", second=second), *({k: v for k, v in f.items() if k != "N"} for f in full), left=1
    )


GOLDEN = {
    "a write": row(*FEEDS, by=BY, target="scatterx"),
    "the least of zeros and a number": row(*FEEDS, by=BY, target="scatterx"),
    "zeros times a number": row(*FEEDS, by=BY, target="scatterx"),
    "a few positions": row(*FEEDS, by=["dense_reduce"]),
    "rows": row(*({"N": 6, "i": f["i"].reshape(-1, 1)} for f in FEEDS), by=BY, target="scatterx"),
}
test_golden = each(GOLDEN, "golden")


def outputs(text: str, *more: str) -> str:
    """Return a pair of which other values are outputs, too."""
    return text.replace("[E] z)", "[E] z" + "".join(f", float[N] {name}" for name in more) + ")")


READ_AT_J = "z = GatherElements (y, j) }"
KEPT = {
    "the result is an output": outputs(pair(), "y"),
    "the first result is an output": outputs(pair(), "first"),
    "it is read at other positions": pair().replace("z = GatherElements (y, i) }", READ_AT_J),
    "it is read as a whole": outputs(pair(), "w").replace(" }", "\n        w = Neg (y) }"),
    "the first result is read": outputs(pair(), "w").replace(" }", "\n        w = Neg (first) }"),
    "the second goes elsewhere": pair().replace("(first, i, u)", "(first, j, u)"),
    "a body reads it": """g (float[N] x, int64[E] i, float[E] u, bool b) => (float[E] z, float[N] w)
        <float number = {1}> {
        s = Shape (i)
        c = Expand (number, s)
        first = ScatterElements (x, i, c)
        y = ScatterElements <reduction = "max"> (first, i, u)
        w = If (b) <then_branch = t () => (float[N] p) { p = Neg (y) },
                    else_branch = f () => (float[N] q) { q = Neg (x) }>
        z = GatherElements (y, i) }""",
    "numbers are not known": pair(first='<reduction = "min">'),
    "a sum grows": pair("1", first='<reduction = "add">', x="o"),
    "zeros differ in sign": pair("-0.0", first='<reduction = "max">', x="o"),
    "a reader of unknown rank": pair("1")
    .replace("u) =>", "u, int64[R] dims) =>", 1)
    .replace("(float[E] z)", "(float[?] z)", 1)
    .replace("z = GatherElements (y, i)", "k = Reshape (i, dims) z = Gather (y, k)"),
    "infinities of both signs": pair("inf", first='<reduction = "add">', x="o").replace(
        "zero = {0}", "zero = {-inf}"
    ),
    "no number": pair("nan", first='<reduction = "max">', x="o"),
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_it_is_kept(text: str) -> None:
    found = onnx_scatterx.optimize(parse_text(text, 18), target="standard", rules=["start_value"])
    assert [entry.done[:4] for entry in found.report.scatters] == ["kept", "kept"]
