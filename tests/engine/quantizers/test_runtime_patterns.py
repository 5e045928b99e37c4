"""ONNX Runtime's optimizer beside quantizers: each pattern, as the installed version shows it."""

import itertools
import os

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.mosaic.constants import Constants
from onnx_scatterx.engine.quantizers.runtime_patterns import GraphValues, reason_to_keep
from onnx_scatterx.operators.kernels import MEASURED
from onnx_scatterx.text.reasons import FloatReason
from tests.engine.quantizers.faults import PATTERNS, Pattern
from tests.helpers.pair import SESSIONS, agree, rejections
from tests.helpers.quantized import whole_range
from tests.helpers.support import assert_sound, nodes, optimize, parse

_ALL = [(why, pattern) for why, patterns in PATTERNS.items() for pattern in patterns]


def shows(model: onnx.ModelProto) -> str:
    """Return what default options do to a model that loads without them: nothing, or a fault."""
    plain, default = SESSIONS
    try:
        session = plain(model)
    except rejections():
        return ""
    try:
        other = default(model)
    except rejections():
        return "it does not load"
    given = whole_range(model, 0, 1, 2)
    same = all(agree(session.run(None, feed), other.run(None, feed)) for feed in given)
    return "" if same else "other numbers"


@pytest.mark.parametrize(("why", "pattern"), _ALL)
def test_the_installed_version_shows_a_pattern(why: FloatReason, pattern: Pattern) -> None:
    found = shows(onnx.parser.parse_model(pattern.model))
    if not onnxruntime.__version__.startswith(f"{MEASURED}."):
        pytest.skip(f"ONNX Runtime {onnxruntime.__version__} shows {found or 'it no longer'}")
    assert found == ("other numbers" if pattern.loads else "it does not load"), why


def test_every_reason_to_keep_a_scatter_has_a_pattern() -> None:
    kept = {why for why in FloatReason if why.keeps_scatter}
    assert kept - {FloatReason.LIMIT} == set(PATTERNS)


_LONG = bool(os.environ.get("EXAMPLES"))
_OPSETS = range(10, 24) if _LONG else (10, 13, 20, 21, 23)
_TYPES = ("int8", "uint8", "int16", "uint16", "int32")
_MOVES = {
    "Concat": "Concat <axis = 0> (a, a)",
    "Expand": "Expand (a, shape)",
    "Gather": "Gather (a, i)",
    "Identity": "Identity (a)",
    "Reshape": "Reshape (a, flat)",
    "Slice": "Slice (a, b, e)",
    "Transpose": "Transpose (a)",
    "Where": "Where (m, a, one)",
}
_ENDS = ("y = Neg (c)", "y = Identity (c)", "y = Neg (c) w = Shape (c)", "y = Neg (c) w = Abs (a)")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("opset", _OPSETS)
def test_what_has_no_obstacle_is_left_alone(opset: int) -> None:
    """All types and nodes: if the module knows no fault, the installed version has none."""
    ends = _ENDS if _LONG else _ENDS[:1]
    for integers, zero, axis, end, op in itertools.product(
        _TYPES, ("", ", z"), (0, 3), ends, _MOVES
    ):
        if axis and opset < 13:
            continue
        kind = f"[{axis}]" if axis else ""
        point = 0 if integers == "int32" else 3
        model = parse(
            f"""g ({integers}[4, 3] x) => (float y{", w" * ("w =" in end)})
            <float{kind} s = {{{", ".join(["0.5", "0.25", "0.75"][: axis or 1])}}},
             {integers}{kind} z = {{{", ".join([str(point)] * (axis or 1))}}}, float one = {{1}},
             int64[3] shape = {{2, 4, 3}}, int64[2] i = {{2, 0}}, int64[2] flat = {{-1, 2}},
             int64[1] b = {{0}}, int64[1] e = {{2}}, bool[3] m = {{1, 0, 1}}> {{
                a = DequantizeLinear {"<axis = 1>" if axis else ""} (x, s{zero})
                c = {_MOVES[op]}
                {end} }}""",
            opset,
            min(10, opset),
        )
        for value in model.graph.output:
            value.type.Clear()
        original = ir.from_proto(model)
        scope = interpret(original).scopes[original.graph]
        known = GraphValues(scope, Constants(scope))
        why = reason_to_keep(original.graph[1], known)
        found = shows(model)
        assert why or not found, (opset, integers, zero, axis, op, found)


_WRITE = """g (TYPE[4, 3] x, float[2, 3] u) => (float[4, 3] y)
    <int64[2, 1] i = {1, 2}, float s = {0.5}> {
        a = DequantizeLinear (x, s)
        c = ScatterND (a, i, u)
        y = Neg (c) }"""
