"""sampled_write: a few rows at computed positions, for a target that samples images."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.targets.limits import OperatorLimits
from onnx_scatterx.targets.target import Target
from tests.helpers.examples import examples
from tests.helpers.pair import Feed
from tests.helpers.rules import Case, assert_same, assert_sound_at, each, parse_text
from tests.helpers.support import scatters

LACKED = {"ScatterND", "ScatterElements", "TensorScatter", "Where", "GatherElements", "GatherND"}
NO_READ = {"Gather": OperatorLimits(computed_data=False)}
SAMPLER = Target("sampler", avoid=frozenset(LACKED), limits=NO_READ)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-45, 3.4e38, 1.5], np.float32)


def nd(size: str = "9", count: str = "3", reduction: str = "none", kind: str = "float") -> str:
    """Return a write of rows to any positions."""
    return f"""g ({kind}[{size},3] x, int64[{count},1] i, {kind}[{count},3] u) => ({kind}[{size},3] y)
    {{ y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""


@st.composite
def few_rows(draw: st.DrawFn) -> tuple[str, list[Feed]]:
    """Draw a write of up to 16 floats or rows of floats, to positions of one axis or several."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    depth, count = draw(st.integers(1, len(sizes))), draw(st.integers(1, 16))
    shape, rest = ",".join(map(str, sizes)), "".join(f",{n}" for n in sizes[depth:])
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    text = f"""g (float[{shape}] x, int64[{count},{depth}] i, float[{count}{rest}] u)
        => (float[{shape}] y) {{ y = ScatterND (x, i, u) }}"""
    feeds: list[Feed] = [
        {
            "x": rng.choice(SPECIAL, sizes),
            "i": np.stack([rng.integers(-n, n, count) for n in sizes[:depth]], -1),
            "u": rng.choice(SPECIAL, (count, *sizes[depth:])),
        }
        for _ in range(2)
    ]
    return text, feeds


@examples(60)
@given(few_rows())
def test_any_few_rows(case: tuple[str, list[Feed]]) -> None:
    text, feeds = case
    original = parse_text(text, 18)
    result = onnx_scatterx.optimize(original, target=SAMPLER, rules=["sampled_write"])
    assert [entry.rules for entry in result.report.scatters] == [("sampled_write",)]
    assert_same(original, result.model, feeds)


def test_rows_of_the_largest_image_are_all_found() -> None:
    size, count = (1 << 16) - 2, 2
    places = [0, 1, size // 2, size - 2, -1, -size]
    feeds: list[Feed] = [{"i": [[a], [b]]} for a in places for b in (3, a)]
    assert_sound_at(nd(str(size), str(count)), *feeds, target=SAMPLER)


def test_more_rows_are_kept() -> None:
    model = parse_text(nd(str((1 << 16) - 1), "2"), 18)
    assert scatters(onnx_scatterx.optimize(model, target=SAMPLER).model) == 1


STEP = """g (float[1,2,64,4] keys, int64[1] at, float[1,2,1,4] row) => (float[1,2,64,4] next) {
    a = Unsqueeze (at, [1])
    x = Transpose <perm = [2, 0, 1, 3]> (keys)
    u = Transpose <perm = [2, 0, 1, 3]> (row)
    y = ScatterND (x, a, u)
    next = Transpose <perm = [1, 2, 0, 3]> (y) }"""


@pytest.mark.parametrize("promise", ["at: nonnegative", "0 <= at < 64"])
def test_ncnn_takes_a_step_of_a_cache(promise: str) -> None:
    """It has no integers, no Where, no scatter and no read at a position of the run."""
    model = parse_text(STEP, 18)
    result = onnx_scatterx.optimize(model, target="ncnn", assume=[promise])
    assert not result.report.violations
    assert {n.op_type for n in result.model.graph.node} >= {"GridSample"}
    rng = np.random.default_rng(0)
    keys, rows = (rng.choice(SPECIAL, (1, 2, n, 4)) for n in (64, 1))
    assert_same(model, result.model, [{"keys": keys, "at": [n], "row": rows} for n in range(64)])


WINDOW = """g (float[1,2,32,4] keys, int64[1] at, float[1,2,N,4] rows) => (float[1,2,32,4] next) {
    i = Unsqueeze (Add (at, LINE), [1])
    x = Transpose <perm = [2, 0, 1, 3]> (keys)
    u = Transpose <perm = [2, 0, 1, 3]> (rows)
    y = ScatterND (x, i, u)
    next = Transpose <perm = [1, 2, 0, 3]> (y) }"""
TENSOR = """g (float[1,2,32,4] keys, int64[1] at, float[1,2,N,4] rows) => (float[1,2,32,4] next) {
    next = TensorScatter (keys, rows, at) }"""


@pytest.mark.parametrize("count", [1, 2, 20, 31])
@pytest.mark.parametrize(("text", "opset"), [(WINDOW, 18), (TENSOR, 24)])
def test_ncnn_takes_rows_from_a_start(text: str, opset: int, count: int) -> None:
    text = text.replace("N,", f"{count},").replace("LINE", str(list(range(count))))
    model = parse_text(text, opset)
    last = 32 - count
    result = onnx_scatterx.optimize(model, target="ncnn", assume=[f"0 <= at <= {last}"])
    assert not result.report.violations
    assert [entry.rules for entry in result.report.scatters] == [("sampled_write",)]
    rng = np.random.default_rng(0)
    keys, rows = (rng.choice(SPECIAL, (1, 2, n, 4)) for n in (32, count))
    feeds = [{"keys": keys, "at": [n], "rows": rows} for n in range(last + 1)]
    assert_same(model, result.model, feeds)


GOLDEN = {
    "rows of which the last one wins": Case(
        nd(), {"i": [[4], [-9], [4]]}, target=SAMPLER, rules=["sampled_write"]
    ),
    "rows from a start": Case(
        WINDOW.replace("N,", "3,").replace("LINE", "[0, 1, 2]"),
        *({"at": [n]} for n in (0, 5, 29)),
        target=SAMPLER,
        assume=["0 <= at <= 29"],
        rules=["sampled_write"],
    ),
}
test_golden = each(GOLDEN, "golden")

PER_ROW = """g (float[4,9] x, int64[4,1] i, float[4,1] u) => (float[4,9] y)
    { y = ScatterElements <axis = 1> (x, i, u) }"""

KEPT = {
    "a position for each row": Case(PER_ROW, Reason.UNKNOWN_INDICES, target=SAMPLER),
    "more updates than are written one by one": Case(
        nd(count="17"), Reason.UNKNOWN_INDICES, target=SAMPLER, left=1
    ),
    "a sum": Case(nd(reduction="add"), Reason.UNKNOWN_INDICES, target=SAMPLER, left=1),
    "integers": Case(nd(kind="int64"), Reason.UNKNOWN_INDICES, target=SAMPLER, left=1),
    "a size of the run": Case(nd("P"), Reason.UNKNOWN_INDICES, target=SAMPLER, left=1),
}
test_kept = each(KEPT, "refuses")
