"""Element types and shapes of outputs, where they are not those of the first input."""

import onnx_ir as ir
import pytest

from onnx_scatterx.assumptions.clauses import read_clauses
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.analysis.operators.reshaping import reshaped
from onnx_scatterx.engine.terms import coord, size
from onnx_scatterx.graphs import graphs_of
from tests.engine.analysis.known import known
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
    "n = com.microsoft.QLinearGlobalAveragePool (p4, s, p, s, p)": "UINT8 A B 1 1",
    "n = com.microsoft.QLinearGlobalAveragePool <channels_last = 1> (p4, s, p, s, p)": (
        "UINT8 A 1 1 V"
    ),
    "l = SequenceConstruct (f, f) e = SequenceErase (l, zero) n = SequenceAt (e, zero)": (
        "FLOAT, FLOAT, FLOAT V H"
    ),
    "c = Concat <axis = 0> (v, v) n = ReduceSum (c, one)": "FLOAT 2*H, FLOAT 1",
    "c = Concat <axis = 0> (f, f) n = ReduceSum (c, one)": "FLOAT 2*V H, FLOAT 2*V 1",
}
ELEMENTS = {
    "n = ScatterElements <axis = 1> (table, places, new)": [[5, 6], [8, 7]],
    "n = ScatterElements (table, places, new)": [[5, 8], [7, 6]],
}


@pytest.mark.parametrize("text", NODES)
def test_outputs(text: str) -> None:
    model = ir.from_onnx_text(f"""<ir_version: 9, opset_import: ["" : 19, "com.microsoft" : 1]>
        g (int32[B, S] i, float[V, H] f, float[H] v, float[A, B, H, V] x, uint8[B, S] q,
           uint8[A, B, H, V] p4, float16 s, uint8 p, float[7] seven,
           float[1, 2, 5, 6] image, float[2, 3, 2, 2] kernel) => ()
        <int64[1] two = {{2}}, int64[1] one = {{1}}, int64 zero = {{0}}> {{ {text} }}""")
    found = interpret(model).values
    told = [found[value] for node in model.graph for value in node.outputs]
    words = [[str(x.dtype), *map(str, x.shape or ())] for x in told]
    assert ", ".join(map(" ".join, words)) == NODES[text]


@pytest.mark.parametrize("text", ELEMENTS)
def test_elements(text: str) -> None:
    model = ir.from_onnx_text(f"""<ir_version: 9, opset_import: ["" : 19]> g () => ()
        <int64[2, 2] table = {{1, 1, 3, 3}}, int64[2, 2] places = {{0, 1, 1, 0}},
         int64[2, 2] new = {{5, 6, 7, 8}}> {{ {text} }}""")
    constant = interpret(model).values[model.graph[0].outputs[0]].constant
    assert constant is not None
    assert constant.tolist() == ELEMENTS[text]


CONTENTS = {
    "CumSum (Expand (3, Shape (x)), [0])": "3*x0 + 3",
    "CumSum <exclusive = 1> (Expand (3, Shape (x)), [0])": "3*x0",
    "CumSum (Cast <to = 7> (m), [1])": "y[x0, x1]",
}


@pytest.mark.parametrize("call", CONTENTS)
def test_contents(call: str) -> None:
    text = f"g (float[N] x, bool[N, K] m) => (int64 z) {{ y = {call} z = ReduceSum (y) }}"
    assert known(parse(text), "y").rpartition(") ")[2] == CONTENTS[call]


@pytest.mark.parametrize(("most", "low"), [(2**29, 0), (2**30, -(2**31))])
def test_sums_that_may_wrap_may_be_negative(most: int, low: int) -> None:
    text = f"CumSum (Where (m, int32 {most}, int32 0), int32 0)"
    model = ir.from_proto(parse(f"g (bool[3] m) => (int32[3] y) {{ y = {text} }}"))
    formula = interpret(model).values[model.graph.outputs[0]].index_map
    assert formula is not None
    assert formula.interval()[0] == low


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
    values = interpret(model).values
    (inner,) = (f for f in model.functions.values() if f.name == "inner")
    assert str(values[inner.outputs[0]].shape) == "(2, 6)"


def test_axes_that_a_reshape_leaves_alone_are_not_in_the_indices_of_others() -> None:
    a, b, c = map(size, "abc")
    x = TensorValue(ir.DataType.INT64, (a, b, c), 7 * coord(0) + 3 * coord(1) + coord(2))
    (rows,), (columns,) = reshaped(x, (a * b, c)), reshaped(x, (a, b * c))
    assert rows.index_map is 7 * (coord(0) // b) + 3 * (coord(0) - b * (coord(0) // b)) + coord(1)
    last = coord(1) - c * (coord(1) // c)
    assert columns.index_map is 7 * coord(0) + 3 * (coord(1) // c) + last


def test_a_promise_about_the_only_element_is_a_fact() -> None:
    """So the axis in which it is a position has an element."""
    model = ir.from_proto(parse("g (int64[1] i, float[N] x) => (int64[1] j) { j = Neg (i) }"))
    found = interpret(model, assumed=read_clauses(["i >= 0", "i < N"]))
    (count,), facts = found.values[model.graph.inputs[1]].dims, found.scopes[model.graph].facts
    assert facts.is_nonnegative(count - 1)
    assert not any(fact.coords for fact in facts.known())


def test_bodies_of_unknown_operators_are_read() -> None:
    model = ir.from_proto(
        parse(
            """g (float[N] x) => (float[M] y) { y = own.repeat <body = b () => (float[N] z) {
            z = Neg (x) }> (x) }""",
            more=', "own" : 1',
        )
    )
    (body,) = graphs_of(model.graph[0])
    assert str(interpret(model).values[body.outputs[0]].shape) == "(N,)"
