"""Two models that agree are found to agree, and every difference is found."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest

import onnx_scatterx
from onnx_scatterx.compare.interface import narrowing
from onnx_scatterx.compare.verifying import verify
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.fitting.inference import inferred
from tests.compare.first_difference import only, parse, unary


def part(start: int, end: int) -> onnx.ModelProto:
    return unary(
        f"s = Constant <value_ints = [{start}]> () e = Constant <value_ints = [{end}]> ()"
        "a = Constant <value_ints = [1]> () y = Slice(x, s, e, a)"
    )


WRITE = """g (float[B, T, 4] cache, int64[1] position, float[B, 1, 4] row) => (float[B, T, 4] y) {
    c = Transpose <perm = [1, 0, 2]> (cache)  r = Transpose <perm = [1, 0, 2]> (row)
    i = Constant <value_ints = [-1]> ()  p = Unsqueeze(position, i)
    w = ScatterND %s (c, p, r)  y = Transpose <perm = [1, 0, 2]> (w) }"""


def test_a_cache_write_agrees_with_itself() -> None:
    model = parse(WRITE % "")
    verification = verify(model, ir.from_proto(model), samples=50)
    assert verification
    assert verification.accepted == 50
    assert set(verification.sizes) == {"B", "T"}
    assert {0, 1, 2} <= set(verification.sizes["B"])
    assert {1, 2} <= set(verification.sizes["T"])
    assert max(verification.sizes["T"]) >= 8
    assert "the same, bit for bit, on 50 sets of inputs" in str(verification)
    assert json.loads(json.dumps(verification.to_dict()))["same"] is True


def test_most_draws_of_an_index_are_accepted() -> None:
    verification = verify(parse(WRITE % ""), parse(WRITE % '<reduction = "add">'), samples=20)
    assert only(verification)["kind"] in ("values", "zero sign")
    assert verification.accepted > 0.5 * verification.draws


def test_off_by_one() -> None:
    difference = only(verify(part(0, 3), part(0, 4)))
    assert difference["kind"] == "shape"
    difference = only(verify(part(1, 9), part(0, 8)))
    assert difference["kind"] in ("values", "shape")
    assert difference["output"] == "y"
    assert set(difference["sizes"]) == {"N", "T"}


def test_a_lost_sign_of_zero() -> None:
    zero = "z = Constant <value = float {0.0}> () y = "
    verification = verify(unary("y = Identity(x)"), unary(zero + "Add(x, z)"))
    difference = only(verification)
    assert difference["kind"] == "zero sign"
    assert (difference["before"], difference["after"]) == (-0.0, 0.0)
    assert not verification.only_rounding
    assert "only in the sign of zero" in str(verification)


ZEROS = {"x": np.array([-0.0, 0.0, 1.0], np.float32), "m": np.array([True, False, True])}


def of_where(body: str) -> onnx.ModelProto:
    return parse(f"g (float[N] x, bool[N] m) => (float[N] y) {body}")


def test_a_sign_of_zero_that_a_new_where_selects() -> None:
    before, after = of_where("{ y = Identity (x) }"), of_where("{ y = Where (m, x, x) }")
    found = verify(before, after, feeds=[ZEROS], samples=0)
    assert found
    assert found.zero_signs == 1
    assert str(found).startswith("the same, bit for bit but for the sign of 1 zero, on 1 set")
    assert found.to_dict()["zero_signs"] == 1
    strict = verify(before, after, feeds=[ZEROS], samples=0, strict_zeros=True)
    assert only(strict)["kind"] == "zero sign"
    assert verify(after, after, feeds=[ZEROS], samples=0).zero_signs == 0


def test_a_sign_of_zero_that_grew() -> None:
    before = of_where("{ w = Identity (x) y = Reciprocal (w) }")
    after = of_where("{ w = Where (m, x, x) y = Reciprocal (w) }")
    difference = only(verify(before, after, feeds=[ZEROS], samples=0))
    assert (difference["before"], difference["after"]) == ("-inf", "inf")


def test_a_sign_of_zero_beside_a_where() -> None:
    """A Where that the first model has too, or that reaches another output, is no excuse."""
    lost = "z = Constant <value = float {0.0}> () y = Add (x, z) }"
    for other in ("{ w = Where (m, x, x) ", "{ "):
        before = of_where(other + "y = Identity (x) }")
        after = of_where("{ w = Where (m, x, x) " + lost)
        assert only(verify(before, after, feeds=[ZEROS], samples=0))["kind"] == "zero sign"


def test_both_models_run_under_the_default_options_too() -> None:
    """ReshapeFusion writes -1 beside a 0 that copies a dim: no empty tensor has that shape."""
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[B,K,2] x) => (float[B,M] y)
        <int64[1] zero = {0}, int64[1] two = {2}> {
        b = Shape <end = 1> (x) k = Shape <start = 1, end = 2> (x) n = Mul (k, two)
        s = Concat <axis = 0> (%s, n) y = Reshape (x, s) }"""
    before, after = (onnx.parser.parse_model(text % first) for first in ("b", "zero"))
    full, empty = ({"x": np.zeros((b, 3, 2), np.float32)} for b in (2, 0))
    assert verify(before, after, feeds=[full], samples=0)
    difference = only(verify(before, after, feeds=[empty], samples=0))
    assert (difference["kind"], difference["fused"]) == ("failed", True)
    assert verify(after, before, feeds=[empty], samples=0)  # what the first rejects there


