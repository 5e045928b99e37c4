"""WriteOnIntegers: between quantizers of one scale, integers are written."""

import dataclasses
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.lift.quantization import Quantization
from onnx_scatterx.text.quantized import OnFloats
from tests.helpers.pair import SESSIONS, Pair, agree, rejections
from tests.helpers.support import assert_sound, nodes, optimize, parse, sample

QUANTIZERS = ("QuantizeLinear", "DequantizeLinear")
LIMITS = {name: np.iinfo(name) for name in ("int8", "uint8", "int16", "uint16")}

WRITE = """g (uint8[4,3] x, uint8[2,3] u) => (uint8[4,3] y) <int64[2,1] i = {1, 2}, SCALES> {
    a = DequantizeLinear (x, s, z)
    b = DequantizeLinear (u, t, z)
    c = ScatterND (a, i, b)
    y = QuantizeLinear (c, s, z) }"""
ONE = "float s = {0.25}, float t = {0.25}, uint8 z = {7}"


def count(model: onnx.ModelProto) -> int:
    """Count the nodes that quantize and dequantize."""
    return sum(node.op_type in QUANTIZERS for node in nodes(model))


def feeds(model: onnx.ModelProto, *seeds: int) -> list[dict[str, np.ndarray]]:
    """Draw inputs of a model of which all sizes are numbers."""
    found = []
    for seed in seeds:
        feed = {}
        for value in model.graph.input:
            kind = value.type.tensor_type
            shape = [d.dim_value for d in kind.shape.dim]
            name = helper.tensor_dtype_to_np_dtype(kind.elem_type).name
            feed[value.name] = np.asarray(sample(name, *shape, seed=seed))
        found.append(feed)
    return found


def on_integers(text: str, *, left: int = 0, quantizers: int = 0) -> onnx.ModelProto:
    """Check that a model is sound without scatters, and with how many quantizers."""
    model = parse(text)
    assert_sound(model, *feeds(model, 0, 1, 2), left=left)
    made = optimize(model)
    assert count(made) == quantizers, [n.op_type for n in made.graph.node]
    return made


def on_floats(text: str, why: OnFloats) -> None:
    """Check that a model is sound, and keeps its quantizers as they are, for a reason."""
    model = parse(text)
    made = optimize(model)
    assert quantizers(made) == quantizers(model)
    for feed in feeds(model, 0, 1, 2):
        for load in SESSIONS:
            before, after = (load(m).run(None, feed) for m in (model, made))
            assert agree(before, after)
    report = onnx_scatterx.inspect(model, target="standard")
    told = {entry.quantized for entry in report.scatters}
    assert told == {f"on floats: {why.value}"}


def quantizers(model: onnx.ModelProto) -> list[bytes]:
    """Return the nodes that quantize and dequantize, but for what they read and are called."""
    found = [node for node in nodes(model) if node.op_type in QUANTIZERS]
    return sorted(f"{n.op_type} {n.input[1:]} {n.attribute}".encode() for n in found)


def test_one_scale() -> None:
    made = on_integers(WRITE.replace("SCALES", ONE))
    assert [n.op_type for n in made.graph.node] == ["Slice", "Slice", "Concat"]


@pytest.mark.parametrize("opset", [11, 12, 13, 18, 19, 21, 23, 24])
def test_every_operator_set(opset: int) -> None:
    model = parse(WRITE.replace("SCALES", ONE), opset, 8 if opset < 19 else 10)
    assert_sound(model, *feeds(model, 0), left=0)
    assert count(optimize(model)) == 0


def test_a_tensor_scatter() -> None:
    model = parse(
        """g (int8[1,8,4] x, int8[1,2,4] u, int64[1] at) => (int8[1,8,4] y)
        <float s = {0.1}, int8 z = {0}> {
            a = DequantizeLinear (x, s, z)
            b = DequantizeLinear (u, s, z)
            c = TensorScatter (a, b, at)
            y = QuantizeLinear (c, s, z) }""",
        24,
        11,
    )
    given = {"x": sample("int8", 1, 8, 4), "u": sample("int8", 1, 2, 4, seed=1)}
    for target in ("standard", "scatterx"):
        assert count(onnx_scatterx.optimize(model, target=target).model) == 0
    assert_sound(model, *({**given, "at": np.array([n], np.int64)} for n in (0, 3, 6)))