_READ = """g (TYPE[4, 3] x) => (float[2, 3] y) <int64[2] i = {1, 2}, float s = {0.5}> {
    a = DequantizeLinear (x, s)
    c = Gather (a, i)
    y = Neg (c) }"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["standard", "qnn", "tract"])
@pytest.mark.parametrize(("integers", "opset"), [("int8", 19), ("int32", 20), ("int32", 21)])
@pytest.mark.parametrize("text", [_WRITE, _READ])
def test_a_type_that_is_lost(text: str, integers: str, opset: int, target: str) -> None:
    """Without a zero point, ONNX Runtime makes uint8 behind a Slice, or does not load it."""
    model = parse(text.replace("TYPE", integers), opset, 10)
    gathers = text is _READ
    report = onnx_scatterx.inspect(model, target=target, gathers=gathers)
    (entry,) = report.gathers if gathers else report.scatters
    made = optimize(model, target=target, gathers=gathers)
    kept = {"ScatterND", "Gather"} & {node.op_type for node in nodes(made)}
    if target == "tract":
        assert not kept
        return
    assert kept
    assert entry.reason is Reason.QUANTIZER
    assert_sound(model, *whole_range(model, 0, 1), target=target, gathers=gathers, left=None)


@pytest.mark.parametrize(("integers", "opset"), [("uint8", 19), ("int8", 21)])
@pytest.mark.parametrize("text", [_WRITE, _READ])
def test_a_type_that_is_not_lost(text: str, integers: str, opset: int) -> None:
    model = parse(text.replace("TYPE", integers), opset, 10)
    gathers = text is _READ
    made = optimize(model, gathers=gathers)
    assert not {"ScatterND", "Gather"} & {node.op_type for node in nodes(made)}
    assert_sound(model, *whole_range(model, 0, 1), gathers=gathers, left=None)


def test_another_form_of_a_gather_is_not_written_behind_a_type_that_is_lost() -> None:
    text = _READ.replace("=> (", "=> (float[2, 3] w, ").replace(" x)", " x, float[2, 3] v)")
    text = text.replace("y = Neg", "w = ScatterND (v, k, v) y = Neg")
    text = text.replace("<int64[2] i", "<int64[2, 1] k = {0, 1}, int64[2] i")
    target = "standard, avoid = ['Gather']"
    for integers, left in (("int8", 1), ("uint8", 0)):
        model = parse(text.replace("TYPE", integers))
        made = optimize(model, target=target)
        assert [n.op_type for n in nodes(made)].count("Gather") == left
        assert_sound(model, *whole_range(model, 0, 1), target=target)


_SUM = """g (uint8[4, 8] x, uint8[4, 8] u) => (uint8[4, 8] y)
    <int64[4, 1] i = {0, 1, 2, 3}, float r = {0.05}, float s = {0.05}, float t = {0.1}> {
        a = DequantizeLinear (x, r)
        b = DequantizeLinear (u, s)
        c = ScatterND <reduction = "add"> (a, i, b)
        y = QuantizeLinear (c, t) }"""
_PER_CHANNEL = """g (uint8[4, 3] x, uint8[1, 3] u, int64[1, 1] i) => (uint8[4, 3] y)
    <float[3] s = {0.5, 0.25, 0.75}, float t = {0.5}> {
        a = DequantizeLinear <axis = 1> (x, s)
        b = DequantizeLinear (u, t)
        c = ScatterND (a, i, b)
        y = QuantizeLinear <axis = 1> (c, s) }"""
_BARRIER = """g (uint8[4, 3] x, uint8[3, 4] u) => (uint8[4, 3] y)
    <int64[2] i = {1, 0}, float s = {0.05}, float t = {0.1}> {
        a = DequantizeLinear (x, s)
        b = DequantizeLinear (u, t)
        k = Shape (a)
        z = ConstantOfShape (k)
        w = NonZero (z)
        c = ScatterND (z, j, a)
        d = Transpose (c)
        e = Mul (d, b)
        f = Transpose (e)
        y = QuantizeLinear (f, t) }"""
_BARRIER = _BARRIER.replace("        w = NonZero (z)\n", "").replace(
    "int64[2] i = {1, 0}", "int64[4, 1] j = {0, 1, 2, 3}"
)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_SUM, FloatReason.INTEGER_KERNEL),
        (_SUM.replace("add", "mul"), FloatReason.INTEGER_KERNEL),
        (_BARRIER, FloatReason.INTEGER_KERNEL),
        (_BARRIER.replace("Mul (d, b)", "Sigmoid (d)"), FloatReason.INTEGER_KERNEL),
    ],
)
def test_a_node_that_would_be_computed_in_integers(text: str, why: FloatReason) -> None:
    model = parse(text)
    for target in ("standard", "scatterx"):
        assert_sound(model, *whole_range(model, *range(4)), target=target)
    (entry,) = onnx_scatterx.inspect(model, target="standard").scatters
    assert entry.reason is Reason.QUANTIZER
    assert entry.quantized == f"on floats: {why.value}"
    (entry,) = onnx_scatterx.inspect(model, target="tract").scatters
    assert entry.reason is None
    assert entry.quantized == f"on floats: {why.value}"


def test_a_where_of_several_scales_is_written_otherwise_if_possible() -> None:
    model = parse(_PER_CHANNEL)
    given = [{**feed, "i": np.array([[2]])} for feed in whole_range(model, 0, 1)]
    assert_sound(model, *given, left=0)
    (entry,) = onnx_scatterx.inspect(
        model, target="tract, remove = ['Div', 'Add', 'Gather']"
    ).scatters
    assert entry.written == ("Where",)
    assert entry.quantized == f"on floats: {FloatReason.ONE_SCALE.value}"


def test_a_tensor_beside_the_written_one_is_not_moved_either() -> None:
    """A Concat puts a write and a DequantizeLinear together, and both would be turned."""
    model = parse("""g (uint8[2, 3] x, uint8[3, 2] u, int32[1, 3] v) => (float[3, 3] y) {
            b = Transpose (DequantizeLinear (x, float 0.5))
            c = DequantizeLinear (u, float 0.5)
            d = ScatterND <reduction = "add"> (b, [[0], [1], [2]], c)
            h = Concat <axis = 0> (Transpose (d), DequantizeLinear (v, float 0.5))
            y = Transpose (h) }""")
    assert_sound(model, *whole_range(model, 0, 1))


_PRODUCT = """g (float[1, N] x) => (float[1, N] y)
    <int64 zero = {0}, int64 one = {1}, int64[2] column = {-1, 1}> {
        s = Shape <start = 1, end = 2> (x)
        n = Squeeze (s)
        r = Range (zero, n, one)
        f = Cast <to = 1> (r)
        g = Reshape (f, column)
        h = Mul (g, f)
        t = Cos (h)
        y = MatMul (x, t) }"""


@pytest.mark.parametrize(("target", "left"), [("standard", 1), ("nnapi", 0)])
def test_an_operand_that_would_be_packed_is_computed(target: str, left: int) -> None:
    model = parse(_PRODUCT)
    result = onnx_scatterx.optimize(model, target=target, fix={"N": 40})
    assert [node.op_type for node in result.model.graph.node].count("Cos") == left
    feed = {"x": np.random.default_rng(0).normal(size=(1, 40)).astype(np.float32)}
    before, after = (SESSIONS[0](m).run(None, feed) for m in (model, result.model))
    assert agree(before, after) is bool(left)


def test_a_product_with_weights_is_folded_as_the_model_computes_it() -> None:
    text = _PRODUCT.replace("t = Cos (h)", "k = Cos (h) t = MatMul (k, w)")
    model = parse(
        text.replace("=> (float[1, N] y)", "=> (float[N, 1] t)").replace(" y = MatMul (x, t)", "")
    )
    weights = np.random.default_rng(0).normal(size=(600, 1)).astype(np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    result = onnx_scatterx.optimize(model, fix={"N": 600})
    feed = {"x": np.zeros((1, 600), np.float32)}
    before, after = (SESSIONS[0](m).run(None, feed) for m in (model, result.model))
    assert agree(before, after)


def test_a_shape_that_let_a_model_load_is_folded() -> None:
    model = parse(
        """g (int8[N, 3] x) => (int64[2] w, float[3, N] y) {
            t = Transpose (DequantizeLinear (x, float 0.5, int8 3))
            w = Shape (t)
            y = Sigmoid (t) }""",
        21,
        10,
    )
    made = onnx_scatterx.optimize(model, fix={"N": 4}).model
    assert [n.op_type for n in made.graph.node][:2] == ["Transpose", "DequantizeLinear"]
    feed = {"x": np.arange(-6, 6, dtype=np.int8).reshape(4, 3)}
    for load in SESSIONS:
        before, after = (load(m).run(None, feed) for m in (model, made))
        assert agree(before, after)


def test_a_scatter_that_let_a_model_load_is_done_on_integers() -> None:
    """The Transpose is read by Sigmoid alone then."""
    model = parse(
        """g (int8[4, 4] x, int8[2, 4] u) => (int8[4, 4] y, float[4, 4] w) {
            t = Transpose (DequantizeLinear (x, float 0.25, int8 3))
            c = ScatterND (t, [[1], [2]], DequantizeLinear (u, float 0.25, int8 3))
            y = QuantizeLinear (c, float 0.25, int8 3)
            w = Sigmoid (t) }""",
        21,
        10,
    )
    assert_sound(model, *whole_range(model, 0, 1), left=0)
    assert not shows(optimize(model))


@pytest.mark.parametrize("kind", ["int2", "uint2"])
def test_a_write_between_quantizers_of_two_bits_is_kept(kind: str) -> None:
    model = parse(
        f"""g (float[N,4] x, float[2,4] u) => (float[N,4] y)
        <float s = {{0.5}}, {kind} z = {{0}}, int64[2,1] i = {{0, 1}}> {{
            p = QuantizeLinear (x, s, z)  a = DequantizeLinear (p, s, z)
            q = QuantizeLinear (u, s, z)  b = DequantizeLinear (q, s, z)
            w = ScatterND (a, i, b)
            r = QuantizeLinear (w, s, z)  y = DequantizeLinear (r, s, z) }}""",
        25,
    )
    assert "ScatterND" in {n.op_type for n in nodes(optimize(model))}