def test_rounding_of_other_fused_nodes() -> None:
    """Of the second model ONNX Runtime makes one Gelu, which rounds otherwise."""
    gelu = """c = Constant <value = float {1.4142135}> () one = Constant <value = float {1.0}> ()
        half = Constant <value = float {0.5}> () d = Div (x, c) e = Erf (d) %s a = Add (e1, one)
        p = Mul (x, a) y = Mul (p, half)"""
    before = unary(gelu % "e0 = Neg (e) e1 = Neg (e0)")
    after = unary(gelu.replace("e1", "e") % "")
    x = np.random.default_rng(0).standard_normal((40, 50)).astype(np.float32)
    assert verify(before, after, feeds=[{"x": x}], samples=0)
    options = ort.SessionOptions()
    fused = ort.InferenceSession(after.SerializeToString(), options).run(None, {"x": x})[0]
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    plain = ort.InferenceSession(after.SerializeToString(), options).run(None, {"x": x})[0]
    assert (fused != plain).any()


def test_rounding_of_a_packed_operand() -> None:
    """With known sizes, ONNX Runtime folds the table itself, and packs it for the product."""
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[1, %s] x) => (float[1, %s] z)
        <int64 zero = {0}, int64 one = {1}, int64[1] column = {1}, int64[1] row = {0}> {
        s = Shape <start = 1, end = 2> (x) n = Squeeze (s) r = Range (zero, n, one)
        f = Cast <to = 1> (r) c = Unsqueeze (f, column) w = Unsqueeze (f, row) o = Mul (c, w)
        k = Cos (o) z = MatMul (x, k) }"""
    before, after = (onnx.parser.parse_model(text % (n, n)) for n in ("N", "40"))
    found = verify(before, after, samples=10)
    assert found, found
    assert found.rounded
    assert f"floats differ by rounding on {found.rounded}: it fuses or packs" in str(found)
    x = {"x": np.random.default_rng(0).standard_normal((1, 40)).astype(np.float32)}
    one, other = (
        ort.InferenceSession(m.SerializeToString()).run(None, x)[0] for m in (before, after)
    )
    assert (one != other).any()


RANKS = """<ir_version: 8, opset_import: ["" : 18]> g (float[5] x, int64[2,2] i) => (float[4] y) {
    s = Shape (x) r = Size (s) zero = Constant <value_int = 0> () c = Equal (r, zero)
    j = If (c) <then_branch: graph = t () => (int64[4] a) {
                    m = Constant <value_ints = [-1]> () a = Reshape (i, m) },
                else_branch: graph = e () => (int64[2,2] b) { b = Identity (i) }>
    s1 = Gather (x, j)
    y = If (c) <then_branch: graph = t2 () => (float[4] p) { p = Squeeze (s1) },
                else_branch: graph = e2 () => (float[4] q) { q = Identity (s1) }> }"""
"""ONNX Runtime runs it only under the default options, where it removes the If."""


def test_a_model_that_runs_only_under_the_default_options() -> None:
    before = onnx.parser.parse_model(RANKS)
    head, _ = RANKS.split("{\n", 1)
    after = onnx.parser.parse_model(head + "{ y = Gather (x, i) }")
    found = verify(before, after, samples=8)
    assert found
    said = "the same, bit for bit, under ONNX Runtime's default options, on 8 sets of inputs"
    assert str(found).startswith(said)
    assert "  without graph optimizations, the first model does not run" in str(found).split("\n")
    assert found.to_dict()["compared"] == {"without_optimizations": 0, "default_options": 8}
    other = onnx.parser.parse_model(head + "{ z = Gather (x, i) y = Neg (z) }")
    difference = only(verify(before, other, samples=8))
    assert (difference["kind"], difference["fused"]) == ("values", True)


def test_how_many_draws_were_compared_under_which_options() -> None:
    """Under the default options, ONNX Runtime rounds the sum of the first model otherwise."""
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[1,3,9,9] x) => (float[1,8,7,7] y) {
        c = Conv (x, w) y = Mul (c, s) }"""
    model, rng = onnx.parser.parse_model(text), np.random.default_rng(0)
    for name, shape in (("w", (8, 3, 3, 3)), ("s", (8, 1, 1))):
        array = rng.standard_normal(shape).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    found = verify(model, model, samples=8)
    default = found.compared["default_options"]
    assert found.to_dict()["compared"] == {"without_optimizations": 8, "default_options": default}
    assert default < 8
    (line,) = (line for line in str(found).split("\n") if "without graph optimizations" in line)
    assert line.startswith(f"  compared on 8 without graph optimizations, and on {default} under")


