"""What `explain` says next: arguments with which a scatter goes, each of them tried."""

import onnx.parser
import pytest

from onnx_scatterx import explain, optimize

HEAD = '<ir_version: 8, opset_import: ["" : 18]> '
START = """g (float[8, 2] x, int64[1] at, float[1, 2] u) => (float[8, 2] y)
    <int64[1] last = {-1}> { i = Unsqueeze (at, last)  y = ScatterND (x, i, u) }"""
ROWS = """g (float[400, 2] x, int64[300] at, float[300, 2] u) => (float[400, 2] y)
    <int64[1] last = {-1}> { i = Unsqueeze (at, last)  y = ScatterND (x, i, u) }"""
THREE = """g (float[8, 2] x, int64[3, 1] i, float[3, 2] u) => (float[8, 2] y)
    { y = ScatterND (x, i, u) }"""
TWICE = """g (float[8, 2] x, float[3, 2] u) => (float[8, 2] y)
    <int64[3, 1] i = {3, 5, 3}> { y = ScatterND (x, i, u) }"""
EMPTY = """g (float[N, 4] x) => (y) <int64[1] last = {-1}> {
    r = ReduceMax <keepdims = 0> (x, last)  zero = Sub (r, r)  m = Equal (r, zero)
    where = NonZero (m)  rows = Transpose <perm = [1, 0]> (where)
    picked = GatherND (r, rows)  u = Neg (picked)  y = ScatterND (r, rows, u) }"""


def said(text: str, **arguments: object) -> list[str]:
    """Return the sentences behind `next`."""
    lines = explain(onnx.parser.parse_model(HEAD + text), **arguments).splitlines()  # type: ignore[arg-type]
    starts = [n for n, line in enumerate(lines) if line.startswith("  next ")]
    found = [line[12:] for n in starts for line in lines[n:]]
    return [" ".join(part.split()) for part in " ".join(found).split("it goes with ") if part]


@pytest.mark.parametrize(
    ("text", "target", "steps"),
    [
        (
            START,
            "scatterx",
            [
                "--target standard: one_per_row",
                "--assume 'at: nonnegative', if that is so: concat, view",
            ],
        ),
        (START, "standard", []),
        (THREE, "scatterx", ["--target standard: dense_write"]),
        (
            ROWS,
            "standard",
            [
                "a profile that says dense = true, dense_limit = inf: dense_write",
                "--assume 'at: contiguous, nonnegative', if that is so: concat, view",
            ],
        ),
        (
            ROWS.replace("at = ", "at = ")
            .replace("Unsqueeze (at", "Unsqueeze (b")
            .replace("{ i", "{ b = Mul(at, at) i"),
            "standard",
            ["a profile that says dense = true, dense_limit = inf: dense_write"],
        ),
        (TWICE, "standard", ["--deterministic: concat, view"]),
        (EMPTY, "standard", ["--assume 'N >= 1', if that is so: masked_scatter"]),
        (TWICE.replace("ND (x", 'ND <reduction = "mul"> (x'), "standard", []),
    ],
)
def test_steps(text: str, target: str, steps: list[str]) -> None:
    assert said(text, target=target) == steps


def test_a_step_does_what_it_says() -> None:
    model = onnx.parser.parse_model(HEAD + EMPTY)
    assert optimize(model, target="standard").report.removed == 0
    assert optimize(model, target="standard", assume="N >= 1").report.removed == 1


def test_what_the_user_has_said_already_is_kept() -> None:
    """No step contradicts it, or leaves it out."""
    dense = ["a profile that says dense = true, dense_limit = inf: dense_write"]
    assert said(ROWS, target="standard", assume="at <= -1") == dense
    assert said(TWICE, target="standard", deterministic=True) == []


def test_a_rank_names_the_size_that_leaves_it_open() -> None:
    model = onnx.parser.parse_model(HEAD + EMPTY)
    (scatter,) = optimize(model, target="standard").report.scatters
    product = """v = ScatterND <reduction = "mul"> (w, k, t) y = ScatterND (r, rows, u) }"""
    both = EMPTY.replace("(float[N, 4] x)", "(float[N,4] x, float[8] w, int64[2,1] k, float[2] t)")
    both = both.replace("y = ScatterND (r, rows, u) }", product).replace("=> (y)", "=> (v, y)")
    found = optimize(onnx.parser.parse_model(HEAD + both), target="standard").report.scatters
    assert ["--assume" in str(s.refusal) for s in found] == [False, True]
    assert str(scatter.refusal) == "the rank of an input is unknown (data; try --assume 'N >= 1')"