def test_in_a_function() -> None:
    model = parse(
        """g (uint8[4,3] x, uint8[2,3] u) => (uint8[4,3] y) { y = f.put (x, u) }
        <domain: "f", opset_import: ["" : 18]> put (x, u) => (y) {
            s = Constant <value = float {0.25}> ()
            z = Constant <value = uint8 {7}> ()
            i = Constant <value = int64[2,1] {1, 2}> ()
            a = DequantizeLinear (x, s, z)
            b = DequantizeLinear (u, s, z)
            c = ScatterND (a, i, b)
            y = QuantizeLinear (c, s, z) }""",
        more=', "f" : 1',
    )
    assert_sound(model, *feeds(model, 0, 1), left=0)
    assert count(optimize(model)) == 0


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
    assert entry.quantized == f"on floats: {OnFloats.UNKNOWN_SCALE.value}"
    assert count(optimize(model)) == 3


def kept(text: str, why: OnFloats, opset: int = 18) -> None:
    """A scatter stays, as ONNX Runtime would not compute the same without it."""
    model = parse(text, opset, 10)
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
    kept(text, OnFloats.REJECTED, 21)
    for changed, opset in ((text, 19), (text.replace("int8", "uint8"), 21)):
        model = parse(changed, opset, 10)
        assert_sound(model, *feeds(model, 0, 1), left=0)


def test_an_output_between_the_write_and_its_quantizer() -> None:
    """ONNX Runtime moves QuantizeLinear up past a Transpose, over the output."""
    text = """g (uint8[4,3] x, float[2,3] u) => (float[4,3] c, uint8[3,4] y)
        <int64[2,1] i = {1, 2}, float s = {0.25}, uint8 z = {3}> {
            a = DequantizeLinear (x, s, z)
            c = ScatterND (a, i, u)
            t = Transpose (c)
            y = QuantizeLinear (t, s, z) }"""
    kept(text, OnFloats.MOVED)


def test_scales_that_are_nodes() -> None:
    """As PyTorch's exporter writes them: each quantizer has constants of its own."""
    scales = """s = Constant <value_float = 0.25> () t = Constant <value = float {0.25}> ()
        w = Constant <value_int = 7> () z = Cast <to = 2> (w) a = D"""
    text = WRITE.replace(", SCALES", "").replace("a = D", scales)
    on_integers(text)


def test_the_report_says_so() -> None:
    (entry,) = onnx_scatterx.inspect(parse(WRITE.replace("SCALES", ONE))).scatters
    assert entry.quantized == "on uint8"
    assert entry.done == "removed by Concat, Slice, on uint8"
    assert entry.to_dict()["quantized"] == "on uint8"


def test_two_scales() -> None:
    text = WRITE.replace("SCALES", ONE.replace("t = {0.25}", "t = {0.5}"))
    on_floats(text, OnFloats.SCALES)
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
    assert_sound(model, *feeds(model, 0, 1), left=1)
    (entry,) = onnx_scatterx.inspect(model, target="standard").scatters
    assert entry.reason is Reason.QUANTIZER
    assert entry.quantized == f"on floats: {OnFloats.INEXACT.value}"
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
    on_floats(text, OnFloats.REDUCTION)


def test_moves_around_it() -> None:
    on_integers("""g (int8[3,4] x, int8[3,2] u) => (int8[4,3] y)
        <int64[2,1] i = {1, 2}, float s = {0.1}, int8 z = {-3}> {
            a = DequantizeLinear (x, s, z)
            b = DequantizeLinear (u, s, z)
            p = Transpose (a)
            q = Transpose (b)
            c = ScatterND (p, i, q)
            y = QuantizeLinear (c, s, z) }""")


