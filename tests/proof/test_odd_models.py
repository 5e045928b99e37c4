"""What ONNX Runtime does with odd graphs, types and operator sets: none is proven wrongly."""

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from onnx_scatterx import verify
from tests.helpers.equivalence_support import assert_follows
from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, outcome, unproven


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


def test_two_spellings_of_one_operator_set_in_a_function() -> None:
    one = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 18, "own" : 1]>
        g (float[2, 3] x) => (float[2, 3] y) { y = own.f(x) }
        <domain: "own", opset_import: ["" : 18, "ai.onnx" : 12]> f (a) => (b) { b = Neg(a) }""")
    assert prove(one, one).kind == "unknown"


def test_a_constant_that_is_computed_is_an_assumption() -> None:
    """ONNX Runtime packs the stored one, and adds in another order."""
    text = """g (float[1, 67] x) => (float[1, 33] y) { v = Identity(w) y = MatMul(x, NAME) }"""
    one, other = (parse(text.replace("NAME", name)) for name in "wv")
    for model in (one, other):
        model.graph.initializer.append(onnx.numpy_helper.from_array(floats(67, 33), "w"))
    assert outcome(one, {"x": floats(1, 67)}) != outcome(other, {"x": floats(1, 67)})
    for pair in ((one, other), (other, one)):
        assert "MatMul is the same for a constant that is computed" in str(prove(*pair))
    assert "computed" not in str(prove(one, one))


def test_a_remainder_of_floats_without_fmod() -> None:
    text = "g (float[N] x) => (float[N] y) <float[1] one = {1}> { y = Mod <fmod = 1> (x, one) %s }"
    unproven(parse(text % ""), parse(text % "z = Mod(x, one)"), {"x": floats(3)})


@pytest.mark.parametrize("op", ["Min", "Max"])
def test_the_extremes_of_an_old_operator_set(op: str) -> None:
    text = f"g (float[2, 3] x) => (float[2, 3] y) {{ y = {op}(x, float [1]) }}"
    unproven(parse(text, 8), parse(text, 7), {"x": floats(2, 3)})


@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements"])
def test_a_reduction_of_conditions_that_no_output_reads(op: str) -> None:
    dims = "2, 1" if op == "ScatterND" else "2"
    text = f"""g (bool[4] x, bool[2] u) => (bool[4] y) <int64[{dims}] i = {{0, 1}}> {{ NODE
        y = Not(x) }}"""
    node = f'z = {op} <reduction = "max"> (x, i, u)'
    feed = {"x": np.ones(4, bool), "u": np.ones(2, bool)}
    unproven(parse(text.replace("NODE", "")), parse(text.replace("NODE", node)), feed)


def test_more_slopes_than_elements() -> None:
    """ONNX infers the shape of the elements, and ONNX Runtime's default options fold it."""
    text = "g (float[1] x, float[N] s) => (int64[1] y) { t = PRelu(x, s) y = Shape(%s) }"
    assert not prove(parse(text % "s"), parse(text % "t")).proven


@pytest.mark.parametrize(
    ("head", "node", "opset"),
    [
        ("float[6]", "a, , b = Split(x, three)", 18),
        ("float[3]", 'a = ScatterElements <reduction = "add"> (x, three, x)', 13),
        ("float[3]", "a = ConstantOfShape <value = float[2] {1, 2}> (three)", 18),
        ("float[3]", "a = Add(x, three)", 18),
        ("int64[3]", "a = And(x, x)", 18),
        ("int64[3]", "a = Not(x)", 18),
        ("int64[3]", "a = Mod <fmod = 1, axis = 1> (x, three)", 18),
    ],
)
def test_a_node_that_onnx_does_not_have(head: str, node: str, opset: int) -> None:
    text = f"g ({head} x) => ({head} y) <int64[3] three = {{2, 2, 2}}> {{ NODE y = Identity(x) }}"
    one, other = (parse(text.replace("NODE", n), opset) for n in ("", node))
    assert prove(one, one).proven
    assert prove(one, other).kind == "unknown"


def test_a_size_that_is_fixed_in_one_of_two_inputs() -> None:
    one = parse("g (float[N] x, float[N] w) => (float[M] y) { y = Concat <axis = 0> (x, w) }")
    other = parse("""g (float[4] x, float[N] w) => (float[M] y) {
        c = Concat <axis = 0> (x, w) y = Reshape(c, [8]) }""")
    found = verify(one, other, prove=True, samples=5)
    assert found.answer == "same", found
    assert "for N = 4, which the second model has fixed, and all inputs" in str(found)
    assert verify(one, other, prove=True, samples=5, distrust_dims=True).answer == "different"


def test_two_ways_to_keep_the_axes_of_a_maximum() -> None:
    text = """g (int64[K, M] x) => (int64[1, M] y, int64[M] z) <int64[1] a = {0}> {
        y = ReduceMax <keepdims = 1> (x, a) z = %s }"""
    pair = [parse(text % n) for n in ("ReduceMax <keepdims = 0> (x, a)", "Squeeze(y, a)")]
    assert prove(*pair).proven
    assert_follows(
        """g (int64[K, 1, 3] x) => (int64[3] y, int64[1, 3] z)
        <int64[2] a = {0, 1}, int64[1] b = {0}> {
        y = ReduceMax <keepdims = 0> (x, a) z = ReduceMax <keepdims = 0> (x, b) }""",
        {"x": np.array([[[1, 9, 3]], [[4, 2, 8]]])},
    )