def test_a_dropped_nan() -> None:
    drop = "n = IsNaN(x) z = Constant <value = float {1.0}> () y = Where(n, z, x)"
    difference = only(verify(unary("y = Identity(x)"), unary(drop)))
    assert (difference["kind"], difference["before"], difference["after"]) == ("values", "nan", 1.0)


def test_rounding_alone_is_told_apart() -> None:
    divided = unary("c = Constant <value = float {3.0}> () y = Div(x, c)")
    multiplied = unary("c = Constant <value = float {0.33333334}> () y = Mul(x, c)")
    verification = verify(divided, multiplied, samples=10)
    assert only(verification)["kind"] == "rounding"
    assert verification.only_rounding
    assert str(verification).startswith("only the last bits differ")


def test_another_type_is_a_difference_without_running() -> None:
    other = parse("g (float[N, T] x) => (double[N, T] y) { y = Cast <to = 11> (x) }")
    verification = verify(unary("y = Identity(x)"), other)
    assert not verification
    assert verification.conclusive
    assert "output y: FLOAT became DOUBLE" in str(verification)
    assert verification.to_dict()["draws"] == 0


def test_overridable_initializers_are_overridden() -> None:
    text = "g (float[N] x, int64[2] i) => (float[2] y) <int64[2] i = {0, 1}> "
    before = parse(text + "{ y = Gather(x, i) }")
    after = parse(text + "{ k = Constant <value_ints = [0, 1]> () y = Gather(x, k) }")
    assert verify(before, before, samples=10)
    assert only(verify(before, after))["kind"] == "values"


def test_every_element_type_goes_through() -> None:
    types = ("bfloat16", "float16", "double", "float8e4m3fn", "uint8", "int16", "uint64", "bool")
    inputs = ", ".join(f"{t}[N] x{k}" for k, t in enumerate(types))
    outputs = ", ".join(f"{t}[N] y{k}" for k, t in enumerate(types))
    body = " ".join(f"y{k} = Identity(x{k})" for k in range(len(types)))
    model = parse(f"g ({inputs}) => ({outputs}) {{ {body} }}")
    assert verify(model, model, samples=6)
    # strings and 4-bit integers
    model = parse(
        "g (string[N] x, int4[N] i, float s) => (string[N] y, float[N] z)"
        "{ y = Identity(x) z = DequantizeLinear(i, s) }"
    )
    assert verify(model, model, samples=6)


def test_sequence_outputs_are_compared() -> None:
    def model(second: str) -> onnx.ModelProto:
        return parse(
            "g (float[N] x) => (seq(float[N]) y)"
            f"{{ a = Neg(x) b = Abs(x) y = SequenceConstruct(a, {second}) }}"
        )

    assert verify(model("a"), model("a"), samples=3)
    assert only(verify(model("a"), model("b"), samples=6))["output"] == "y[1]"


