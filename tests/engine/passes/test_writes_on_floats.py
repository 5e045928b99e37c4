"""Writes between quantizers that are done on the floats, and why."""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.text.reasons import FloatReason
from tests.helpers.pair import SESSIONS, agree
from tests.helpers.quantized import ONE, PER_CHANNEL, WRITE, count, feeds, on_floats
from tests.helpers.support import assert_sound, optimize, parse, sample


def test_scales_of_blocks_are_left_alone() -> None:
    text = """g (uint8[4,4] x, uint8[2,4] u) => (uint8[4,4] y)
        <int64[2,1] i = {1, 2}, float[4,2] s, uint8[4,2] z, float[2,2] t, uint8[2,2] w> {
            a = DequantizeLinear <axis = 1, block_size = 2> (x, s, z)
            b = DequantizeLinear <axis = 1, block_size = 2> (u, t, w)
            c = ScatterND (a, i, b)
            y = QuantizeLinear <axis = 1, block_size = 2> (c, s, z) }"""
    text = text.replace(", float[4,2] s, uint8[4,2] z, float[2,2] t, uint8[2,2] w", "")
    model = parse(text, 21, 10)
    for name, rows in (("s", 4), ("t", 2)):
        array = np.full((rows, 2), 0.5, np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    for name, rows in (("z", 4), ("w", 2)):
        array = np.zeros((rows, 2), np.uint8)
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    (entry,) = onnx_scatterx.inspect(model, target="standard").scatters
    assert entry.quantized == f"on floats: {FloatReason.UNKNOWN_SCALE.value}"
    assert count(optimize(model)) == 3


def kept(model: onnx.ModelProto, why: FloatReason) -> None:
    """Check that a scatter is kept, as ONNX Runtime would compute something else without it."""
    assert_sound(model, *feeds(model, 0, 1), left=1)
    (entry,) = onnx_scatterx.inspect(model, target="standard").scatters
    assert entry.reason is Reason.QUANTIZER
    assert entry.quantized == f"on floats: {why.value}"


def test_int8_before_a_slice_that_is_not_quantized() -> None:
    """ONNX Runtime 1.31 does not load it from operator set 21 on."""
    text = """g (int8[4,3] x, float[2,3] u) => (float[4,3] y)
        <int64[2,1] i = {1, 2}, float s = {0.25}, int8 z = {3}> {
            a = DequantizeLinear (x, s, z)
            c = ScatterND (a, i, u)
            y = Sigmoid (c) }"""
    kept(parse(text, 21, 10), FloatReason.REJECTED)
    for changed, opset in ((text, 19), (text.replace("int8", "uint8"), 21)):
        model = parse(changed, opset, 10)
        assert_sound(model, *feeds(model, 0, 1), left=0)


BESIDE = """g (int8[1,1,4,4] x, float[4] d, float[2] e) => (float[1,1,N,N] y, float[4] w)
    <int64[2,1] i = {1, 2}, float s = {0.25}, int8 z = {3}> {
        a = DequantizeLinear (x, s, z)
        MOVE (a)
        w = ScatterND (d, i, e) }"""


def test_a_function_named_as_a_move_stays_behind_the_quantizer() -> None:
    text = BESIDE.replace("N,N", "4,4").replace("MOVE", "y = f.Transpose")
    text += """ <domain: "f", opset_import: ["" : 21]> Transpose (p) => (q) { q = Neg (p) }"""
    model = parse(text, 21, 10)
    assert_sound(model, *feeds(model, 0, 1), left=0)


def test_a_pool_with_two_results_stays_behind_the_quantizer() -> None:
    """ONNX Runtime does not load it under its default options, and loads it without them."""
    text = BESIDE.replace("=> (", "=> (int64[1,1,3,3] k, ").replace("N,N", "3,3")
    model = parse(text.replace("MOVE", "y, k = MaxPool <kernel_shape = [2, 2]>"), 21, 10)
    made = optimize(model)
    assert [n.op_type for n in made.graph.node[:2]] == ["DequantizeLinear", "MaxPool"]
    (load, *_), (feed,) = SESSIONS, feeds(model, 0)
    assert agree(*(load(m).run(None, feed) for m in (model, made)))


def test_an_output_between_the_write_and_its_quantizer() -> None:
    """ONNX Runtime moves QuantizeLinear up past a Transpose, over the output."""
    text = """g (uint8[4,3] x, float[2,3] u) => (float[4,3] c, uint8[3,4] y) {
            c = ScatterND (DequantizeLinear (x, float 0.25, uint8 3), [[1], [2]], u)
            t = Transpose (c)
            y = QuantizeLinear (t, float 0.25, uint8 3) }"""
    kept(parse(text, 18, 10), FloatReason.MOVED)


def test_two_scales() -> None:
    text = WRITE.replace("SCALES", ONE.replace("t = {0.25}", "t = {0.5}"))
    on_floats(text, FloatReason.SCALES)
    told = onnx_scatterx.explain(parse(text), target="standard")
    assert "  quantized written on floats: the scales or zero points differ" in told


def test_a_scale_that_only_the_run_knows() -> None:
    text = WRITE.replace("uint8[2,3] u)", "uint8[2,3] u, float s)")
    text = text.replace("SCALES", "uint8 z = {7}").replace("t, z", "s, z")
    model = parse(text)
    given = {"x": sample("uint8", 4, 3), "u": sample("uint8", 2, 3)}
    assert count(optimize(model)) == 3
    for scale in (0.5, 0.0, np.nan, np.inf, 1e-45, -1.0):
        assert_sound(model, {**given, "s": np.array(scale, np.float32)}, left=0)


@pytest.mark.parametrize("scale", ["0.0", "1e-45", "1e-39", "3e38", "-1.0", "nan"])
def test_a_scale_of_which_the_second_does_not_undo_the_first(scale: str) -> None:
    """ONNX Runtime drops such quantizers beside a Slice or a Concat, and not beside a scatter."""
    text = WRITE.replace("SCALES", ONE.replace("0.25", "0.5"))
    model = parse(text)
    for constant in model.graph.initializer:
        if constant.name in "st":
            constant.CopyFrom(numpy_helper.from_array(np.array(scale, np.float32), constant.name))
    kept(model, FloatReason.INEXACT)
    assert_sound(model, *feeds(model, 0, 1), target="scatterx")


def test_an_initializer_that_is_an_input_is_no_constant() -> None:
    text = WRITE.replace("uint8[2,3] u)", "uint8[2,3] u, float s = {0.25})")
    text = text.replace("t, z", "s, z").replace("SCALES", "uint8 z = {7}")
    model = parse(text)
    assert count(optimize(model)) == 3


@pytest.mark.parametrize("reduction", ["add", "mul", "min", "max"])
def test_a_reduction(reduction: str) -> None:
    text = WRITE.replace("SCALES", ONE).replace(
        "ScatterND", f'ScatterND <reduction = "{reduction}">'
    )
    on_floats(text, FloatReason.REDUCTION)


def test_nodes_that_compute_with_the_floats() -> None:
    text = WRITE.replace("SCALES", ONE).replace("(uint8[4,3] y)", "(uint8[4,3] y, float[4,3] d)")
    on_floats(text.replace("y = Q", "d = Sigmoid (c) y = Q"), FloatReason.READ)


def test_two_that_quantize_otherwise() -> None:
    text = WRITE.replace("SCALES", ONE).replace("=> (", "=> (uint8[4,3] v, ")
    text = text.replace("float t", "float r = {0.5}, float t")
    on_floats(text.replace("y = Q", "v = QuantizeLinear (c, r, z) y = Q"), FloatReason.SCALES)


MASK = """g (uint16[4,3] x, uint16[4,3] u, bool[4,3] m) => (uint16[4,3] y)
    <float s = {0.1}, uint16 z = {3}> {
        a = DequantizeLinear (x, s, z)
        b = DequantizeLinear (u, s, z)
        n = NonZero (m)
        i = Transpose (n)
        g = GatherND (b, i)
        c = ScatterND (a, i, g)
        y = QuantizeLinear (c, s, z) }"""


def test_without_a_kernel_for_the_integers_floats_are_written() -> None:
    model = parse(MASK, opset=21)
    (entry,) = onnx_scatterx.inspect(model, target="standard").scatters
    assert entry.quantized.startswith("on floats")
    assert_sound(model, *feeds(model, 0, 1), left=0)


def test_scales_of_an_axis_that_is_written() -> None:
    on_floats(
        """g (int8[3,4] x, int8[3,2] u) => (int8[3,4] y)
        <float[3] s = {0.1, 0.2, 0.4}, int8[3] z = {0, 0, 0}> {
            a = DequantizeLinear <axis = 0> (x, s, z)
            b = DequantizeLinear <axis = 0> (u, s, z)
            c = ScatterElements (a, [[2, 2], [0, 0], [1, 1]], b)
            y = QuantizeLinear <axis = 0> (c, s, z) }""",
        FloatReason.AXIS,
    )


def test_the_last_axis_of_scales_is_another_one() -> None:
    text = PER_CHANNEL.replace("int8[4,3]", "int8[3,3]").replace("<axis = 1> (c", "<axis = 0> (c")
    on_floats(text, FloatReason.AXIS)
