"""Reads that look like slices and are not, or not at every size."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.text.reasons import Reason
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample


def ops(text: str) -> list[str]:
    """Return the operators that are left, sorted."""
    return sorted(n.op_type for n in nodes(optimize(parse(text), gathers=True)))


def reason(text: str) -> Reason | None:
    """Return why the only gather is kept."""
    (gather,) = onnx_scatterx.inspect(parse(text), gathers=True).gathers
    return gather.reason


@pytest.mark.sampled(4)
@pytest.mark.parametrize("opset", [9, 10, 11, 13, 18, 21])
@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("rows", ["0, 1, 2", "-1, -2", "3, -1, 3", "-3", "2, 1, 0", "0, 1, 2, -1"])
def test_rows(rows: str, kind: str, opset: int) -> None:
    n = len(rows.split(","))
    for axis in (0, -2):
        model = f"""g (float[4,3] x) => (float[{n},3] y) <{kind}[{n}] i = {{{rows}}}>
            {{ y = Gather <axis = {axis}> (x, i) }}"""
        assert_sound(parse(model, opset), gathers=True)


@pytest.mark.parametrize("opset", [9, 10, 11])
def test_an_old_slice_of_an_axis_of_unknown_size(opset: int) -> None:
    model = parse("g (float[N,3] x) => (float[k,3] y) { y = Gather(x, [1, 2]) }", opset)
    assert_sound(model, {"N": 4}, {"N": 3}, left=int(opset == 10), gathers=True)


def test_an_index_that_is_never_there() -> None:
    assert reason("g (float[2] x) => (float[1] y) { y = Gather(x, [2]) }") is Reason.INVALID


def test_nothing_is_read_so_nothing_is_checked() -> None:
    # ONNX Runtime's GatherND looks at no index where there is nothing to copy.
    model = """g (float[N,5,M] x) => (float[a,5,M] y) { y = GatherND(x, [[2]]) }"""
    feeds = ({"N": n, "M": m} for n, m in ((3, 2), (2, 0), (0, 0)))
    assert_sound(model, *feeds, left=1, gathers=True)
    model = """g (float[B,N] x) => (float[B,2] y) {
        t = Concat <axis = 0> (Gather(Shape(x), [0]), [2])
        y = GatherElements <axis = 1> (x, Expand([0, 1], t)) }"""
    feeds = ({"B": b, "N": n} for b, n in ((3, 2), (2, 5), (0, 2), (0, 1), (0, 0)))
    assert_sound(model, *feeds, gathers=True)


def test_one_element_for_all_of_none() -> None:
    # Where N is 0 there may be no element, and Squeeze would fail.
    model = """g (float[M] x, float[N] z) => (float[N] y) {
        s = Shape(z)
        i = ConstantOfShape <value = int64[1] {0}> (s)
        y = Gather(x, i) }"""
    feeds = ({"M": m, "N": n} for m, n in ((3, 2), (1, 0), (0, 0), (2, 1)))
    assert_sound(model, *feeds, gathers=True)


def test_fewer_on_the_other_axes() -> None:
    model = """g (float[4,3] x) => (float[2,2] y)
        { y = GatherElements <axis = 0> (x, [[2, 2], [3, 3]]) }"""
    assert_sound(model, left=0, gathers=True)


def test_a_diagonal_is_no_box() -> None:
    model = """g (float[4,3] x) => (float[3] y) { y = GatherND(x, [[0, 0], [1, 1], [2, 2]]) }"""
    assert_sound(model, left=1, gathers=True)
    assert reason(model) is Reason.DIAGONAL


def test_batch_dims_that_need_not_agree() -> None:
    # ONNX Runtime lets four tuples read from two batches.
    model = """g (float[B,3] x) => (float[k] y)
        { y = GatherND <batch_dims = 1> (x, [[0], [0], [0], [0]]) }"""
    assert_sound(model, {"B": 4}, {"B": 2}, left=1, gathers=True)


def test_batch_dims_that_agree() -> None:
    model = """g (float[2,4,3] x) => (float[2,2,3] y)
        { y = GatherND <batch_dims = 1> (x, [[[1], [2]], [[1], [2]]]) }"""
    assert_sound(model, left=0, gathers=True)


def test_strings() -> None:
    model = "g (string[4,3] x) => (string[2,3] y) { y = Gather(x, [1, 2]) }"
    assert_sound(model, left=1, gathers=True)
    model = "g (string[4,3] x) => (string[2,3] y) { y = GatherND(x, [[1], [2]]) }"
    assert_sound(model, left=0, gathers=True)


@pytest.mark.parametrize(
    "kind", ["bool", "float16", "bfloat16", "int8", "uint16", "int64", "double"]
)
def test_types(kind: str) -> None:
    model = f"""g ({kind}[4,3] x) => ({kind}[4,2] y) {{ y = Gather <axis = 1> (x, [2, 0]) }}"""
    if kind != "bfloat16":  # which Python cannot feed
        assert_sound(model, left=0, gathers=True)
    assert ops(model) == ["Slice"]


def test_indices_that_a_caller_can_override() -> None:
    model = parse("""g (float[4,3] x, int64[2] i) => (float[2,3] y) <int64[2] i = {1, 2}>
        { y = Gather(x, i) }""")
    assert_sound(model, {}, {"i": [3, 0]}, left=1, gathers=True)


def test_everything_is_an_output_already() -> None:
    model = """g (float[4,3] x) => (float[4,3] y, float[4,3] z, float[4,3] v) {
        y = Gather(x, [0, 1, 2, 3])
        v = Neg(x)
        z = Gather(v, [0, 1, 2, 3]) }"""
    assert_sound(model, left=0, gathers=True)
    assert ops(model) == ["Identity", "Identity", "Neg"]


def test_a_read_that_is_an_output_and_is_read_on() -> None:
    model = """g (float[4,3] x) => (float[2,3] y, float[1,3] z) {
        y = Gather(x, [3, 1])
        z = Gather(y, [1]) }"""
    assert_sound(model, left=0, gathers=True)


def test_reads_in_branches() -> None:
    model = """g (float[N,3] x, bool c) => (float[k,3] y) {
        y = If (c) <
            then_branch = a () => (float[k,3] p) { p = Gather(x, [2, 1]) },
            else_branch = b () => (float[k,3] q) { q = Identity(x) }> }"""
    # That there are three rows is known in the one branch only.
    feeds = [{"N": n, "c": c} for n, c in ((4, True), (1, False), (0, False))]
    assert_sound(model, *feeds, left=0, gathers=True)


def test_reads_in_a_loop() -> None:
    model = """g (float[4,3] x, int64 n) => (float[k,2] y) {
        y = Loop (n, bool True) <body = b (int64 at, bool c) => (bool more, float[2] r) {
            before = Sub(at, 1)
            row = Gather(x, before)
            r = Gather(row, [2, 0])
            more = Identity(c) }> }"""
    assert_sound(model, *({"n": n} for n in (1, 3, 4)), left=1, gathers=True)


def test_a_function_with_two_callers() -> None:
    # Rows 0 and 1 are everything to one caller and a part to the other.
    model = parse("""g (float[2,3] a, float[4,3] b) => (float[2,3] y, float[2,3] z) {
            y = local.head(a)
            z = local.head(b) }
        <domain: "local", opset_import: ["" : 18]>
        head (x) => (out) {
            i = Constant <value = int64[2] {0, 1}> ()
            out = Gather(x, i) }""")
    assert_sound(model, gathers=True)


def test_what_was_written_is_read_where_it_came_from() -> None:
    # Without being asked for: the write is removed, and the read goes with it.
    model = """g (float[8,3] x, float[2,3] u) => (float[2,3] y, float[3,3] z) {
        w = ScatterND(x, [[2], [3]], u)
        y = Gather(w, [3, 2])
        z = Gather(w, [5, 6, 7]) }"""
    assert_sound(model, left=0)
    assert [n.op_type for n in optimize(parse(model)).graph.node] == ["Slice", "Slice"]


def test_a_read_across_what_was_written_is_no_longer_than_it_was() -> None:
    model = """g (float[8,3] x, float[2,3] u) => (float[4,3] y, float[8,3] w) {
        w = ScatterND(x, [[2], [3]], u)
        y = Gather(w, [1, 2, 3, 4]) }"""

    for gathers in (False, True):
        assert_sound(model, gathers=gathers)
    assert ops(model) == ["Concat", "Slice", "Slice", "Slice"]


def test_shapes_are_left_alone() -> None:
    model = """g (float[N,3] x, float[K] z) => (float[K] y) {
        y = Reshape(z, Gather(Shape(x), [0])) }"""
    assert onnx_scatterx.inspect(parse(model), gathers=True).gathers == ()
    assert ops(model) == ["Gather", "Reshape", "Shape"]


def test_an_index_that_others_read_counts_for_nothing() -> None:
    # The Range is kept, so two nodes in place of one Gather would be more than before.
    model = """g (float[9,3] x, int64 n) => (float[k,3] y, int64[k] r) {
        r = Range(1, n, 1)
        y = Gather(x, r) }"""
    assert_sound(model, *({"n": n} for n in (1, 4, 9)), gathers=True)
    assert len(ops(model)) == 2


def test_large_constants_are_not_stored_twice() -> None:
    model = parse("g (float[4] z) => (float[999,9] y, float[4] w) { w = Neg(z) y = Gather(t, i) }")
    table, rows = sample("float32", 1000, 9), np.arange(1, 1000)
    for name, array in (("t", table), ("i", rows)):
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    assert_sound(model, left=0, gathers=True)
    assert optimize(model, gathers=True).ByteSize() < model.ByteSize()


def test_strings_are_left_to_gather() -> None:
    # ONNX Runtime's Gather of a row of strings gives empty strings; a Slice would give the row.
    model = """g (string[3,N] x, string[1,N] u) => (string[N] y) {
            y = Gather <axis = 0> (ScatterND (x, [[2]], u), 1) }"""
    feeds = [
        {"x": np.full((3, n), "row", object), "u": np.full((1, n), "update", object)}
        for n in (1, 2, 5)
    ]
    assert_sound(model, *feeds)