def test_feeds_of_the_user() -> None:
    before = unary("y = Identity(x)")
    after = unary("c = Constant <value = float {12345.0}> () e = Equal(x, c) y = Where(e, c, x)")
    assert verify(before, after, feeds=[{"x": np.zeros((1, 1), np.float32)}], samples=0).draws == 1
    with pytest.raises(VerifyError, match="given inputs 1: the model needs more inputs: x"):
        verify(before, after, feeds=[{}])
    with pytest.raises(VerifyError, match="given inputs 1: the model has no input 'z'; it has x"):
        verify(before, after, feeds=[{"x": np.zeros((1, 1)), "z": np.zeros(1)}])


def test_a_tolerance() -> None:
    shift = "e = Constant <value = float {%s}> () f = Add(x, e) y = Neg(f)"
    before, after = unary("y = Neg(x)"), unary(shift % "0.001")
    x = np.array([[0.5, -0.25]], np.float32)
    assert only(verify(before, after, feeds=[{"x": x}], samples=0))["kind"] == "values"
    found = verify(before, after, feeds=[{"x": x}], samples=0, atol=0.01)
    assert str(found) == "the same, within rtol = 0, atol = 0.01, on 1 set of inputs"
    assert verify(before, after, samples=9, atol=0.01)
    assert only(verify(before, unary(shift % "0.02"), samples=9, atol=0.01))
    assert verify(before, before, samples=2).to_dict()["tolerance"] is None
    for prove in (True, False):
        with pytest.raises(VerifyError, match="is bit for bit, without rtol and atol"):
            verify(before, after, rtol=0.0, prove=prove, strict_zeros=not prove)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(VerifyError, match="rtol must be a finite number from 0 on"):
            verify(before, after, rtol=wrong)


def test_assumptions_are_kept() -> None:
    assume = {"T": ">= 3, <= 12, % 3 == 0", "position": "nonnegative"}
    model = parse(WRITE % "")
    verification = verify(model, model, samples=20, assume=assume)
    assert verification
    assert set(verification.sizes["T"]) <= {3, 6, 9, 12}
    assert len(verification.sizes["T"]) > 1
    with pytest.raises(VerifyError, match="no such input or symbol"):
        verify(model, model, assume={"Q": "<= 3"})
    with pytest.raises(VerifyError, match="cannot read the assumption 'big'"):
        verify(model, model, assume={"T": "big"})


def test_external_data_and_text_files(tmp_path: Path) -> None:
    proto = unary("y = Add(x, w)")
    weights = np.arange(3000, dtype=np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    path = tmp_path / "a" / "m.onnx"
    path.parent.mkdir()
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    outside = onnx.load(path, load_external_data=False)
    assert verify(path, outside, samples=3)  # the data of `outside` are looked for beside `path`
    text = tmp_path / "m.textproto"
    onnx.save(onnx.load(path), text, format="textproto")
    assert verify(ir.load(path), text, samples=3)


def test_the_proof_reads_external_data_where_they_are(tmp_path: Path) -> None:
    """Files of one name in two directories: of an onnx_ir.Model, and of an optimized message."""
    kinds: dict[str, list[Any]] = {"ir": [], "path": [], "result": []}
    for number in (1, 2):
        proto = unary("y = Add(x, w)")
        weights = np.full(3, number, np.float32)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
        path = tmp_path / str(number) / "m.onnx"
        path.parent.mkdir()
        onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
        kinds["ir"].append(ir.load(path))
        kinds["path"].append(path)
        kinds["result"].append(onnx_scatterx.optimize(path))
    for one, other in itertools.product(kinds.values(), repeat=2):
        for number in (0, 1):
            found = verify(one[0], other[number], samples=0, prove=True).proof
            assert found is not None
            assert found.kind == ("refuted" if number else "proven")


def test_a_promise_whose_bound_is_the_name_of_a_size() -> None:
    """A dim may be named 2*N and have any size: the promise is about twice N."""
    text = "g (int64[N] i, float[W] y) => (bool[N] z) <bool[1] t = {{1}}> {{ {} }}"
    before = parse(text.format("s = Shape (y) z = Less (i, s)"))
    after = parse(text.format("s = Shape (i) z = Expand (t, s)"))
    for model in (before, after):
        model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "2*N"
    feed = {"i": np.array([3, 0]), "y": np.zeros(3, np.float32)}
    found = verify(before, after, prove=True, samples=0, feeds=[feed], assume=["i < 2*N"])
    assert found.answer == "different"
    assert "contradicts" not in str(found)


def test_a_proof_for_which_the_sign_of_a_zero_counts() -> None:
    """ONNX Runtime's Where gives 0 for -0, and a scatter keeps it."""
    text = "g (bool[N] c, float[N] x, float[N] z) => (float[N] y) {{ {} }}"
    before = parse(
        text.format(
            "n = NonZero (c) t = Transpose <perm = [1, 0]> (n) u = GatherND (x, t) "
            "y = ScatterND (z, t, u)"
        )
    )
    after = parse(text.format("y = Where (c, x, z)"))
    feed = {"c": np.array([True, False]), "x": np.ones(2, np.float32)}
    feed["z"] = np.zeros(2, np.float32)
    assert verify(before, after, prove=True, samples=0, feeds=[feed])
    strict = verify(before, after, prove=True, samples=0, feeds=[feed], strict_zeros=True)
    assert strict.answer == "not proven"
    assert "may change the sign of a zero" in str(strict)
    feed["x"] = -np.zeros(2, np.float32)
    strict = verify(before, after, prove=True, samples=0, feeds=[feed], strict_zeros=True)
    assert strict.answer == "different"
    assert "contradicts" not in str(strict)


def test_dims_that_are_expressions_and_names_that_lie() -> None:
    model = parse("g (float[N] x, float[M] y) => (float[K] z) { z = Concat <axis = 0> (x, y) }")
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "2*N + 1"
    assert set(verify(model, model, samples=3).sizes) == {"N"}
    model.graph.input[1].type.tensor_type.shape.dim[0].dim_param = "N"
    sizes = verify(model, model, samples=12, distrust_dims=True).sizes
    assert sizes["N@x"] != sizes["N@y"] or len(sizes["N@x"]) > 2


def test_an_optional_of_nothing() -> None:
    empty = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2])
    model = parse("""g (float[2] x) => (float[2] y) {
        h = OptionalHasElement (x)
        z = Cast <to = 1> (h)
        y = Add (x, z) }""")
    nothing = onnx.helper.make_node("Optional", [], ["o"], type=empty)
    has = onnx.helper.make_node("OptionalHasElement", ["o"], ["h"])
    del model.graph.node[0]
    model.graph.node.insert(0, has)
    model.graph.node.insert(0, nothing)
    assert verify(model, model, samples=2).same


