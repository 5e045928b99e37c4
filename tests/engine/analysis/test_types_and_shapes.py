"""Element types and shapes of outputs, where they are not those of the first input."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.helpers.support import parse

NODES = {
    "n = com.microsoft.EmbedLayerNormalization (i, i, f, f, f, v, v)": "FLOAT B S H",
    "n, m = com.microsoft.EmbedLayerNormalization (i, i, f, f, f, v, v)": "FLOAT B S H, INT32 B",
    "n = com.microsoft.DequantizeLinear (q, s, p)": "FLOAT16 B S",
    "n, m = TopK (f, two)": "FLOAT V 2, INT64 V 2",
    "l = Shape (f) k = Concat <axis = 0> (l) n = Reshape (f, k)": "INT64 2, INT64 2, FLOAT V H",
    "n, m = MaxPool <kernel_shape = [1, 1]> (x)": "FLOAT A B n.2 n.3, INT64 A B m.2 m.3",
    "n, m, o = Split <num_outputs = 3> (seven)": "FLOAT 3, FLOAT 3, FLOAT 1",
    "n = ConvTranspose (image, kernel)": "FLOAT 1 3 6 7",
    "n = ConvTranspose <strides = [2, 1]> (image, kernel)": "FLOAT 1 3 10 7",
    "n, m, o = DynamicQuantizeLinear (f)": "UINT8 V H, FLOAT, UINT8",
}


@pytest.mark.parametrize("text", NODES)
def test_outputs(text: str) -> None:
    model = ir.from_onnx_text(f"""<ir_version: 9, opset_import: ["" : 19, "com.microsoft" : 1]>
        g (int32[B, S] i, float[V, H] f, float[H] v, float[A, B, H, V] x, uint8[B, S] q,
           float16 s, uint8 p, float[7] seven,
           float[1, 2, 5, 6] image, float[2, 3, 2, 2] kernel) => ()
        <int64[1] two = {{2}}> {{ {text} }}""")
    found = interpret(model).values
    known = [found[value] for node in model.graph for value in node.outputs]
    words = [[str(x.dtype), *map(str, x.shape or ())] for x in known]
    assert ", ".join(map(" ".join, words)) == NODES[text]


def test_no_axis_is_empty_beside_one_that_is_computed() -> None:
    """So seven elements are that many rows: with no row, they could not be reshaped."""
    model = ir.from_proto(
        parse("""g (float[7] x, float[N] v) => (float[A, B] y) {
            y = Reshape <allowzero = 1> (x, Concat <axis = 0> (Shape (v), [-1])) }""")
    )
    assert str(interpret(model).values[model.graph.outputs[0]].shape) == "(N, ((7) // (N)))"


@pytest.mark.parametrize("op", ["ReduceSum", "ReduceMax"])
def test_a_size_that_only_older_versions_rule_out_rules_out_another_one_in_all(op: str) -> None:
    """If K is 0, older versions keep the axis, and cannot add; newer ones still have seven sums."""
    model = ir.from_proto(
        parse(f"""g (float[7, K] x, float[7] u, float[N] v) => (float[A, B] y, float[7] z) {{
            s = {op} <keepdims = 0> (x, [-1])
            z = Add (s, u)
            y = Reshape <allowzero = 1> (s, Concat <axis = 0> (Shape (v), [-1])) }}""")
    )
    assert str(interpret(model).values[model.graph.outputs[0]].shape) == "(N, ((7) // (N)))"


def test_an_attribute_that_a_function_hands_on() -> None:
    model = ir.from_proto(
        parse("""g (float[2, 3] x) => (float[A, B] y) { y = own.outer <axis = 1> (x) }
            <domain: "own", opset_import: ["" : 18, "own" : 1]> outer <axis> (a) => (b) {
                b = own.inner <axis: int = @axis> (a) }
            <domain: "own", opset_import: ["" : 18]> inner <axis> (c) => (d) {
                d = Concat <axis: int = @axis> (c, c) }""")
    )
    known = interpret(model).values
    (inner,) = (f for f in model.functions.values() if f.name == "inner")
    assert str(known[inner.outputs[0]].shape) == "(2, 6)"
