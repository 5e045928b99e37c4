"""Operators on integers of a known range, for targets that lack them: tables, sums and halves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import Feed, assert_same
from tests.helpers.support import parse

COMPARED = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
SIZES = st.sampled_from([1, 1, 2, 3])
OTHERS = ("Gather", "OneHot", "LessOrEqual", "Less", "Sub", "Greater", "GreaterOrEqual", "Cast")


def dims(shape: list[int]) -> str:
    return f"[{','.join(map(str, shape))}]" if shape else ""


def written(text: str, avoid: list[str], *feeds: Feed, opset: int = 18) -> bool:
    """Return whether a target takes what is written for a model, which computes the same."""
    target = f"standard, avoid = {list(map(str, avoid))}".replace("'", '"')
    model = parse(text, opset)
    result = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"])
    assert_same(model, result.model, feeds)
    return not any(violation.op in avoid for violation in result.report.violations)


@examples(40)
@given(st.data())
def test_integers_and_a_constant(data: st.DataObject) -> None:
    draw = data.draw
    op = draw(st.sampled_from([*COMPARED, "Mod", "Mul"]))
    kind, n = draw(st.sampled_from(["int64", "int32"])), draw(st.sampled_from([1, 2, 5]))
    shape = draw(st.lists(SIZES, max_size=3))
    other = [1 if n > 1 or draw(st.booleans()) else draw(SIZES) for n in shape]
    other = other[draw(st.integers(0, len(other))) :] if draw(st.booleans()) else other
    other = draw(st.lists(SIZES, max_size=2)) * (len(other) == len(shape)) + other
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    low = draw(st.sampled_from([0, 1, -1, -n]))
    c = rng.integers(1 if op == "Mod" else -n, n + 1, other)
    operands = "j, c" if op == "Mod" or draw(st.booleans()) else "c, j"
    text = f"""g ({kind}{dims(shape)} i) => ({"bool" if op in COMPARED else kind} z)
        <{kind} n = {{{n}}}, {kind} k = {{{low}}}, {kind}[5] line = {{0, 1, 2, 3, 4}},
         {kind}{dims(other)} c = {{{",".join(map(str, c.ravel()))}}}> {{
            m = {"Gather (line, i)" if op == "Mod" else "Mod (i, n)"}
            j = Add (m, k)  z = {op} ({operands}) }}"""
    avoid = [op, *draw(st.lists(st.sampled_from(OTHERS), max_size=2))]
    given_at = rng.integers(-n, n, shape).astype(kind)
    is_taken = written(text, avoid, {"i": np.asarray(given_at)})
    assert is_taken or len(set(avoid)) > 1


@examples(30)
@given(st.data())
def test_largest_smallest_and_sum(data: st.DataObject) -> None:
    """Of an axis of any length, by TopK, halves, sums or products."""
    draw = data.draw
    op = draw(st.sampled_from(["ReduceMax", "ReduceMin", "ReduceSum"]))
    kind = draw(st.sampled_from(["int64", "int32"]))
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 7]), min_size=1, max_size=3))
    axis, keeps = draw(st.integers(0, len(shape) - 1)), draw(st.integers(0, 1))
    n, k = draw(st.sampled_from([(2, 0), (9, -4)]))
    others = st.sampled_from(["TopK", "ReduceSum", "Max", "Min", "MatMul", "Slice", "Cast"])
    avoid = [op, *draw(st.lists(others, max_size=3))]
    text = f"""g ({kind}{dims(shape)} i) => ({kind} z)
        <{kind} n = {{{n}}}, {kind} k = {{{k}}}, int64[1] a = {{{axis - len(shape)}}}> {{
            m = Mod (i, n)  j = Add (m, k)  z = {op} <keepdims = {keeps}> (j, a) }}"""
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    at = rng.integers(-9, 9, shape).astype(kind)
    is_taken = written(text, avoid, {"i": at})
    # The sum needs another axis, and a range of its numbers, which is not known of all int32.
    is_kept = op == "ReduceSum" and (len(shape) == 1 or kind == "int32")
    assert is_taken or len(set(avoid)) > 1 or is_kept


MOVED = {
    "Gather": "z = Gather <axis = {axis}> (x, i)",
    "GatherElements": "z = GatherElements <axis = {axis}> (x, i)",
    "Slice": "z = Slice (x, starts, ends, axes)",
    "Pad": "z = Pad (x, pads)",
}


@examples(40)
@given(st.data())
def test_moves(data: st.DataObject) -> None:
    """Gathers by each other, a Slice by a Gather, and a Pad of an axis of unknown size."""
    draw = data.draw
    op = draw(st.sampled_from([*MOVED]))
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 5]), min_size=1, max_size=3))
    axis = draw(st.integers(0, len(shape) - 1))
    dtype, kind = (
        draw(st.sampled_from(["float", "bool", "int64"])),
        draw(st.sampled_from(["int64", "int32"])),
    )
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    rows = (
        [draw(st.integers(1, 4))]
        if op == "Gather"
        else [int(rng.integers(1, n + 1)) for n in shape]
    )
    names = [str(n) for n in shape]
    if op == "Pad" or (op == "Slice" and len(shape) > 1):
        names[axis if op == "Pad" else axis - 1] = "N"
    pads = [0] * (2 * len(shape))
    pads[axis], pads[axis + len(shape)] = int(rng.integers(0, 3)), int(rng.integers(0, 3))
    starts, ends = sorted(rng.integers(-shape[axis], shape[axis] + 1, 2).tolist())
    body = MOVED[op].format(axis=axis)
    text = f"""g ({dtype}[{",".join(names)}] x, {kind}{dims(rows)} i) => ({dtype} z)
        <int64[{len(pads)}] pads = {{{str(pads)[1:-1]}}}, int64[1] starts = {{{starts}}},
         int64[1] ends = {{{ends}}}, int64[1] axes = {{{axis}}}> {{ {body} }}"""
    text = text if "i)" in body else text.replace(f", {kind}{dims(rows)} i", "")
    x = rng.integers(-3, 3, shape).astype({"float": "float32"}.get(dtype, dtype))
    at = rng.integers(-shape[axis], shape[axis], rows).astype(kind)
    assert written(text, [op], {"x": x, "i": at} if "i)" in body else {"x": x})


@pytest.mark.parametrize("op", ["Range", "Max", "Min", "Where"])
def test_others(op: str) -> None:
    text = """g (float[N, 2] x, int64[K] i, bool[K] c) => (int64 y, int64 z, int64 w, int64 v) {
            m = Mod (i, 5)  s = Shape <start = 0, end = 1> (x)  e = Squeeze (s)
            y = Range (0, e, 1)  z = Max (i, m)  w = Min (m, i)  v = Where (c, m, 7) }"""
    feeds: list[Feed] = [
        {
            "x": np.zeros((rows, 2), np.float32),
            "i": np.array([0, -1, 2**62, -(2**63), 4, 7]),
            "c": np.array([0, 1, 0, 1, 1, 0], bool),
        }
        for rows in (0, 1, 4)
    ]
    assert written(text, [op], *feeds)


@pytest.mark.parametrize("op", ["Slice", "Pad", "ReduceMax", "Gather", "GatherElements", "Equal"])
def test_a_tensor_of_unknown_rank(op: str) -> None:
    """It is not written otherwise, and nothing fails."""
    bodies = {
        "Slice": "Slice (r, one, two)",
        "Pad": "Pad (r, pads)",
        "ReduceMax": "ReduceMax (r)",
        "Equal": "Equal (r, one)",
    }
    text = f"""g (int64[N] x, int64[K] s) => (float z) <int64[1] one = {{0}}, int64[1] two = {{1}},
        int64[2] pads = {{0, 1}}> {{
            r = Reshape (x, s)  y = {bodies.get(op, f"{op} (r, one)")}
            z = Cast <to = 1> (ReduceSum <keepdims = 0> (Cast <to = 1> (y))) }}"""
    at: Feed = {"x": np.zeros(3, np.int64), "s": np.array([3])}
    assert written(text, [op], at) == (op == "Equal")


@pytest.mark.parametrize(
    ("indices", "avoid", "op"),
    [
        ("j = Identity (i)", [], "Equal"),  # any integer: also counted from the end
        ("j = Mod (i, n)", [], "Gather"),
        ("j = Mod (i, n)", ["Gather"], "Equal"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "ends"), [("float", "0, 1"), ("float", "-0.0, 1"), ("int64", f"5, {2**63 - 1}")]
)
def test_one_hot(indices: str, avoid: list[str], op: str, kind: str, ends: str) -> None:
    text = f"""g (int64[2, 3] i) => ({kind}[A, B, C] y)
        <int64 n = {{4}}, {kind}[2] e = {{{ends}}}> {{
            {indices}  y = OneHot <axis = 1> (j, n, e) }}"""
    numbers = np.array([0, 3, -1, -4, 4, -5, 2**63 - 1, -(2**63), 2, 1, -2, 7])
    avoid, feeds = ["OneHot", *avoid], [{"i": at} for at in numbers.reshape(2, 2, 3)]
    assert written(text, avoid, *feeds)
    target = f"standard, avoid = {avoid}"
    assert op in onnx_scatterx.optimize(parse(text), target=target).report.ops_after