def test_negative_quantized_numbers_that_become_zero_are_found() -> None:
    # Numbers of 8 bits were drawn as if they were indices: 0 to 255, and seldom down to -2.
    graph = "g (int8[N] x) => (float[N] y) <float s = {0.5}, float least = {-1}> "
    before = parse(graph + "{ y = DequantizeLinear (x, s) }")
    after = parse(graph + "{ d = DequantizeLinear (x, s) y = Max (d, least) }")
    assert only(verify(before, after))["kind"] == "values"


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(-(2**63), 2**63 - 1, 2**63 - 1), (1 - 2**63, -(2**63), 1 - 2**63), (0, 7, 2**40)],
)
def test_a_slice_with_a_step_of_64_bits(start: int, end: int, step: int) -> None:
    """ONNX's inference of what nodes compute crashes on it, or does not end."""
    model = parse(f"""g (float[7] x) => (float[N] y) <int64[1] a = {{0}}, int64[1] s = {{{start}}},
        int64[1] end = {{{end}}}, int64[1] k = {{{step}}}> {{ y = Slice(x, s, end, a, k) }}""")
    assert verify(model, model, samples=2)


@pytest.mark.parametrize("default", [2, 2**40])
def test_a_default_that_a_caller_may_override_is_no_constant(default: int) -> None:
    """ONNX infers sizes from it, and crashes on this one."""
    model = parse(f"""g (float[7] x, int64[1] k = {{{default}}}) => (float[N] y)
        <int64[1] a = {{0}}, int64[1] s = {{0}}, int64[1] end = {{9}}>
        {{ z = Slice(x, s, end, a, k) y = Neg(z) }}""")
    shape = inferred(ir.from_proto(model)).graph.node(0).outputs[0].shape
    assert shape is not None
    assert not isinstance(shape[0], int)


def test_sizes_behind_an_input_of_unknown_rank() -> None:
    text = "g (float[] x, float[N] y) => (float[N] z) { z = Neg (y) }"
    one, other = (ir.from_proto(parse(t)) for t in (text, text.replace("[N]", "[3]")))
    one.graph.inputs[0].shape, other.graph.inputs[0].shape = None, ir.Shape(["M"])
    assert str(narrowing(one, other)) == "N = 3"