def test_a_rank_that_onnx_infers_wrongly() -> None:
    text = """g (float[4, 1, 4] x, float[A, B, C] w) => (int64[1] z) <int64[1] rank = {2}> {
        y = ConvTranspose <kernel_shape = [3], output_padding = [0], output_shape = [3],
            strides = [2]> (x, w)
        s = Shape(y) r = Shape(s) z = Identity(%s) }"""
    one, other = (parse(text % name) for name in ("r", "rank"))
    unproven(one, other, {"x": floats(4, 1, 4), "w": floats(1, 3, 3)})


def test_memory_that_is_given_to_a_value_whose_dim_has_the_same_name() -> None:
    """So ONNX Runtime may fail if dims of one name differ, and does not for the first model."""
    text = """g (int64[N] x, int64[N] w) => (int64[N] y, int64[M] z) <int64[1] o = {1}> {
        %s = %s(x%s) %s z = Neg(%s) }"""
    one = parse(text % ("y", "Neg", "", "", "w"))
    nodes = "u = Sub(t, o) y = Neg(u) s = Add(w, o) v = Sub(s, o)"
    other = parse(text % ("t", "Add", ", o", nodes, "v"))
    feed = {"x": np.arange(5), "w": np.arange(3)}
    assert outcome(one, feed)
    assert not outcome(other, feed)
    assert prove(one, other).proven
    assert prove(one, other, distrust_dims=True).kind == "unknown"


def test_a_node_that_no_output_needs_may_fail() -> None:
    """By default, ONNX Runtime removes it, and the first model runs on more inputs."""
    text = """g (float[3] x, int64[1] i) => (bool[1] y) <int64[1] k = {3}, bool[1] t = {1}> {
        z = Gather(x, i) y = %s }"""
    one, other = (parse(text % node) for node in ("Less(i, k)", "Identity(t)"))
    assert not outcome(one, {"x": floats(3), "i": np.array([9])})
    assert "on which the first model runs without graph optimizations" in str(prove(one, other))


def test_that_axes_are_short_is_always_an_assumption() -> None:
    one = parse("""g (int64 n) => (int64[M] y) {
        r = Range(0, n, 1) c = Cast <to = 6> (r) y = Cast <to = 7> (c) }""")
    other = parse("""g (int64 n) => (int64[M] y) { y = Range(0, n, 1) }""")
    assert "every axis is shorter than 2^31" in str(prove(one, other))


@pytest.mark.parametrize("count", [40, 1 << 21])  # of more than 1 MB, the bytes are not kept
def test_a_condition_that_is_a_byte_of_two(count: int, tmp_path: Path) -> None:
    """ONNX Runtime keeps the bytes of external data: a Cast gives 2."""
    paths = []
    for byte in (2, 1):
        made = parse(
            f"g (int64[N, {count}] x) => (int64[M, K] y) {{ c = Cast<to = 7> (w) y = Add (x, c) }}"
        )
        tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.BOOL, dims=[count])
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=f"{byte}.bin")
        made.graph.initializer.append(tensor)
        (tmp_path / f"{byte}.bin").write_bytes(bytes([1, byte]) * (count // 2))
        (tmp_path / f"{byte}.onnx").write_bytes(made.SerializeToString())
        paths.append(tmp_path / f"{byte}.onnx")
    assert "has an element that is neither 0 nor 1" in str(prove(paths[0], paths[0]))
    assert "has an element that is neither 0 nor 1" in str(prove(*paths))
    assert prove(paths[1], paths[1]).proven


@pytest.mark.parametrize("filled", [False, True])
def test_a_condition_that_is_256(filled: bool) -> None:
    """For onnx it is false, as its last byte is 0, and for ONNX Runtime it is true."""
    nodes = "s = Shape (x) w = ConstantOfShape (s) " if filled else ""
    text = f"g (bool[N] x) => (bool[M] y) {{ {nodes} y = And (x, w) }}"
    one, other = parse(text), parse(text)
    for made, number in ((one, 256), (other, 0)):
        tensor = onnx.TensorProto(name="w", data_type=onnx.TensorProto.BOOL, dims=[1])
        tensor.int32_data.append(number)
        if filled:
            made.graph.node[1].attribute.append(onnx.helper.make_attribute("value", tensor))
        else:
            made.graph.initializer.append(tensor)
    assert outcome(one, {"x": np.ones(1, bool)}) != outcome(other, {"x": np.ones(1, bool)})
    assert "has an element that is neither 0 nor 1" in str(prove(one, other))
    assert prove(other, other).proven


def test_a_promise_of_an_input_that_has_the_name_of_a_size() -> None:
    """Only elements are contiguous. A bound is known of the size alone."""
    text = "g (int64[N] N) => (bool[N] y) <int64 one = {1}, bool[1] yes = {1}> { NODES }"
    one = parse(text.replace("NODES", "b = GreaterOrEqual (N, one) y = Identity (b)"))
    other = parse(text.replace("NODES", "s = Shape (N) y = Expand (yes, s)"))
    assert verify(one, one, prove=True, samples=2, assume=["N: contiguous"])
    assert not verify(one, other, prove=True, samples=0, assume=["N >= 1"])
