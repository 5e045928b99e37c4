"""What ONNX Runtime does with odd nodes, and a proof once did not say: no such pair is proven."""

import numpy as np
import onnx
import onnx.parser
import pytest

from tests.helpers.proving import prove
from tests.helpers.support import parse
from tests.proof.differing_run import floats, outcome, unproven

HEAD = '<ir_version: 10, opset_import: ["" : 18, "{0}" : 1]> g (float[N] x) => (float[N] y)'


@pytest.mark.parametrize("opset", [11, 18])
def test_a_squeeze_of_no_axes_is_one_of_all(opset: int) -> None:
    text = "g (float[1, 3] x) => (int64[A] y) { r = Squeeze(x, []) y = Shape(r) }"
    if opset < 13:
        text = (
            "g (float[1, 3] x) => (int64[A] y) { r = Squeeze <axes : ints = []> (x) y = Shape(r) }"
        )
    other = "g (float[1, 3] x) => (int64[A] y) { y = Shape(x) }"
    unproven(parse(text, opset), parse(other, opset), {"x": floats(1, 3)})


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


@pytest.mark.parametrize("op", ["ScatterND", "ScatterElements"])
def test_an_unknown_reduction_is_none(op: str) -> None:
    dims = "2, 1" if op == "ScatterND" else "2"
    text = f"""g (int64[4] x, int64[2] u) => (int64[4] y) <int64[{dims}] i = {{1, 2}}> {{
        y = {op} <reduction = "REDUCTION"> (x, i, u) }}"""
    feed = {"x": np.array([5, 5, 5, 5]), "u": np.array([3, 9])}
    unproven(
        parse(text.replace("REDUCTION", "minimum")), parse(text.replace("REDUCTION", "min")), feed
    )


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_are_squared_by_a_product_if_the_exponent_is_one_number(dtype: str) -> None:
    text = f"""g ({dtype}[N] x) => ({dtype}[N] y) <{dtype}[1] two = {{2}}> {{
        s = Shape(x) t = Expand(two, s) y = Pow(x, %s) }}"""
    feed = {"x": np.array([2**20 if dtype == "int32" else 2**40, 3], dtype)}
    unproven(parse(text % "two"), parse(text % "t"), feed)


@pytest.mark.parametrize(("dtype", "number"), [("int32", 2**31 - 1), ("int64", 2**53)])
def test_integers_are_summed_as_float64(dtype: str, number: int) -> None:
    """A sum that does not fit is cut off at the end of its type, and does not wrap around."""
    text = (
        f"""g ({dtype}[2] x) => ({dtype}[1] y) <int64[1] a = {{0}}, int64[1] b = {{1}}> {{ %s }}"""
    )
    one = parse(text % "y = ReduceSum(x, a)")
    other = parse(text % "c = Gather(x, a) d = Gather(x, b) y = Add(c, d)")
    unproven(one, other, {"x": np.array([number, 1], dtype)})


@pytest.mark.parametrize("op", ["Sin", "Cos", "Log"])
def test_the_last_bits_depend_on_the_place_in_the_first_model_too(op: str) -> None:
    """The second model has no new node of this operator."""
    text = f"""g (float[N] x) => (float[M] y, float[N] z)
        <int64[1] one = {{1}}, int64[1] all = {{99}}> {{
        z = {op}(x) s = Slice(x, one, all) y = %s }}"""
    one, other = parse(text % f"{op}(s)"), parse(text % "Slice(z, one, all)")
    drawn = [np.abs(floats(n, spread=30)) for n in range(2, 60)]
    feed = next({"x": x} for x in drawn if outcome(one, {"x": x}) != outcome(other, {"x": x}))
    unproven(one, other, feed)


def test_a_cast_to_uint32_depends_on_the_place() -> None:
    text = """g (float[N] x) => (uint32[M] y) <int64[1] one = {1}, int64[1] all = {99}> { %s }"""
    one = parse(text % "s = Slice(x, one, all) y = Cast <to = 12> (s)")
    other = parse(text % "s = Cast <to = 12> (x) y = Slice(s, one, all)")
    unproven(one, other, {"x": np.full(9, -1e19, np.float32)})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("y = Where(c, x, x)", "y = Identity(x)"),
        ("y = Max(a, x)", "s = Shape(x) e = Expand(a, s) y = Max(e, x)"),
    ],
)
def test_the_sign_of_a_zero_is_an_assumption(one: str, other: str) -> None:
    text = "g (float[N] x, float[1] a, bool[1] c) => (float[N] y) { %s }"
    pair = [parse(text % nodes) for nodes in (one, other)]
    feed = {"x": np.full(9, -0.0, np.float32), "a": np.zeros(1, np.float32), "c": np.array([True])}
    assert outcome(pair[0], feed) != outcome(pair[1], feed)
    for a, b in (pair, pair[::-1]):
        found = prove(a, b)
        assert found.proven
        assert "the sign of a zero does not count where Where, Min or Max" in str(found)