def test_a_move_with_other_readers_stays_for_them() -> None:
    made = on_integers(
        """g (int8[3,4] x, int8[2,3] u) => (int8[4,3] y, float[4,3] other)
        <int64[2,1] i = {1, 2}, float s = {0.1}, int8 z = {-3}> {
            a = DequantizeLinear (x, s, z)
            b = DequantizeLinear (u, s, z)
            p = Transpose (a)
            other = Sigmoid (p)
            c = ScatterND (p, i, b)
            y = QuantizeLinear (c, s, z) }""",
        quantizers=1,
    )
    assert [n.input[0] for n in made.graph.node if n.op_type == "Sigmoid"] == ["p"]


def test_an_output_of_floats_is_dequantized_from_the_integers() -> None:
    text = WRITE.replace("SCALES", ONE).replace("(uint8[4,3] y)", "(uint8[4,3] y, float[4,3] c)")
    on_integers(text, quantizers=1)


def test_nodes_that_compute_with_the_floats() -> None:
    text = WRITE.replace("SCALES", ONE).replace("(uint8[4,3] y)", "(uint8[4,3] y, float[4,3] d)")
    on_floats(text.replace("y = Q", "d = Sigmoid (c) y = Q"), OnFloats.READ)


def test_two_that_quantize_the_same() -> None:
    text = WRITE.replace("SCALES", ONE).replace("=> (", "=> (uint8[3,4] v, uint8[4,3] w, ")
    text = text.replace("y = Q", "d = Transpose (c) v = QuantizeLinear (d, s, z) y = Q")
    on_integers(text.replace("y = Q", "w = QuantizeLinear (c, s, z) y = Q"))


def test_two_that_quantize_otherwise() -> None:
    text = WRITE.replace("SCALES", ONE).replace("=> (", "=> (uint8[4,3] v, ")
    text = text.replace("float t", "float r = {0.5}, float t")
    on_floats(text.replace("y = Q", "v = QuantizeLinear (c, r, z) y = Q"), OnFloats.SCALES)


def test_a_shape_of_the_floats_is_that_of_the_integers() -> None:
    text = WRITE.replace("SCALES", ONE).replace("=> (", "=> (int64[2] v, ")
    on_integers(text.replace("y = Q", "v = Shape (c) y = Q"))


def test_one_write_after_another() -> None:
    on_integers("""g (uint8[4,3] x, uint8[2,3] u) => (uint8[4,3] y)
        <int64[2,1] i = {1, 2}, int64[2,1] j = {0, 3}, float s = {0.1}, uint8 z = {3}> {
            a = DequantizeLinear (x, s, z)
            b = DequantizeLinear (u, s, z)
            c = ScatterND (a, i, b)
            d = QuantizeLinear (c, s, z)
            e = DequantizeLinear (d, s, z)
            f = ScatterND (e, j, b)
            h = ScatterND (f, i, b)
            y = QuantizeLinear (h, s, z) }""")


@pytest.mark.parametrize("number", ["0.0", "-0.0", "0.5", "100.0", "-100.0", "0.05"])
def test_a_constant_is_quantized(number: str) -> None:
    text = """g (uint8[2,3] u) => (uint8[4,3] y)
        <int64[2,1] i = {1, 2}, int64[2] shape = {4, 3}, float s = {0.1}, uint8 z = {3}> {
            a = ConstantOfShape <value = float[1] {NUMBER}> (shape)
            b = DequantizeLinear (u, s, z)
            c = ScatterND (a, i, b)
            y = QuantizeLinear (c, s, z) }"""
    on_integers(text.replace("NUMBER", number))


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_constant_that_is_no_number(number: str) -> None:
    model = parse(
        """g (uint8[2,3] u) => (uint8[4,3] y)
        <int64[2,1] i = {1, 2}, float[4,3] a, float s = {0.1}, uint8 z = {3}> {
            b = DequantizeLinear (u, s, z)
            c = ScatterND (a, i, b)
            y = QuantizeLinear (c, s, z) }""".replace(", float[4,3] a", "")
    )
    array = np.full((4, 3), number, np.float32)
    model.graph.initializer.append(numpy_helper.from_array(array, "a"))
    assert_sound(model, *feeds(model, 0), left=0)
    assert count(optimize(model)) == 2


