"""WriteOnIntegers: between quantizers of one scale, integers are written."""

import numpy as np
import onnx_ir as ir
import pytest
from onnx import numpy_helper

import onnx_scatterx
import onnx_scatterx.passes
from onnx_scatterx.text.reasons import FloatReason
from tests.helpers.limited import limited
from tests.helpers.pair import Pair, assert_same
from tests.helpers.quantized import ONE, PER_CHANNEL, WRITE, count, feeds, on_integers
from tests.helpers.support import assert_sound, optimize, parse, sample

MOVED = """g (uint8[3,4] x, uint8[2,3] u) => (uint8[3,4] y)
    <int64[2,1] i = {1, 2}, float s = {0.1}, uint8 z = {3}> {
        a = DequantizeLinear (x, s, z)
        b = DequantizeLinear (u, s, z)
        c = ScatterND (Transpose (a), i, b)
        y = QuantizeLinear (Transpose (c), s, z) }"""


def test_one_scale() -> None:
    made = on_integers(WRITE.replace("SCALES", ONE))
    assert [n.op_type for n in made.graph.node] == ["Slice", "Slice", "Concat"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("opset", [11, 12, 13, 18, 19, 21, 23, 24])
def test_every_operator_set(opset: int) -> None:
    model = parse(WRITE.replace("SCALES", ONE), opset, 8 if opset < 19 else 10)
    assert_sound(model, *feeds(model, 0), left=0)
    assert count(optimize(model)) == 0


def test_a_write_without_quantizers_before_it() -> None:
    """Each scatter is asked, whatever the one before it is."""
    text = WRITE.replace("SCALES", ONE).replace(
        "int64[2,1] i", "int64[2,1] j = {0, 2}, int64[2,1] i"
    )
    text = text.replace(", uint8[2,3] u)", ", uint8[2,3] u, float[4,3] f, float[2,3] g)")
    text = text.replace("(uint8[4,3] y)", "(float[4,3] h, uint8[4,3] y)")
    made = optimize(parse(text.replace("a = D", "h = ScatterND (f, j, g) a = D")))
    assert count(made) == 0


def test_a_fill_outside_of_the_branch_that_writes_into_it() -> None:
    """Its numbers are written where they are read, and it is read elsewhere."""
    model = parse("""g (bool c, uint8[1, 2] u, int64[2] n) => (uint8[A, B] y)
        <float s = {0.5}, uint8 z = {3}> {
            f = ConstantOfShape <value = float[1] {2.5}> (n)
            y = If (c) <
                then_branch = a () => (uint8[A, B] q) {
                    w = ScatterND (f, [[1]], DequantizeLinear (u, s, z))
                    q = QuantizeLinear (w, s, z) },
                else_branch = b () => (uint8[A, B] r) { r = QuantizeLinear (f, s, z) }> }""")
    feed = {"u": np.array([[7, 9]], np.uint8), "n": np.array([4, 2])}
    assert_same(model, optimize(model), [feed | {"c": np.array(c)} for c in (True, False)])


def test_a_write_that_takes_too_many_steps_hides_no_other_one() -> None:
    """Twenty Reshapes stand behind the first write, and none behind the second."""
    chain = " ".join(f"c{i + 1} = Reshape (c{i}, [{2 + i % 2 * 2}, -1])" for i in range(20))
    model = parse(f"""g (int8[4,2] p, int8[2,2] q, int8[4,2] r, int8[2,2] s)
        => (int8[A,B] y, int8[4,2] z) {{
            c0 = ScatterND (DequantizeLinear (p, float 0.5, int8 3), [[3], [1]],
                DequantizeLinear (q, float 0.5, int8 3))
            {chain}
            y = QuantizeLinear (c20, float 0.5, int8 3)
            d = ScatterND (DequantizeLinear (r, float 0.5, int8 3), [[3], [1]],
                DequantizeLinear (s, float 0.5, int8 3))
            z = QuantizeLinear (d, float 0.5, int8 3) }}""")
    with limited(scatter_steps=30):
        told = [entry.quantized for entry in onnx_scatterx.inspect(model).scatters]
    assert told == [f"on floats: {FloatReason.LIMIT.value}", "on int8"]


def test_what_is_noted_of_a_write_stays() -> None:
    model = ir.from_proto(parse(WRITE.replace("SCALES", ONE)))
    (write,) = (node for node in model.graph if node.op_type == "ScatterND")
    write.doc_string, write.metadata_props["a"], write.meta["b"] = "what", "A", "B"
    assert onnx_scatterx.passes.WriteOnIntegers()(model).modified
    (new,) = (node for node in model.graph if node.op_type == "ScatterND")
    assert new is not write
    assert new.outputs[0].dtype == ir.DataType.UINT8
    assert (new.doc_string, new.metadata_props["a"], new.meta["b"]) == ("what", "A", "B")


LACKED = ("Concat", "Slice", "Gather", "GatherElements", "Where")


@pytest.mark.parametrize("source", [WRITE.replace("SCALES", ONE), MOVED])
def test_a_write_that_stays_on_floats_leaves_no_node(source: str) -> None:
    """The scatter can be removed only there, so what was planned on integers is removed."""
    lacking = "".join(f', limits.{op}.no_types = ["uint8"]' for op in LACKED)
    model = ir.from_proto(parse(source))
    before = list(model.graph)
    write = onnx_scatterx.passes.WriteOnIntegers(target=f"standard{lacking}")
    assert not write(model).modified
    assert list(model.graph) == before


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
    model = parse("""g (uint8[4,3] x, uint8[2,3] u) => (uint8[4,3] y) { y = f.put (x, u) }
        <domain: "f", opset_import: ["" : 18]> put (x, u) => (y) {
            s = Constant <value = float {0.25}> ()
            z = Constant <value = uint8 {7}> ()
            i = Constant <value = int64[2,1] {1, 2}> ()
            a = DequantizeLinear (x, s, z)
            b = DequantizeLinear (u, s, z)
            c = ScatterND (a, i, b)
            y = QuantizeLinear (c, s, z) }""")
    assert_sound(model, *feeds(model, 0, 1), left=0)
    assert count(optimize(model)) == 0


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


def test_two_that_quantize_the_same() -> None:
    text = WRITE.replace("SCALES", ONE).replace("=> (", "=> (uint8[3,4] v, uint8[4,3] w, ")
    text = text.replace("y = Q", "d = Transpose (c) v = QuantizeLinear (d, s, z) y = Q")
    on_integers(text.replace("y = Q", "w = QuantizeLinear (c, s, z) y = Q"))


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


def test_an_output_between_is_dequantized_by_a_scale_that_comes_before_it() -> None:
    model = parse("""g (uint8[3,4] x, uint8[3,2] u, uint8[2,3] v) => (float[4,3] c, uint8[4,3] y)
        <int64[2,1] i = {1, 2}, int64[2,1] j = {0, 1}, uint8 z = {7}> {
            r = Constant <value = float {0.25}> ()
            a = DequantizeLinear (x, r, z)
            b = DequantizeLinear (u, r, z)
            g = Transpose (a)
            h = Transpose (b)
            c = ScatterND (g, i, h)
            s = Constant <value = float {0.25}> ()
            d = DequantizeLinear (v, s, z)
            e = ScatterND (c, j, d)
            y = QuantizeLinear (e, s, z) }""")
    assert_sound(model, *feeds(model, 0, 1), left=0)
    assert count(optimize(model)) == 1
