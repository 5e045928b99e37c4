"""Comparisons and Clips of labels that are padded, which a promise decides element by element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse

COMPARED = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
LACKS = 'standard, avoid = ["Clip", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]'
JOINED = ("Pad (i, [0, 0, 1, 2], pad)", "Concat <axis = 1> (first, i)", "Concat <axis = 1> (i, i)")


@examples(60)
@given(st.data())
def test_a_comparison_is_decided_element_by_element(data: st.DataObject) -> None:
    draw, number = data.draw, st.integers(-3, 3)
    op, joined = draw(st.sampled_from(COMPARED)), draw(st.sampled_from(JOINED))
    low, high = sorted((draw(number), draw(number)))
    size = draw(st.sampled_from([0, 1, 3]))
    c = draw(st.lists(number, min_size=1, max_size=1)) if draw(st.booleans()) else [0] * 5
    shape = f"[{len(c)}]" if len(c) == 1 or (size, joined) == (3, JOINED[1]) else "[1]"
    operands = "j, c" if draw(st.booleans()) else "c, j"
    model = parse(f"""g (int64[2, {size}] i) => (bool[A, B] y, int64[A, B] z)
        <int64 pad = {{{draw(number)}}}, int64[2, 2] first = {{-1, 2, 0, {draw(number)}}},
         int64{shape} c = {{{", ".join(map(str, c[: int(shape[1])]))}}}> {{
            j = {joined}  y = {op} ({operands})  z = Clip (j, pad) }}""")
    target = "standard, avoid = ['Clip', '" + op + "']"
    promise = f"{low} <= i <= {high}"
    result = onnx_scatterx.optimize(
        model, target=target, assume=promise, passes=["WriteOtherForms"]
    )
    rng = np.random.default_rng(size)
    feeds = [{"i": rng.integers(low, high + 1, (2, size))} for _ in range(3)]
    assert_same(model, result.model, [*feeds, {"i": np.full((2, size), low)}])


@pytest.mark.parametrize(
    ("body", "is_decided"),
    [
        ("y = Equal (j, [-1])", True),
        ("y = GreaterOrEqual (j, [0])", True),
        ("y = Less ([-1], j)", True),
        ("y = Equal (j, [1])", False),  # the labels may be 1
    ],
)
def test_what_a_promise_decides(body: str, is_decided: bool) -> None:
    model = parse(
        f"""g (int64[1, 3] i) => (bool[A, B] y) <int64[4] p = {{0, 0, 0, 1}}, int64 n = {{-1}}> {{
        j = Pad (i, p, n)  {body} }}"""
    )
    for promise, decides in (("i: nonnegative", is_decided), ("i: contiguous", False)):
        result = onnx_scatterx.optimize(model, target=LACKS, assume=promise).model
        assert ({node.op_type for node in nodes(result)} <= {"Constant", "Identity"}) == decides


@pytest.mark.parametrize(
    ("pad", "bounds", "written"),
    [
        ("-1", "low", 0),
        ("-1", "low, high", 0),
        ("7", "low, high", 5),
        ("2", "low, high", 2),
        ("7", ", high", None),  # the labels may be 6
        ("-1", "high, low", None),  # this is the upper bound everywhere
    ],
)
@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_a_clip_of_padded_labels(kind: str, pad: str, bounds: str, written: int | None) -> None:
    model = parse(
        f"""g ({kind}[2, 3] i) => ({kind}[A, B] y)
        <int64[4] p = {{1, 0, 0, 2}}, {kind} n = {{{pad}}}, {kind} low = {{0}}, {kind} high = {{5}}>
        {{ j = Pad (i, p, n)  y = Clip (j, {bounds}) }}"""
    )
    promise = "i: nonnegative" if "high" not in bounds else "0 <= i <= 5"
    if bounds.startswith(","):
        promise = "0 <= i <= 6"
    result = onnx_scatterx.optimize(
        model, target="standard, avoid = ['Clip', 'Max', 'Where']", assume=promise
    )
    operators = [node.op_type for node in nodes(result.model)]
    assert (operators == ["Pad"]) == (written is not None)
    feeds = [{"i": np.array([[0, 5, 1], [2, 3, 4]], kind)}, {"i": np.full((2, 3), 5, kind)}]
    assert_same(model, result.model, feeds)


def test_the_labels_of_points() -> None:
    """One point is added that is none, as Segment Anything 2 does: ncnn takes the result."""
    model = parse("""g (int64[1, 1, 1] labels, float[1, 1, 2, 8] points) => (float[1, 1, 2, 8] y)
        <int64[6] one = {0, 0, 0, 0, 0, 1}, int64 none = {-1}, int64 zero = {0},
         int64[1] last = {3}, int64 ten = {-10}> {
        all = Pad (labels, one, none)  each = Unsqueeze (all, last)  is_none = Equal (each, none)
        nothing = Constant <value = float[1, 8] {1, 2, 3, 4, 5, 6, 7, 8}> ()
        a = Where (is_none, nothing, points)  is_ten = Equal (each, ten)  is_some = Not (is_ten)
        zeros = Constant <value = float {0}> ()  b = Where (is_some, a, zeros)
        label = Clip (all, zero)
        table = Constant <value = float[4, 2] {1, 2, 3, 4, 5, 6, 7, 8}> ()
        e = Gather (table, label)  ee = Concat <axis = 3> (e, e, e, e)
        is_point = GreaterOrEqual (all, zero)  u = Unsqueeze (is_point, last)
        f = Cast <to = 1> (u)  g = Mul (f, ee)  y = Add (b, g) }""")
    result = onnx_scatterx.optimize(model, target="ncnn", assume="labels: nonnegative")
    assert not result.report.violations
    rng = np.random.default_rng(0)
    points = rng.standard_normal((1, 1, 2, 8)).astype(np.float32)
    feeds = [{"labels": np.full((1, 1, 1), n), "points": points} for n in range(4)]
    assert_same(model, result.model, feeds)
    assert onnx_scatterx.inspect(model, target="ncnn").violations
