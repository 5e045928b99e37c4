"""Dims that ONNX infers or a model states, and that no run has: a proof does not believe them."""

import numpy as np
import onnx
import pytest

from tests.helpers.pair import open_session
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, outcome, unproven


@pytest.mark.parametrize("op", ["ReduceSum", "ReduceMax", "ReduceMean", "ArgMax"])
@pytest.mark.parametrize("flag", ["keepdims = %s", "keepdims = 1, noop_with_empty_axes = %s"])
def test_a_flag_of_2_is_not_one_of_1(op: str, flag: str) -> None:
    """What ONNX infers for a flag of 2 differs from what ONNX Runtime computes."""
    if op == "ArgMax" and "noop" in flag:
        return
    text = "g (float[2, 3] x) => (int64[A] y) { i = %s(x) r = %s <%s> (i) y = Shape(r) }"
    cast = "Identity" if op in ("ReduceMean", "ArgMax") else "Cast <to = 7> "
    one, other = (parse(text % (cast, op, flag % way)) for way in (2, 1))
    unproven(one, other, {"x": floats(2, 3)})


def test_a_rank_that_the_body_of_a_loop_states() -> None:
    one = parse("""g (int64 n, bool c, int64[K] s) => (int64[1] y) {
        t, r = Loop(n, c, s) <body = b (int64 i, bool k, int64[K] v)
            => (bool l, int64[K] w, float[A, B] o) {
                l = Identity(k) w = Identity(v) o = ConstantOfShape(v) }>
        q = Shape(r) y = Shape(q) }""")
    other = parse("""g (int64 n, bool c, int64[K] s) => (int64[1] y) { y = Identity([3]) }""")
    feed = {"n": np.array(2), "c": np.array(True), "s": np.array([2])}
    unproven(one, other, feed)


def test_padding_of_the_result_beside_automatic_padding() -> None:
    """ONNX infers a 7."""
    one = parse("""g (float[1, 1, 3] x, float[1, 1, 2] w) => (int64[3] y) {
        r = ConvTranspose <auto_pad = "SAME_UPPER", output_padding = [1], strides = [2]> (x, w)
        y = Shape(r) }""")
    other = parse("""g (float[1, 1, 3] x, float[1, 1, 2] w) => (int64[3] y)
        { y = Identity([1, 1, 7]) }""")
    unproven(one, other, {"x": floats(1, 1, 3), "w": floats(1, 1, 2)})


def test_a_stated_rank_without_sizes() -> None:
    """ONNX Runtime's default options fold by it."""
    text = (
        "g (float[N] x, int64[K] s) => (int64[1] y) { r = Reshape(x, s) q = Shape(r) y = Shape(q) }"
    )
    one, other = parse(text), parse(text)
    other.graph.value_info.append(onnx.helper.make_tensor_value_info("r", 1, [None, None]))
    found = prove(one, other)
    assert found.kind in ("unknown", "proven for sizes"), found
    assert prove(one, one).proven


def test_a_rank_that_onnx_infers_wrongly() -> None:
    text = """g (float[4, 1, 4] x, float[A, B, C] w) => (int64[1] z) <int64[1] rank = {2}> {
        y = ConvTranspose <kernel_shape = [3], output_padding = [0], output_shape = [3],
            strides = [2]> (x, w)
        s = Shape(y) r = Shape(s) z = Identity(%s) }"""
    one, other = (parse(text % name) for name in ("r", "rank"))
    unproven(one, other, {"x": floats(4, 1, 4), "w": floats(1, 3, 3)})


def test_more_slopes_than_elements() -> None:
    """ONNX infers the shape of the elements, and ONNX Runtime's default options fold it."""
    text = "g (float[1] x, float[N] s) => (int64[1] y) { t = PRelu(x, s) y = Shape(%s) }"
    assert not prove(parse(text % "s"), parse(text % "t")).proven


@pytest.mark.parametrize("end", [2**31 - 1, 2**63 - 1])
def test_a_slice_backwards_to_the_greatest_end(end: int) -> None:
    """It takes all, and ONNX infers that it takes nothing: the default options fold by that."""
    one = parse("""g (float[5] x) => (int64[1] y) {
        t = Gather(x, [3, 2, 1, 0]) y = Shape(t) }""")
    other = parse(f"""g (float[5] x) => (int64[1] y) <int64[1] s = {{3}}, int64[1] e = {{{end}}},
        int64[1] a = {{0}}, int64[1] m = {{-1}}> {{ t = Slice(x, s, e, a, m) y = Shape(t) }}""")
    feed = {"x": floats(5)}
    assert outcome(one, feed) == outcome(other, feed)
    (folded,) = open_session(other, fused=True).run(None, feed)
    assert folded.tolist() == [0]
    assert prove(one, other).kind == "unknown"
