"""Names and operator sets that may mean two things: a proof reads them as ONNX Runtime does."""

import numpy as np
import onnx
import onnx.parser
import pytest

from onnx_scatterx import verify
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, unproven


def test_a_constant_of_a_branch_that_has_the_name_of_one_outside() -> None:
    """ONNX Runtime takes the one outside."""
    one = parse("""g (float[N] x) => (float[N] y) <bool c = {1}, float[1] k = {5}> {
        y = If(c) <then_branch = t () => (float[N] o) <float[1] k = {1}> { o = Add(x, k) },
            else_branch = e () => (float[N] p) { p = Add(x, k) }> }""")
    other = parse("g (float[N] x) => (float[N] y) { y = Add(x, float [1]) }")
    unproven(one, other, {"x": floats(3)})


def test_a_sparse_constant_of_a_branch() -> None:
    one = parse("""g (float[N] x) => (float[N] y) <bool c = {1}, float[1] k = {5}> {
        y = If(c) <then_branch = t () => (float[N] o) { o = Add(x, k) },
            else_branch = e () => (float[N] p) { p = Neg(x) }> }""")
    sparse = onnx.SparseTensorProto(dims=[1])
    sparse.values.CopyFrom(onnx.numpy_helper.from_array(np.array([7], np.float32), "k"))
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(np.array([0]), "places"))
    one.graph.node[0].attribute[0].g.sparse_initializer.append(sparse)
    other = parse("g (float[N] x) => (float[N] y) { y = Add(x, float [5]) }")
    unproven(one, other, {"x": floats(3)})


def test_two_constants_of_one_name() -> None:
    """ONNX Runtime takes the last one for all readers."""
    one = parse("""g (float[2] x) => (float[2] y, float[2] z) {
        k = Constant <value = float[1] {1}> () y = Add(x, k)
        k = Constant <value = float[1] {5}> () z = Add(x, k) }""")
    other = parse("""g (float[2] x) => (float[2] y, float[2] z)
        { y = Add(x, float [1]) z = Add(x, float [5]) }""")
    unproven(one, other, {"x": floats(2)})


def test_the_attribute_of_a_function_outside_of_it() -> None:
    """ONNX Runtime reads a 0."""
    one, other = (parse("g (float[2, 3] x) => (float[A, B] y) { y = Flatten(x) }") for _ in "12")
    one.graph.node[0].attribute.add(name="axis", ref_attr_name="k", type=onnx.AttributeProto.INT)
    unproven(one, other, {"x": floats(2, 3)})


def test_two_spellings_of_one_operator_set_in_a_function() -> None:
    one = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
        g (float[2, 3] x) => (float[2, 3] y) { y = own.f(x) }
        <domain: "own", opset_import: ["" : 18, "ai.onnx" : 12]> f (a) => (b) { b = Neg(a) }""")
    assert prove(one, one).kind == "unknown"


@pytest.mark.parametrize("op", ["Min", "Max"])
def test_the_extremes_of_an_old_operator_set(op: str) -> None:
    text = f"g (float[2, 3] x) => (float[2, 3] y) {{ y = {op}(x, float [1]) }}"
    unproven(parse(text, 8), parse(text, 7), {"x": floats(2, 3)})


def test_a_subgraph_means_what_its_operator_set_says() -> None:
    """Scan is the same in the sets 12 and 13, and Softmax is not."""
    text = """g (float[1, 2, 2, 3] x) => (float[A, B, C, D] y) { y = Scan <num_scan_inputs = 1,
        body = b (float[2, 2, 3] i) => (float[2, 2, 3] o) { o = Softmax(i) }> (x) }"""
    unproven(parse(text, 12), parse(text, 13), {"x": floats(1, 2, 2, 3)})


def test_a_promise_of_an_input_that_has_the_name_of_a_size() -> None:
    """Only elements are contiguous. A bound is known of the size alone."""
    text = "g (int64[N] N) => (bool[N] y) <int64 one = {1}, bool[1] yes = {1}> { NODES }"
    one = parse(text.replace("NODES", "b = GreaterOrEqual (N, one) y = Identity (b)"))
    other = parse(text.replace("NODES", "s = Shape (N) y = Expand (yes, s)"))
    assert verify(one, one, prove=True, samples=2, assume=["N: contiguous"])
    assert not verify(one, other, prove=True, samples=0, assume=["N >= 1"])