def test_an_output_of_floats_with_a_constant_in_it() -> None:
    text = """g (uint8[2,3] u) => (uint8[4,3] y, float[4,3] c)
        <int64[2,1] i = {1, 2}, float[4,3] a, float s = {0.25}, uint8 z = {3}> {
            b = DequantizeLinear (u, s, z)
            c = ScatterND (a, i, b)
            y = QuantizeLinear (c, s, z) }""".replace(", float[4,3] a", "")
    for number, expected in ((0.5, 1), (0.3, 2), (-0.0, 2)):
        model = parse(text)
        array = np.full((4, 3), number, np.float32)
        model.graph.initializer.append(numpy_helper.from_array(array, "a"))
        assert_sound(model, *feeds(model, 0), left=0)
        assert count(optimize(model)) == expected
        ends = [n for n in optimize(model).graph.node if n.op_type == "QuantizeLinear"]
        assert len(ends) == (0 if number == 0.5 else 1)


CACHE = """g (int8[1,8,4] x, int8[1,1,4] u, int64[1] at) => (int8[1,8,4] y)
    <float s = {0.1}, int8 z = {0}, int64[1] last = {-1}> {
        a = DequantizeLinear (x, s, z)
        b = DequantizeLinear (u, s, z)
        p = Transpose <perm = [1, 0, 2]> (a)
        q = Transpose <perm = [1, 0, 2]> (b)
        i = Unsqueeze (at, last)
        c = ScatterND (p, i, q)
        d = Transpose <perm = [1, 0, 2]> (c)
        y = QuantizeLinear (d, s, z) }"""


@pytest.mark.parametrize("target", ["standard", "scatterx"])
def test_a_cache(target: str) -> None:
    model = parse(CACHE)
    result = onnx_scatterx.optimize(model, target=target).model
    assert count(result) == 0
    pair = Pair(model, result)
    for at in (0, 3, 7, -1):
        given = {"x": sample("int8", 1, 8, 4), "u": sample("int8", 1, 1, 4, seed=at + 9)}
        assert pair.accepts({**given, "at": np.array([at], np.int64)})


def test_a_kept_scatter_is_one_of_integers() -> None:
    text = WRITE.replace("SCALES", ONE).replace("uint8[2,3] u)", "uint8[2,3] u, int64[2,1] i)")
    model = parse(text.replace("int64[2,1] i = {1, 2}, ", ""))
    rules = ["concat", "view"]
    result = onnx_scatterx.optimize(model, target="standard", rules=rules).model
    assert [n.op_type for n in result.graph.node] == ["ScatterND"]


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


def test_in_a_branch() -> None:
    model = parse("""g (uint8[4,3] x, uint8[2,3] u, bool k) => (uint8[4,3] y)
        <int64[2,1] i = {1, 2}, float s = {0.1}, uint8 z = {3}> {
            a = DequantizeLinear (x, s, z)
            y = If (k) <then_branch = t () => (uint8[4,3] p) {
                b = DequantizeLinear (u, s, z)
                c = ScatterND (a, i, b)
                p = QuantizeLinear (c, s, z) },
              else_branch = e () => (uint8[4,3] q) { q = Identity (x) }> }""")
    assert_sound(model, *feeds(model, 0, 1, 2, 3), left=0)
    assert count(optimize(model)) == 0


PER_CHANNEL = """g (int8[4,3] x, int8[2,3] u) => (int8[4,3] y)
    <int64[2,1] i = {1, 2}, float[3] s = {0.1, 0.2, 0.4}, int8[3] z = {0, 1, -1}> {
        a = DequantizeLinear <axis = 1> (x, s, z)
        b = DequantizeLinear <axis = -1> (u, s, z)
        c = ScatterND (a, i, b)
        y = QuantizeLinear <axis = 1> (c, s, z) }"""


