"""Tensors of many dims that are cut: one view of the tensor before them, and sums of fewer dims."""

import math
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

PASSES = ["WriteOtherForms"]


@examples(80)
@given(st.permutations(range(5)), st.sampled_from(["Split", "Gather", "Slice"]), st.data())
def test_queries_keys_and_values(order: list[int], op: str, data: st.DataObject) -> None:
    """Of 5 dims, one of which is cut. If it is the first of its axis and split, 4 are enough."""
    sizes = [2, 3, data.draw(st.sampled_from([1, 3])), 2, 4]
    first = data.draw(st.integers(0, 3))  # the 3rd to last axes are cut from one or more
    flat = [*sizes[:first], math.prod(sizes[first:])]
    moved = [sizes[d] for d in order]
    axis = order.index(data.draw(st.integers(0, 4)))
    count = moved[axis]
    at = data.draw(st.integers(0, count - 1))
    parts = ", ".join(f"s{i}" for i in range(count))
    taken = {
        "Split": f"{parts} = Split <axis = {axis}> (t, {[1] * count})"
        f"  y = Squeeze (s{at}, [{axis}])",
        "Gather": f"y = Gather <axis = {axis}> (t, at)",
        "Slice": f"s = Slice (t, [{at - count}], [{at + 1}], [{axis}])  y = Squeeze (s, [{axis}])",
    }[op]
    model = parse(f"""g (float{flat} x) => (float[A, B, C, D] y) <int64 at = {{{at}}}> {{
        r = Reshape (x, {sizes})  t = Transpose <perm = {list(order)}> (r)  {taken} }}""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    assert_same(model, result.model, [{"x": sample("float32", *flat)}])
    if (op == "Split" and axis == order.index(2) and first == 2) or count == 1:
        assert not result.report.violations


def test_qkv_of_a_transformer() -> None:
    model = parse("""g (float[4, 9, 24] x) => (float[4, 2, 9, 4] q, float[4, 2, 9, 4] v) {
        r = Reshape (x, [4, 9, 3, 2, 4])  t = Transpose <perm = [2, 0, 3, 1, 4]> (r)
        a, b, c = Split <axis = 0> (t, [1, 1, 1])  q = Squeeze (a, [0])  v = Squeeze (c, [0]) }""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    kinds = [node.op_type for node in nodes(result.model)]
    assert sorted(kinds) == ["Reshape", "Reshape", "Slice", "Slice", "Transpose", "Transpose"]
    assert_same(model, result.model, [{"x": sample("float32", 4, 9, 24)}])


def test_a_cut_that_keeps_the_order() -> None:
    model = parse("""g (float[4, 24] x) => (float[4, 2, 3, 2] y) {
        r = Reshape (x, [4, 2, 2, 3, 2])  t = Transpose <perm = [1, 0, 2, 3, 4]> (r)
        a, b = Split <axis = 0> (t, [1, 1])  y = Squeeze (b, [0]) }""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    assert [node.op_type for node in nodes(result.model)] == ["Reshape", "Slice"]
    assert_same(model, result.model, [{"x": sample("float32", 4, 24)}])


@examples(60)
@given(
    st.sampled_from(["Add", "Sub", "Mul", "Div", "Max", "Min"]),
    st.sampled_from(["float32", "int64"]),
    st.data(),
)
def test_sums_of_many_dims(op: str, kind: str, data: st.DataObject) -> None:
    """Axes of one element are left out, and axes are merged along which the inputs are alike."""
    rank = data.draw(st.integers(5, 6))
    whole = [data.draw(st.sampled_from([1, 1, 2, 3])) for _ in range(rank)]
    small = [data.draw(st.sampled_from([n, 1])) for n in whole][data.draw(st.integers(0, rank)) :]
    dtype, held = ("float", "float32") if kind == "float32" else ("int64", "int64")
    flat = math.prod(whole)
    ones = np.arange(1, max(math.prod(small), 1) + 1).reshape(small).astype(held)
    numbers = ", ".join(str(n) for n in ones.ravel().tolist())
    dims = ", ".join(map(str, small))
    operand = data.draw(st.sampled_from(["c", "Reshape (u, s)"]))
    model = parse(f"""g ({dtype}[{flat}] x, {dtype}[{max(math.prod(small), 1)}] u)
        => ({dtype}[{flat}] y)
        <{dtype}{small or ""} c = {{{numbers}}}, int64[{len(small)}] s = {{{dims}}}> {{
            a = Reshape (x, {whole})  b = Identity (c)  d = {op} (a, {operand})
            y = Reshape (d, [{flat}]) }}""")
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 4", passes=PASSES)
    feed = {"x": sample(held, flat), "u": ones.ravel()}
    assert_same(model, result.model, [feed])
    kept = [d for d in range(rank) if whole[d] != 1]
    padded = [1] * (rank - len(small)) + small
    changes = sum((padded[a] == 1) != (padded[b] == 1) for a, b in pairwise(kept))
    if kept and changes < 4:
        assert not [v for v in result.report.violations if v.op == op]
