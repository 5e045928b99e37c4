"""keep_apart: what ONNX Runtime rewrites by default is what it rewrote of the original."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.fitting.runtime_fusions import Fusion, Rewrite, fusions
from onnx_scatterx.graphs.inventory import Inventory
from onnx_scatterx.operators.kernels import MEASURED
from tests.helpers.examples import examples
from tests.helpers.pair import Feed, agree
from tests.helpers.support import f32, i64, nodes, parse

_OFF = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
_DEFAULT = ort.GraphOptimizationLevel.ORT_ENABLE_ALL


def outputs(model: onnx.ModelProto, feed: Feed, level: Any) -> list[Any] | None:
    """Return what a model gives under options of ONNX Runtime, None if it does not load or run."""
    options = ort.SessionOptions()
    options.graph_optimization_level, options.log_severity_level = level, 4
    try:
        proto = model.SerializeToString()
        session = ort.InferenceSession(proto, options, providers=["CPUExecutionProvider"])
        return list(session.run(None, dict(feed)))
    except Exception:  # ONNX Runtime has many
        return None


def compare(model: onnx.ModelProto, after: onnx.ModelProto, feed: Feed) -> None:
    """Compare two models with optimizations off, and under the default options, bit for bit."""
    for level in (_OFF, _DEFAULT):
        old, new = outputs(model, feed, level), outputs(after, feed, level)
        if old is not None:
            assert new is not None, level
            assert all(map(agree, old, new)), (level, old, new)


RANGE = """g (float[N] x, float[N] u, float[N] z) => (float[N] y, float[M] w)
    <int64 end = {-1}, int64 step = {-1}, int64[1] last = {-1}> {
        n = Size (x)  s = Add (n, end)  r = Range (s, end, step)  i = Unsqueeze (r, last)
        y = ScatterND (x, i, u)  w = Gather (z, r) }"""
FROM_END = """g (float[N] x, float[M] u, float[N] z) => (float[N] y, float[K] w)
    <int64 end = {0}, int64 step = {1}, int64[1] last = {-1}> {
        n = Size (u)  s = Neg (n)  r = Range (s, end, step)  i = Unsqueeze (r, last)
        y = ScatterND (x, i, u)  w = Gather (z, r) }"""
X, U = f32([1, 2, 3, 4, 5]), f32([6, 7, 8, 9, 10])
PRODUCT = "g ({0}[B] x, {0}[1] k, {0}[1] m) => ({0}[1] y) {{ s = Shape (x) {1} y = Mul (e, m) }}"
FLOAT = "c = Cast <to = 1> (s)  e = Div (c, k)"
CASES: dict[str, tuple[str, Feed, dict[str, Any]]] = {
    "a reversed Range lost a scatter": (RANGE, {"x": X, "u": U, "z": X}, {}),
    "a Range from the end lost a scatter": (FROM_END, {"x": X, "u": U[:3], "z": X}, {}),
    "a Range reads strings": (
        """g (string[3,2] x, float[K] k) => (string[3,2] y) {
            r = Range (0, Squeeze (Shape (k)), 1)
            y = ScatterND (x, Unsqueeze (r, [-1]), Identity (Gather (x, r))) }""",
        {"x": np.array([["a", "b"], ["c", "d"], ["e", "f"]], object), "k": f32([0, 0])},
        {},
    ),
    "an equal Range lost a scatter": (
        RANGE.replace("w = Gather (z, r)", "q = Range (s, end, step)  w = Gather (z, q)"),
        {"x": X, "u": U, "z": X},
        {},
    ),
    "a size that is 1 is divided": (
        PRODUCT.format("int64", "e = Div (s, k)"),
        {"x": i64([5]), "k": i64([2]), "m": i64([4])},
        {"fix": {"B": 1}},
    ),
    "a float that is 1 is divided": (
        PRODUCT.format("float", FLOAT),
        {"x": f32([5]), "k": f32([3]), "m": f32([5])},
        {"fix": {"B": 1}},
    ),
    "a bound of Clip is a size": (
        "g (int64[M] x, float[K] k) => (int64[M] y) {"
        " s = Size (k)  e = Relu (x)  y = Clip (e, s) }",
        {"x": i64([-3, 0, 3]), "k": f32([1, 2])},
        {"fix": {"K": 2}},
    ),
    "an axis becomes empty": (
        """g (float[M, 1] x, float[K] k) => (float[M, K] y) <int64[1] one = {1}> {
            s = Shape (k)  t = Concat <axis = 0> (one, s)  a = Neg (x)  e = Expand (a, t)
            y = Neg (e) }""",
        {"x": f32([[1], [2], [3]]), "k": f32([])},
        {"fix": {"K": 0}},
    ),
    "a number that is 0 is added": (
        """g (float[B] x, float[1] k) => (float[1] y) <int64[1] one = {1}> {
            s = Shape (x)  q = Sub (s, one)  c = Cast <to = 1> (q)  a = Neg (k)  e = Add (a, c)
            y = Reciprocal (e) }""",
        {"x": f32([1]), "k": f32([0])},
        {"fix": {"B": 1}},
    ),
    "a number that is -0.0 is subtracted": (
        """g (float[B] x, float[1] k) => (float[1] y) {
            c = Neg (Cast <to = 1> (Sub (Shape (x), [1])))  a = Neg (k)  e = Sub (a, c)
            y = Reciprocal (e) }""",
        {"x": f32([1]), "k": f32([0])},
        {"fix": {"B": 1}},
    ),
    "the original is rewritten": (
        "g (int64[1] k, int64[1] m, float[B] x) => (int64[1] y, int64[1] s) <int64[1] one = {1}> {"
        " d = Div (one, k)  y = Mul (d, m)  s = Shape (x) }",
        {"k": i64([2]), "m": i64([4]), "x": f32([1])},
        {"fix": {"B": 1}},
    ),
    "an If of the original is decided": (
        """g (int64[1] k, int64[1] m, float[B] x) => (int64[1] y, int64[1] s)
        <int64[1] one = {1}, bool c = {1}> { d = Div (one, k)  s = Shape (x)
            y = If (c) <then_branch = a () => (int64[1] p) { p = Mul (d, m) },
                        else_branch = b () => (int64[1] q) { q = Abs (m) }> }""",
        {"k": i64([2]), "m": i64([4]), "x": f32([1])},
        {"fix": {"B": 1}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_same_under_the_same_options(name: str) -> None:
    text, feed, options = CASES[name]
    model = parse(text)
    after = onnx_scatterx.optimize(model, target="standard", **options).model
    assert isinstance(after, onnx.ModelProto)
    compare(model, after, feed)


@pytest.mark.parametrize("text", [RANGE, FROM_END])
def test_nodes_stay_as_they_are_if_the_target_has_no_operator_between_them(text: str) -> None:
    after = onnx_scatterx.optimize(parse(text), target="standard, avoid = ['Neg', 'Sub']").model
    assert {"Range", "Gather"} <= {node.op_type for node in nodes(after)}


def test_a_range_that_counts_from_the_start_needs_nothing() -> None:
    text = RANGE.replace("end = {-1}, int64 step = {-1}", "end = {0}, int64 step = {1}")
    model = parse(text.replace("s = Add (n, end)", "").replace("(s, end, step)", "(end, n, step)"))
    after = onnx_scatterx.optimize(model, target="standard").model
    assert isinstance(after, onnx.ModelProto)
    assert "Neg" not in {node.op_type for node in nodes(after)}
    compare(model, after, {"x": X, "u": U, "z": X})


FAULTS: dict[Rewrite, tuple[str, Feed]] = {
    Rewrite.DIV_MUL: (
        """g (int32[1] k, int32[1] m) => (int32[1] y) <int32[1] one = {1}> {
            d = Div (one, k)  i = Identity (d)  y = Mul (m, i) }""",
        {"k": np.array([2], np.int32), "m": np.array([4], np.int32)},
    ),
    Rewrite.RELU_CLIP: (
        "g (int8[N] x) => (int8[N] y) <int8 least = {2}> { r = Relu (x)  y = Clip (r, least) }",
        {"x": np.array([1], np.int8)},
    ),
    Rewrite.EXPAND: (
        """g (bool[M, 1] x) => (bool[M, K] y) <int64[2] s = {1, 0}> {
            n = Not (x)  e = Expand (n, s)  y = Not (e) }""",
        {"x": np.ones((3, 1), bool)},
    ),
    Rewrite.NOOP: (
        """g (float[N] x) => (float[N] y) <float zero = {0}> {
            n = Neg (x)  a = Add (n, zero)  y = Reciprocal (a) }""",
        {"x": f32([0])},
    ),
    Rewrite.GATHER_TO_SLICE: (
        """g (bool[5] x, int64 a, int64 b) => (bool[N] y) <int64 one = {1}> {
            r = Range (a, b, one)  c = Cast <to = 7> (r)  y = Gather (x, c) }""",
        {"x": np.ones(5, bool), "a": i64(-2), "b": i64(1)},
    ),
}


@pytest.mark.skipif(not ort.__version__.startswith(MEASURED), reason="measured with another one")
@pytest.mark.parametrize("rewrite", Rewrite)
def test_each_rewrite_changes_what_a_model_gives(rewrite: Rewrite) -> None:
    text, feed = FAULTS[rewrite]
    off, default = (outputs(parse(text), feed, level) for level in (_OFF, _DEFAULT))
    assert off is not None
    assert default is None or not all(map(agree, off, default))
    assert [found.rewrite for found in found_in(text)] == [rewrite]


def found_in(text: str) -> list[Fusion]:
    return fusions(Inventory(ir.from_proto(parse(text))))


APART = {
    "another reader": (Rewrite.DIV_MUL, " }", " z = Neg (d) }"),
    "a node between": (Rewrite.DIV_MUL, "Identity", "Neg"),
    "another dividend": (Rewrite.DIV_MUL, "one = {1}", "one = {-1}"),
    "two elements": (Rewrite.DIV_MUL, "[1] one = {1}", "[2] one = {1, 1}"),
    "another type": (Rewrite.DIV_MUL, "int32", "int16"),
    "no bound": (Rewrite.RELU_CLIP, "(r, least)", "(r)"),
    "float": (Rewrite.RELU_CLIP, "int8", "float"),
    "no empty axis": (Rewrite.EXPAND, "{1, 0}", "{1, 1}"),
    "a longer axis": (Rewrite.EXPAND, "{1, 0}", "{2, 0}"),
    "an input is expanded": (Rewrite.EXPAND, "Expand (n, s)", "Expand (x, s)"),
    "the other sign": (Rewrite.NOOP, "zero = {0}", "zero = {-0.0}"),
    "another number": (Rewrite.NOOP, "zero = {0}", "zero = {1}"),
    "a Range that is gathered from": (Rewrite.GATHER_TO_SLICE, "Gather (x, c)", "Gather (c, a)"),
    "indices of rank 2": (Rewrite.GATHER_TO_SLICE, "Cast <to = 7> (r)", "Unsqueeze (r, [0])"),
}


@pytest.mark.parametrize("name", APART)
def test_what_is_not_rewritten(name: str) -> None:
    rewrite, old, new = APART[name]
    text, _ = FAULTS[rewrite]
    assert old in text
    assert not found_in(text.replace(old, new))


NUMBERS = ["0", "1", "-1", "2", "9223372036854775807", "-9223372036854775808"]
TARGETS = ("standard", "ortweb", "tvm", "standard, avoid = ['Mod']")


@examples(60)
@given(data=st.data())
def test_integers_of_fixed_sizes(data: st.DataObject) -> None:
    draw, names, lines = data.draw, ["b", "k", "m", "c"], []
    for i in range(draw(st.integers(2, 7))):
        op = draw(st.sampled_from(["Add", "Sub", "Mul", "Div", "Mod", "Div", "Mul", "Neg", "Relu"]))
        a = draw(st.sampled_from(names[-4:]))
        by = draw(st.sampled_from(["k", "one", "two"] if op in ("Div", "Mod") else [*names, "c"]))
        other = "" if op in ("Neg", "Relu") else f", {by}"
        lines.append(f"v{i} = {op} ({a}{other})")
        names.append(f"v{i}")
    size, number = draw(st.integers(0, 2)), draw(st.sampled_from(NUMBERS))
    text = f"""g (float[B] x, int64[1] k, int64[1] m) => (int64[1] {names[-1]})
        <int64[1] c = {{{number}}}, int64[1] one = {{1}}, int64[1] two = {{2}}> {{
            b = Shape (x)  {"  ".join(lines)} }}"""
    model, target = parse(text), draw(st.sampled_from(TARGETS))
    after = onnx_scatterx.optimize(model, target=target, fix={"B": size}).model
    assert isinstance(after, onnx.ModelProto)
    # A divisor is positive: ONNX Runtime divides by 0 and the least integer by -1 as C does.
    for k, m in ((1, -1), (2, 4), (3, 2**62)):
        compare(model, after, {"x": f32([1.0] * size), "k": i64([k]), "m": i64([m])})