def test_functions_beside_that_of_scatterx() -> None:
    """The kernel replaces the function ScatterX only."""
    text = (
        HEAD.format("onnx_scatterx")
        + """{{ y = onnx_scatterx.Other(x) }}
        <domain: "onnx_scatterx", opset_import: ["" : 18]> Other (a) => (b) {{ b = {}(a) }}"""
    )
    text = text.replace("{{", "{").replace("}}", "}")
    one, other = (onnx.parser.parse_model(text.replace("{}", op)) for op in ("Neg", "Abs"))
    unproven(one, other, {"x": floats(4)})
    assert prove(one, parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")).proven


def test_a_subgraph_means_what_its_operator_set_says() -> None:
    """Scan is the same in the sets 12 and 13, and Softmax is not."""
    text = """g (float[1, 2, 2, 3] x) => (float[A, B, C, D] y) { y = Scan <num_scan_inputs = 1,
        body = b (float[2, 2, 3] i) => (float[2, 2, 3] o) { o = Softmax(i) }> (x) }"""
    unproven(parse(text, 12), parse(text, 13), {"x": floats(1, 2, 2, 3)})


def test_two_constants_of_one_name() -> None:
    """ONNX Runtime takes the last one for all readers."""
    one = parse("""g (float[2] x) => (float[2] y, float[2] z) {
        k = Constant <value = float[1] {1}> () y = Add(x, k)
        k = Constant <value = float[1] {5}> () z = Add(x, k) }""")
    other = parse("""g (float[2] x) => (float[2] y, float[2] z)
        { y = Add(x, float [1]) z = Add(x, float [5]) }""")
    unproven(one, other, {"x": floats(2)})


def test_one_scale_fits_any_number_of_places() -> None:
    text = """g (float[N, K] x, float[M] s) => (int64[1] y, uint8[N, K] q) {
        q = QuantizeLinear <axis = 1> (x, s) y = Shape %s }"""
    feed = {"x": floats(2, 5), "s": np.ones(1, np.float32)}
    unproven(parse(text % "(s)"), parse(text % "<start = 1> (x)"), feed)


@pytest.mark.parametrize("op", ["GatherElements(x, j)", "ScatterElements(x, j, u)"])
def test_no_indices_must_fit_all_the_same(op: str) -> None:
    text = """g (float[2, 3] x, int64[K, 5] i) => (int64[2] y) <int64[1] nil = {0}> {
        NODES y = Shape(i) }"""
    nodes = f"j = Slice(i, nil, nil) u = Cast <to = 1> (j) w = {op}"
    feed = {"x": floats(2, 3), "i": np.zeros((4, 5), np.int64)}
    unproven(parse(text.replace("NODES", "")), parse(text.replace("NODES", nodes)), feed)


def test_an_edge_of_which_nothing_is_left() -> None:
    text = "g (float[1, N] x) => (float[A, N] y) <int64[4] p = {-1, 0, 1, 0}> { y = %s }"
    one, other = (parse(text % way) for way in ("Identity(x)", 'Pad <mode = "edge"> (x, p)'))
    unproven(one, other, {"x": floats(1, 3)})


def test_a_stated_name_of_a_value_whose_rank_is_not_known() -> None:
    """ONNX Runtime gives the memory of such a value to another of the same dims."""
    text = """g (float[N] x, int64[K] s) => (float[N] z) {
        c = ConstantOfShape(s) d = Neg(c) e = ReduceSum <keepdims = 0> (d)
        t = Add(x, e) w = Abs(t) u = Add(w, e) z = Neg(u) }"""
    one, other = parse(text), parse(text)
    for name in "cdtw":
        other.graph.value_info.append(onnx.helper.make_tensor_value_info(name, 1, ["N"]))
    unproven(one, other, {"x": floats(6), "s": np.array([2])})


def test_assumptions_on_shapes() -> None:
    one = parse("g (float x) => (int64[A] y) { y = Shape(x) }")
    assert "an input that is stated to be a scalar is one" in str(prove(one, one))
    resized = parse("""g (float[1, N] x) => (float[1, M] y) {
        y = Resize <mode = "nearest"> (x, , float [1, 2]) }""")
    assert "2^24 elements" in str(prove(resized, resized))


def test_a_training_mode_of_one_element() -> None:
    one = parse("""g (float[N] x) => (float[N] y) {
        d = Dropout(x, float 0.5, bool [0]) y = Neg(d) }""")
    assert prove(one, one).proven


@pytest.mark.parametrize(
    ("head", "nodes"),
    [
        ("(float[1, 3] x) => (float[3] y)", "y = Squeeze(x, a)"),
        ("(int32[1, 3] x) => (int32[1, 3] y)", "y = ReduceMax(x, a)"),
        ("(float[1, 3] x) => (float[1, 3] y)", "y = Slice(x, a0, a1, a)"),
        ("(float[1, 3] x) => (float[2, 3] y)", "y = Pad(x, p, , a)"),
    ],
)
def test_axes_are_no_scalar(head: str, nodes: str) -> None:
    text = f"""g {head} <int64{{}} a = {{{{0}}}}, int64[1] a0 = {{{{0}}}}, int64[1] a1 = {{{{1}}}},
        int64[2] p = {{{{1, 0}}}}> {{{{ {nodes} }}}}"""
    x = np.ones((1, 3), np.int32 if "int32" in head else np.float32)
    unproven(parse(text.format("[1]")), parse(text.format("")), {"x": x})
    one = parse("g (float[3] x) => (float[1, 3] y) { y = Unsqueeze(x, 0) }")
    assert prove(one, one).proven


@pytest.mark.parametrize("op", ["Slice(x, nil, nil)", "Pad(x, nil)"])
def test_of_a_scalar_there_is_no_part(op: str) -> None:
    text = "g (float x) => (float y) <int64[0] nil = {}> { y = %s }"
    unproven(parse(text % "Identity(x)"), parse(text % op), {"x": np.array(3, np.float32)})


def test_a_zero_divides_nothing() -> None:
    """ONNX Runtime looks at all divisors, even if there is nothing to divide."""
    text = (
        """g (int64[N] x) => (int64[0] y) <int64[1] nil = {0}> { e = Slice(x, nil, nil) y = %s }"""
    )
    one = parse(text % "Identity(e)")
    for op in ("Div", "Mod"):
        unproven(one, parse(text % f"{op}(e, nil)"), {"x": np.array([4])})


def test_a_batch_of_indices_may_be_a_multiple() -> None:
    text = """g (float[N, 5, 2] x, int64[M, 1] i) => (float[M, 2] y, int64[1] z) {
        y = GatherND <batch_dims = 1> (x, i) z = Shape <end = 1> (%s) }"""
    feed = {"x": floats(2, 5, 2), "i": np.zeros((4, 1), np.int64)}
    unproven(parse(text % "i"), parse(text % "x"), feed)


def test_an_order_of_no_axes() -> None:
    text = "g (float[2, 3] x) => (float[3, 2] y) { y = Transpose%s(x) }"
    unproven(parse(text % ""), parse(text % "<perm : ints = []>"), {"x": floats(2, 3)})


def test_the_attribute_of_a_function_outside_of_it() -> None:
    """ONNX Runtime reads a 0."""
    one, other = (parse("g (float[2, 3] x) => (float[A, B] y) { y = Flatten(x) }") for _ in "12")
    one.graph.node[0].attribute.add(name="axis", ref_attr_name="k", type=onnx.AttributeProto.INT)
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


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("type_name", "opset"),
    [("double", 18), ("float16", 18), ("int16", 18), ("uint64", 18), ("float", 12), ("int64", 11)],
)
def test_types_and_operator_sets_that_are_not_modelled(type_name: str, opset: int) -> None:
    """A sum of parts is not known as the part of the sum: it is for float32 and operator set 13."""
    text = "g (%s[N] x) => (%s[M] y) <int64[1] a = {1}, int64[1] b = {9}> { %s }"
    parts = ("s = Add(x, x) y = Slice(s, a, b)", "t = Slice(x, a, b) y = Add(t, t)")
    pair = (parse(text % (type_name, type_name, part), opset) for part in parts)
    assert not prove(*pair).proven
    assert prove(*(parse(text % ("float", "float", part), 13) for part in parts)).proven


def test_the_greatest_of_conditions_runs_without_elements() -> None:
    """ONNX Runtime refuses it if there is one, so that node is no fact about the inputs."""
    text = """g (bool[2, N] x, int64[2, N] i, bool[2, N] u) => (int64[A] y) {
        s = ScatterElements <axis = 1, reduction = "max"> (x, i, u) y = Shape(%s) }"""
    one, other = parse(text % "s"), parse(text % "x")
    empty = np.zeros((2, 0), bool)
    assert outcome(one, {"x": empty, "i": empty.astype(np.int64), "u": empty})
    assert "runs on no input" not in str(prove(one, other))
