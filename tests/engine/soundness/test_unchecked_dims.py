"""Declared dims that a run does not have: ONNX Runtime makes constants of their Shapes."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import onnx_scatterx
from tests.helpers.support import parse

LOOP = """g (float[n] x, int64[1,1] at, float[1] u) => (float[m] y)
    <int64 k = {3}, bool t = {1}> {
    y = Loop (k, t, x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] p) {
        d = Identity (c)  q = ScatterND (s, at, u)  p = Concat <axis = 0> (q, u) }> }"""
NEGATED = """g (float[n] x, int64[1,1] at, float[1] u) => (float[m] y)
    <int64 k = {3}, bool t = {1}> {
    y = Loop (k, t, x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] p) {
        d = Identity (c)
        w = Neg (s)  q = ScatterND (w, at, u)
        p = Concat <axis = 0> (q, u) }> }"""
INNER = """g (float[n] x, int64[1,1] at, float[1] u, int64[1] k) => (float[m] y) <float[7] r> {
    r = Reshape (x, k)  s = Neg (r)  y = ScatterND (s, at, u) }"""
CHOSEN = """g (float[n] x, int64[1,1] at, float[1] u) => (float[m] y)
    <int64[1,7] z, int64[1] zero = {0}> {
    z = NonZero (x)  f = Squeeze (z, zero)  q = Gather (x, f)  y = ScatterND (q, at, u) }"""
CALLED = """g (float[n] x, int64[1,1] at, float[1] u, int64[1] k) => (float[m] y) <float[7] r> {
    r = Reshape (x, k)  y = local.write (r, at, u) }
    <domain: "local", opset_import: ["" : 18]>
    write (s, at, u) => (y) { n = Neg (s)  y = ScatterND (n, at, u) }"""
COLLECTED = """g (float[n] x, int64[1,1] at, float[1] u) => (float[m] y)
    <int64 k = {3}, bool t = {1}> {
    y, z = Loop (k, t, x) <body = b (int64 i, bool c, float[2] s)
        => (bool d, float[2] p, float[2] o) {
        d = Identity (c)  q = ScatterND (s, at, u)  p = Concat <axis = 0> (q, u)
        o = Identity (u) }> }"""
BESIDE = """g (float[n] x, int64[1,1] at, float[1] u) => (float[m] y)
    <int64 k = {3}, bool t = {1}> {
    f, z = Scan <num_scan_inputs = 1, body = a (float[1] s, float r) => (float[1] p, float o) {
        p = Neg (s)  o = Identity (r) }> (u, x)
    y = Loop (k, t, x) <body = b (int64 i, bool c, float[2] s) => (bool d, float[2] p) {
        d = Identity (c)  q = ScatterND (s, at, f)  p = Concat <axis = 0> (q, u) }> }"""
TARGET = "standard, avoid = ['ScatterND', 'ScatterElements']"


def assert_same_under_all_options(
    model: onnx.ModelProto, result: onnx.ModelProto, feeds: dict[str, np.ndarray]
) -> None:
    levels = ort.GraphOptimizationLevel
    for level in (levels.ORT_DISABLE_ALL, levels.ORT_ENABLE_ALL):
        options = ort.SessionOptions()
        options.log_severity_level, options.graph_optimization_level = 4, level
        old, new = (
            ort.InferenceSession(m.SerializeToString(), options).run(None, feeds)
            for m in (model, result)
        )
        for after, before in zip(new, old, strict=True):
            np.testing.assert_array_equal(after, before, strict=True)


@pytest.mark.parametrize("text", [LOOP, NEGATED, INNER, CHOSEN, CALLED, COLLECTED, BESIDE])
def test_shapes_that_are_read_are_those_of_the_run(text: str) -> None:
    model = parse(text)
    result = onnx_scatterx.optimize(model, target=TARGET)
    assert result.report.removed == 1
    for at in (-1, 0, 2):
        feeds = {
            "x": np.arange(1, 5, dtype=np.float32),
            "at": np.array([[at]]),
            "u": np.array([9], np.float32),
        }
        feeds |= {"k": np.array([4])} if text in (INNER, CALLED) else {}
        assert_same_under_all_options(model, result.model, feeds)


@pytest.mark.parametrize("op", ["Softmax", "Hardmax"])
def test_raised_nodes_read_the_shape_of_a_state(op: str) -> None:
    """The declared rank of the state is wrong, too."""
    model = parse(
        f"""g (float[a,b,c] x) => (float[d,e,f] y) <int64 k = {{2}}, bool t = {{1}}> {{
        y = Loop (k, t, x) <body = b (int64 i, bool go, float[2,3] s) => (bool on, float[g,h] p) {{
            on = Identity (go)  p = {op} <axis = 0> (s) }}> }}""",
        opset=11,
    )
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    assert_same_under_all_options(model, onnx_scatterx.optimize(model, opset=18).model, {"x": x})


def test_scan_outputs_of_no_iteration_keep_their_dims() -> None:
    model = parse("""g (float[n] x, int64[1,1] at, float[1] u, int64 k)
        => (float[m] y, float[a,b] z) {
        y, z = Loop (k, bool True, x) <body = b (int64 i, bool c, float[4] s)
            => (bool d, float[4] p, float[4] w) {
            d = Identity (c)  q = ScatterND (s, at, u)  p = Neg (q)  w = Abs (s) }> }""")
    result = onnx_scatterx.optimize(model, target=TARGET)
    assert result.report.removed == 1
    for steps in (0, 2):
        feeds = {
            "x": np.arange(4, dtype=np.float32),
            "at": np.array([[1]]),
            "u": np.ones(1, np.float32),
            "k": np.array(steps),
        }
        assert_same_under_all_options(model, result.model, feeds)