def test_scales_of_an_axis_that_stays() -> None:
    on_integers(PER_CHANNEL)


def test_scales_of_an_axis_that_is_transposed() -> None:
    on_integers(
        """g (int8[3,4] x, int8[2,3] u) => (int8[3,4] y)
        <int64[2,1] i = {1, 2}, float[3] s = {0.1, 0.2, 0.4}> {
            a = DequantizeLinear <axis = 0> (x, s)
            p = Transpose (a)
            b = DequantizeLinear (u, s)
            c = ScatterND (p, i, b)
            d = Transpose (c)
            y = QuantizeLinear <axis = 0> (d, s, z) }""".replace("(d, s, z)", "(d, s, z)").replace(
            "float[3] s = {0.1, 0.2, 0.4}", "float[3] s = {0.1, 0.2, 0.4}, int8[3] z = {0, 0, 0}"
        )
    )


def test_scales_of_an_axis_that_is_written() -> None:
    on_floats(
        """g (int8[3,4] x, int8[3,2] u) => (int8[3,4] y)
        <int64[3,2] i = {2, 2, 0, 0, 1, 1}, float[3] s = {0.1, 0.2, 0.4}, int8[3] z = {0, 0, 0}> {
            a = DequantizeLinear <axis = 0> (x, s, z)
            b = DequantizeLinear <axis = 0> (u, s, z)
            c = ScatterElements (a, i, b)
            y = QuantizeLinear <axis = 0> (c, s, z) }""",
        OnFloats.AXIS,
    )


def test_the_last_axis_of_scales_is_another_one() -> None:
    text = PER_CHANNEL.replace("int8[4,3]", "int8[3,3]").replace("<axis = 1> (c", "<axis = 0> (c")
    on_floats(text, OnFloats.AXIS)


