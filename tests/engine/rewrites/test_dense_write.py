"""dense_write: every position is compared with the positions of all updates, and reads its own."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.targets.target import Target
from tests.helpers.drawn_scatters import Drawn, scatter_elements, scatter_nd
from tests.helpers.examples import examples
from tests.helpers.rules import Case, Refuses, assert_sound_at, each, parse_text, row
from tests.helpers.support import assert_sound

UNBOUNDED = Target("unbounded", dense_limit=float("inf"))
DENSE = Target("dense", dense_limit=1 << 20)
SMALL = Target("small", dense_limit=1000)


def nd(size: str, count: str, reduction: str = "none", kind: str = "float") -> str:
    """Return a write of rows to any positions."""
    return f"""g ({kind}[{size},3] x, int64[{count},1] i, {kind}[{count},3] u) => ({kind}[{size},3] y)
    {{ y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""


PER_ROW = """g (float[B,S] x, int64[B,N] i, float[B,N] u) => (float[B,S] y)
    { y = ScatterElements <axis = 1> (x, i, u) }"""


def positions(size: int, *shape: int) -> np.ndarray:
    """Draw positions from both ends of an axis, some of them twice."""
    return np.random.default_rng(0).integers(-size, size, shape)


def for_rows(size: int, *counts: int) -> list[dict[str, Any]]:
    """Return positions on an axis, as rows of one number."""
    return [{"i": positions(size, n, 1), "P": size} for n in counts]


def test_few_updates_of_short_rows_where_the_target_lacks_the_scatter() -> None:
    target = Target("npu", avoid=frozenset({"ScatterElements"}))
    feeds = [{"i": positions(50, b, 3)} for b in (0, 2)]
    text = PER_ROW.replace("N]", "3]").replace("S]", "50]")
    assert_sound_at(text, *feeds, target=target)
    assert_sound_at(text, *feeds, left=1)


@examples(60)
@given(scatter_nd())
def test_any_scatter_nd(case: Drawn) -> None:
    assert_sound(case[0], *case[1], left=0, target=UNBOUNDED)


@examples(60)
@given(scatter_elements())
def test_any_scatter_elements(case: Drawn) -> None:
    assert_sound(case[0], *case[1], left=0, target=UNBOUNDED)


GOLDEN = {
    "few positions": row(*for_rows(5, 0, 1, 9)),
    "few updates": row(*for_rows(9, 3), *for_rows(1, 3), target=DENSE),
    "few updates of long rows": row(*for_rows(9, 2), *for_rows(1, 2)),
    "positions for each row": row(
        *[{"i": positions(9, b, n), "S": 9} for b in (0, 1, 3) for n in (0, 1, 20)],
        target=UNBOUNDED,
    ),
    "many of both where the target allows it": row(*for_rows(50, 20), target=DENSE),
    "pairs of positions": row(*({"i": positions(2, n, 2)} for n in (0, 1, 9))),
    "positions of 32 bits": row(*({"q": f["i"]} for f in for_rows(5, 0, 1, 9))),
    "an axis that counts beside one that is fed": row({"p": positions(4, 2, 3)}),
    "twice what is fed": row({"q": [0, 2, -1, 2]}),
    "half of what is fed": row({"q": [0, 9, 1, 2]}),
    "the first of what is fed": row({"q": [0, 4, -1, 4, 3, 2, 1, 0, 0]}),
    "what is fed with its axes exchanged": row({"q": [[0, 4, 1], [-1, 2, 2]]}),
    "every second column beside rows that are fed": row(*({"p": [0, -1][:n]} for n in (1, 2))),
    "a column that sizes decide beside rows that are fed": row(
        *({"p": [[0], [1], [-2]], "K": k} for k in (0, 1, 3))
    ),
    "a diagonal": row(rules=["dense_write"]),
    "some of the rows": row({"p": [[0, 3], [-1, 4]]}),
}
test_golden = each(GOLDEN, "golden")


INDICES: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "beside channels, as pillars are put onto a canvas": (
        """g (float[3,50] x, int64[N] p, float[3,N] u) => (float[3,50] y) {
            t = Concat <axis = 0> (Shape (u), [1])
            a = Expand ([[[0]], [[1]], [[2]]], t)
            i = Concat <axis = -1> (a, Expand (Unsqueeze (p, [-1]), t))
            y = ScatterND (x, i, u) }""",
        [{"p": positions(50, n)} for n in (0, 1, 60)],
    ),
    "one for rows that may be empty": (  # there is no first element that would do for all
        """g (float[5,D] x, int64[N,1] i, float[N,D] u) => (float[5,D] y) {
            y = ScatterElements <axis = 0> (x, Expand (i, Shape (u)), u) }""",
        [{"i": [[3], [-1], [0]], "D": d} for d in (0, 1, 2)],
    ),
    "turned": (
        """g (float[4,4] x, int64[4,4] i, float[4,4] u) => (float[4,4] y) {
            y = ScatterElements <axis = 0> (x, Transpose (i), u) }""",
        [{"i": positions(4, 4, 4)}],
    ),
    "beside a diagonal": (  # two axes have one dim of the updates: one of them is set aside
        """g (float[3,3,P] x, int64[3,1] p, float[3] u) => (float[3,3,P] y) {
            y = ScatterND (x, Concat <axis = 1> ([[0, 0], [1, 1], [2, 2]], p), u) }""",
        [{"P": 5, "p": [[4], [-1], [0]]}],
    ),
    "for some of the columns": (
        """g (float[5,4] x, int64[N,2] i, float[N,2] u) => (float[5,4] y)
        { y = ScatterElements <axis = 0> (x, i, u) }""",
        [{"i": [[3, 0], [-1, 4], [3, 1]]}],
    ),
}


@pytest.mark.parametrize("how", INDICES)
def test_indices(how: str) -> None:
    text, feeds = INDICES[how]
    assert_sound_at(text, *feeds, target=UNBOUNDED)


@pytest.mark.parametrize("count", [1, 2])
def test_an_index_that_is_a_product(count: int) -> None:
    text = """g (float[20,3] x, int32[C,1] p, int32[C,1] q, float[C,3] u) => (float[20,3] y) {
            y = ScatterND (x, Mul (Cast <to = 7> (p), Cast <to = 7> (q)), u) }"""
    feed = {"p": [[3], [-2]][:count], "q": [[4], [9]][:count]}
    assert_sound_at(text.replace("[C,", f"[{count},"), feed)


def test_updates_of_a_size_that_cannot_be_read_in_a_branch() -> None:
    """One more than the updates is counted where there may be none: that has a cost of its own."""
    text = """g (int8[1,2,1] x, int8[2,1,3] u, int64[2] p, int64[3] ends, bool go)
        => (int8[A,B,C] y) {
        y = If (go) <
            else_branch = e () => (int8[A,B,C] z) { z = Identity (x) },
            then_branch = t () => (int8[A,B,C] w) <int64[3] zeros = {0, 0, 0}> {
                a = Transpose <perm = [1, 2, 0]> (x)
                b = TensorScatter <axis = 2, mode = "circular"> (a, u, p)
                c = Slice (b, zeros, ends)
                d = TensorScatter <axis = -2, mode = "circular"> (b, c)
                w = Transpose <perm = [2, 0, 1]> (d) }> }"""
    feed = {"p": [0, 0], "ends": [2, 1, 1], "go": False}
    assert_sound_at(text, feed, left=None, target=UNBOUNDED, opset=24)


def test_how_much_is_compared_is_reported() -> None:
    model = parse_text(nd("50", "400"), 18)
    result = onnx_scatterx.optimize(model, target=DENSE)
    (scatter,) = result.report.scatters
    assert scatter.done == "removed by Gather, Concat (dense, 20000 elements)"
    assert "20000" in {p.value for n in result.model.graph.node for p in n.metadata_props}


def test_a_size_without_a_bound_is_too_large(refuses: Refuses) -> None:
    refuses(nd("P", "20"), Reason.TOO_LARGE, target=SMALL)
    model = parse_text(nd("P", "20"), 18)
    (scatter,) = onnx_scatterx.inspect(model, target=SMALL, assume=["P <= 49"]).scatters
    assert scatter.refusal is None


@pytest.mark.parametrize("reduction", ["add", "mul", "max"])
def test_updates_that_are_combined(reduction: str, refuses: Refuses) -> None:
    refuses(nd("5", "N", reduction), Reason.UNKNOWN_INDICES)


@pytest.mark.parametrize("kind", ["complex64", "string"])
def test_element_types_without_kernels(kind: str, refuses: Refuses) -> None:
    refuses(nd("5", "N", kind=kind), Reason.NO_KERNEL)


KEPT = {
    "few updates of short rows": Case(
        nd("P", "3"), Reason.UNKNOWN_INDICES, *for_rows(50, 3), left=1
    ),
    "many of both": Case(nd("5000", "20"), Reason.UNKNOWN_INDICES),
    "more comparisons than the target allows": Case(
        nd("5000", "20"), Reason.TOO_LARGE, target=SMALL
    ),
    "updates that are known to meet": Case(
        """g (float[5] x, float[2] u) => (float[5] y) { y = ScatterND (x, [[1], [-4]], u) }""",
        Reason.COLLIDES,
    ),
    "all positions in their own order": Case(
        """g (float[2,N] x, float[2,N] u) => (float[2,N] y) { y = ScatterND (x, [[0], [1]], u) }""",
        Reason.NO_RULE,
    ),
    "a sequence that goes round": Case(
        """g (float[B,2,4,3] x, float[B,2,2,3] u, int64[B] p) => (float[B,2,4,3] y)
        { y = TensorScatter <mode = "circular"> (x, u, p) }""",
        Reason.UNKNOWN_INDICES,
        opset=24,
    ),
    "a maximum of integers needs operator set 12": Case(
        nd("P", "3").replace(' <reduction = "none">', ""), Reason.NO_KERNEL, target=DENSE, opset=11
    ),
}
test_kept = each(KEPT, "refuses")
