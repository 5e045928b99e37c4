"""window: a write of n rows from a start known only at run time is a Gather of rows."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.rules import Refuses, assert_same, assert_sound_at, each, parse_text, row, rows


def written(size: str, count: str, reduction: str = "none") -> str:
    """Return ``x[p : p + n] = u``."""
    return f"""g (float[{size},2] x, int64 p, float[{count},2] u) => (float[{size},2] y) {{
            {rows("i", "u", start="p")}
            y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""


def starts(lengths: tuple[int, ...], counts: tuple[int, ...]) -> list[dict[str, Any]]:
    """Return every start that fits, from 0 and from the end."""
    cases = product(lengths, counts)
    return [{"S": s, "N": n, "p": p} for s, n in cases for p in range(-s, s - n + 1)]


TENSOR_SCATTER = """g (float[B,2,4,3] x, float[B,2,N,3] u, int64[B] p) => (float[B,2,4,3] y)
    { y = TensorScatter <mode = "%s"> (x, u, p) }"""


@pytest.mark.parametrize("kind", ["float16", "int64", "bool"])
def test_rows_of_other_types(kind: str) -> None:
    assert_sound_at(written("S", "N").replace("float", kind), *starts((1, 2, 5), (0, 1, 2, 5, 7)))


@pytest.mark.parametrize("count", [1, 5])
def test_one_row_and_all_rows(count: int) -> None:
    assert_sound_at(written("5", str(count)), *starts((5,), (count,)))


@pytest.mark.parametrize("reduction", ["mul", "max", "min"])
@pytest.mark.parametrize("count", [3, 9])
def test_numbers_that_are_reduced(reduction: str, count: int) -> None:
    assert_sound_at(written("9", str(count), reduction), *({"p": p} for p in (-9, -4, 0)))


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("dims", ["1,2,4", "3,2,4", "B,2,S"])
def test_a_start_for_each_of_the_batch(mode: str, dims: str) -> None:
    text = (TENSOR_SCATTER % mode).replace("B,2,4", dims)
    text = text.replace("float[B", f"float[{dims[0]}").replace("int64[B", f"int64[{dims[0]}")
    rng, batches = np.random.default_rng(1), (0, 1, 3) if dims[0] == "B" else (int(dims[0]),)
    tops = {n: 5 - n if mode == "linear" else 9 for n in (0, 1, 3, 4)}
    feeds = [
        {"B": b, "S": 4, "N": n, "p": rng.integers(0, top, b)}
        for (n, top), b, _ in product(tops.items(), batches, range(2))
    ]
    assert_sound_at(text, *feeds, opset=24)


@pytest.mark.parametrize("start", [0, 3, 4, 2**63 - 1])
def test_rows_of_a_ring_are_not_negative(start: int) -> None:
    text = (TENSOR_SCATTER % "circular").replace("B", "2").replace("N", "3")
    model = parse_text(text, 24)
    result = onnx_scatterx.optimize(model, target="qnn")  # which lacks indices from the end
    assert not result.report.violations
    assert "GatherElements" in {node.op_type for node in result.model.graph.node}
    assert_same(model, result.model, [{"p": [start, 1]}])


GOLDEN = {
    "rows of symbolic count and size": row(*starts((1, 2, 5), (0, 1, 2, 5))),
    # They go on from the end to the start, where indices that count from the end do.
    "more rows than positions": row({"p": -5}),
    "a known size and count": row(*({"p": p} for p in range(-5, 4))),
    "numbers that are added": row(*({"p": p} for p in (-9, -4, -2, 0, 6))),
    "a ring buffer": row(*[{"N": n, "p": [p, 3]} for n in (0, 1, 4) for p in (0, 3, 9)], opset=24),
    "a cache": row(*[{"N": n, "p": [4 - n, 0]} for n in (0, 1, 4)], opset=24),
    "a start of 32 bits": row(*({"q": q} for q in (-5, -1, 0, 3))),
    "another axis that is written in part": row(*({"p": p} for p in (-12, -4, 0, 3))),
}
test_golden = each(GOLDEN, "golden")


@pytest.mark.parametrize("ring", [3, 5, 7])
def test_rows_that_go_round_before_the_end_or_behind_it(ring: int) -> None:
    text = f"""g (float[5,2] x, int32 q, float[N,2] u) => (float[5,2] y) <int64 ring = {{{ring}}}> {{
            p = Cast <to = 7> (q)
            {rows("i", "u", start="p")}
            h = Mod (i, ring)
            y = ScatterND (x, h, u) }}"""
    cases = ((2, 1), (3, 2), (3, 7), (2, -1), (0, 4))
    feeds = [{"N": n, "q": q} for n, q in cases]
    assert_sound_at(text, *feeds, left=None, rejected=2)


def test_more_rows_than_positions_that_are_added(refuses: Refuses) -> None:
    refuses(written("S", "9", "add"), Reason.MAY_COLLIDE, *({"S": 9, "p": p} for p in (-9, 0)))
    (scatter,) = onnx_scatterx.inspect(
        parse_text(written("S", "9", "add"), 18), target="standard"
    ).scatters
    assert str(scatter.refusal).endswith("(more rows than axis 0 has positions)")


CONTIGUOUS = """g (float[S,2] x, int64[N] p, float[N,2] u) => (float[S,2] y) {
            y = ScatterND (x, Unsqueeze (p, [-1]), u) }"""


def test_no_bound_is_computed_that_clamping_makes_no_matter() -> None:
    model = parse_text(CONTIGUOUS, 18)
    found = onnx_scatterx.optimize(model, assume=["p: contiguous, nonnegative"]).model
    # The first position, rows up to it, the position after the last, rows from it.
    written = "Concat Slice Slice Shape Add Slice Concat"
    assert " ".join(n.op_type for n in found.graph.node) == written
    cases = [(s, n, p) for s, n in product((1, 2, 5), repeat=2) for p in range(s - n + 1)]
    cases += [(s, 0, p) for s in (1, 2, 5) for p in (0, s, 14)]  # no row: what it says is of no row
    assert_same(model, found, [{"S": s, "p": [*range(p, p + n)]} for s, n, p in cases])


REFUSED = {
    "rows that do not follow each other": (Reason.UNKNOWN_INDICES, CONTIGUOUS),
    "starts on two axes": (
        Reason.UNKNOWN_SIGN,
        """g (float[9,9] x, int64[2] p, float[3,2] u) => (float[9,9] y)
        <int64[3,2,2] r = {0,0, 0,1, 1,0, 1,1, 2,0, 2,1}> {
            y = ScatterND (x, Add (r, p), u) }""",
    ),
    "updates with fewer dims than the data": (
        Reason.UNKNOWN_SIGN,
        """g (float[9,2] x, int64 p, float[2] u) => (float[9,2] y) {
            y = ScatterND (x, Unsqueeze (p, [0]), u) }""",
    ),
    "a reduction without a kernel": (
        Reason.NO_KERNEL,
        written("5", "2", "max").replace("float", "bool"),
    ),
}


@pytest.mark.parametrize(("why", "model"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_window(why: Reason, model: str, refuses: Refuses) -> None:
    refuses(model, why)


def test_steps_that_are_fed_beside_a_count(refuses: Refuses) -> None:
    refuses(
        """g (float[9,2] x, int32[3] q, float[3,2] u) => (float[9,2] y) {
            j = Unsqueeze (Add ([0, 1, 2], Cast <to = 7> (q)), [-1])
            y = ScatterND (x, j, u) }""",
        Reason.UNKNOWN_INDICES,
        {"q": [4, 0, 3]},
        left=0,
    )


def test_another_axis_of_which_one_row_is_written(refuses: Refuses) -> None:
    refuses(
        """g (float[A,S] x, int64 p, float[A,2] u) => (float[A,S] y) {
            i = Add ([0, 1], p)
            s = Shape (u)
            column = Expand (i, s)
            row = Expand (0, s)
            ii = Unsqueeze (column, [-1])
            y = ScatterND (x, Concat <axis = -1> (Unsqueeze (row, [-1]), ii), u) }""",
        Reason.UNKNOWN_SIGN,
        *({"A": a, "S": 4, "p": p} for a in (0, 1, 3) for p in (0, 2, -3)),
    )


@pytest.mark.parametrize("kind", ["complex64", "string"])
def test_element_types_without_kernels(kind: str, refuses: Refuses) -> None:
    refuses(written("5", "2").replace("float", kind), Reason.NO_KERNEL)


def test_a_size_that_may_be_0_needs_operator_set_12(refuses: Refuses) -> None:
    refuses(
        """g (float[S,2] x, int32 q, float[2,2] u) => (float[S,2] y) <int64[1] last = {1}> {
            i = Unsqueeze <axes = [1]> (Add ([0, 1], Cast <to = 7> (q)))
            y = ScatterND (x, i, u) }""",
        Reason.NO_KERNEL,
        opset=11,
    )


def test_starts_that_are_no_elements_of_a_tensor(refuses: Refuses) -> None:
    text = (TENSOR_SCATTER % "circular").replace("int64[B] p", "int32[B] p")
    text = text.replace("{ y =", "{ c = Cast <to = 7> (p) q = Add (c, c) y =")
    refuses(text.replace("(x, u, p)", "(x, u, q)"), Reason.UNKNOWN_INDICES, opset=24)