SCALES = st.one_of(
    st.floats(2.0**-126, 2.0**100, width=32),
    st.sampled_from([2.0**-126, 2.0**-149, 1.0, 0.1, 1 / 3, 255.0, 3e38]),
)


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A model with a write between quantizers, and whether all their scales are one."""

    model: onnx.ModelProto
    feed: dict[str, np.ndarray]
    is_one: bool
    dtype: str


@st.composite
def quantized_writes(draw: st.DrawFn) -> Drawn:
    """Draw a write of rows, elements or single positions, with what may stand around it."""
    dtype = draw(st.sampled_from(["int8", "uint8", "int8", "uint8", "int16", "uint16"]))
    wide = dtype.endswith("16")
    domain = draw(st.sampled_from(["", "com.microsoft"])) if wide else ""
    opsets = [13, 18, 21]
    opset = 21 if wide and not domain else draw(st.sampled_from(opsets))
    rows, columns, count = draw(st.tuples(*[st.integers(1, 4)] * 2, st.integers(0, 3)))
    axis = draw(st.sampled_from([None, None, 0, 1]))
    channels = () if axis is None else ((rows, columns)[axis],)
    number = st.integers(int(LIMITS[dtype].min), int(LIMITS[dtype].max))

    def quantization() -> tuple[np.ndarray, np.ndarray]:
        size = int(np.prod(channels, dtype=int))
        scale = draw(st.lists(SCALES, min_size=size, max_size=size))
        zero = draw(st.lists(number, min_size=size, max_size=size))
        return (
            np.array(scale, np.float32).reshape(channels),
            np.array(zero, dtype).reshape(channels),
        )

    one = quantization()
    other = quantization()
    chosen = draw(st.sampled_from([(one,) * 3] * 3 + [*product((one, other), repeat=3)]))
    pairs = list(chosen)
    op = draw(st.sampled_from(["ScatterND", "ScatterElements"]))
    positions = (
        draw(
            st.lists(
                st.integers(-rows, rows - 1),
                min_size=count,
                max_size=count,
                unique_by=lambda p: p % rows,
            )
        )
        if count <= rows
        else []
    )
    indices = np.array(positions, np.int64).reshape(-1, 1)
    if op == "ScatterElements":
        indices = np.broadcast_to(indices, (len(positions), columns))
    transposed = draw(st.booleans())
    made, constants = [], {"i": np.ascontiguousarray(indices)}

    def quantizer(kind: str, given: str, result: str, which: int, along: int | None) -> None:
        scale, zero = pairs[which]
        constants.update({f"s{which}": scale, f"z{which}": zero})
        attributes: dict[str, Any] = (
            {} if along is None else {"axis": along - 2 * draw(st.booleans())}
        )
        inputs = [given, f"s{which}", f"z{which}"]
        made.append(helper.make_node(kind, inputs, [result], domain=domain, **attributes))

    shape = (columns, rows) if transposed else (rows, columns)
    moved = axis if axis is None or not transposed else 1 - axis
    quantizer("DequantizeLinear", "x", "a", 0, moved)
    quantizer("DequantizeLinear", "u", "b", 1, axis)
    data = "a"
    if transposed:
        made.append(helper.make_node("Transpose", ["a"], ["p"]))
        data = "p"
    made.append(helper.make_node(op, [data, "i", "b"], ["c"]))
    result = "c"
    if transposed:
        made.append(helper.make_node("Transpose", ["c"], ["d"]))
        result = "d"
    quantizer("QuantizeLinear", result, "y", 2, moved)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        made,
        "g",
        [
            helper.make_tensor_value_info("x", kind, shape),
            helper.make_tensor_value_info("u", kind, (len(positions), columns)),
        ],
        [helper.make_tensor_value_info("y", kind, shape)],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    seed = draw(st.integers(0, 99))
    feed = {
        "x": sample(dtype, *shape, seed=seed),
        "u": sample(dtype, len(positions), columns, seed=seed),
    }
    same = all(a.tobytes() == b.tobytes() for p in pairs for a, b in zip(p, pairs[0], strict=True))
    return Drawn(model, feed, same, dtype)


@given(quantized_writes())
def test_random_writes(drawn: Drawn) -> None:
    made = optimize(drawn.model)
    pair = Pair(drawn.model, made)
    pair.accepts(drawn.feed)
    before, after = Counter(quantizers(drawn.model)), Counter(quantizers(made))
    assert not after - before  # none is moved or doubled
    (entry,) = onnx_scatterx.inspect(drawn.model, target="standard").scatters
    assert (entry.quantized == f"on {drawn.dtype}") == (not after)
    assert drawn.is_one or after


@given(
    st.sampled_from(sorted(LIMITS)),
    SCALES,
    st.integers(0, 2**16 - 1),
    st.sampled_from(["float32", "float16"]),
)
def test_what_is_called_exact_is_exact(dtype: str, scale: float, point: int, floats: str) -> None:
    zero = np.array(point, np.uint16).astype(dtype)
    with np.errstate(over="ignore"):
        array = np.array(scale).astype(floats)
    f = helper.np_dtype_to_tensor_dtype(np.dtype(floats))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    found = Quantization(ir.DataType(kind), ir.DataType(f), array.tobytes(), zero.tobytes(), None)
    if not found.is_exact:
        return
    numbers = np.arange(LIMITS[dtype].min, LIMITS[dtype].max + 1).astype(dtype)
    graph = helper.make_graph(
        [
            helper.make_node("DequantizeLinear", ["x", "s", "z"], ["f"]),
            helper.make_node("QuantizeLinear", ["f", "s", "z"], ["y"]),
        ],
        "g",
        [helper.make_tensor_value_info("x", kind, [len(numbers)])],
        [
            helper.make_tensor_value_info("y", kind, [len(numbers)]),
            helper.make_tensor_value_info("f", f, [len(numbers)]),
        ],
        [numpy_helper.from_array(array, "s"), numpy_helper.from_array(zero, "z")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    for load in SESSIONS:
        try:
            session = load(model)
        except rejections():
            return  # there is no kernel for this type
        assert np.array_equal(session.run(["y"], {"x": numbers})[0], numbers)
