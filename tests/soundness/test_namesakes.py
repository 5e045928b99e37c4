"""Functions that are named like the operators that the rules look for, or that hide such."""

import numpy as np
import onnx

from onnx_scatterx.emit.target import Target
from tests.support import assert_sound, f32, i64, parse, sample

RAISING = Target("raising", extra=frozenset({"TensorScatter"}))
LOCAL = ', "local" : 1'
MASK = np.array([True, False, False, True])


def model(graph: str, function: str, opset: int = 18, ir_version: int = 8) -> onnx.ModelProto:
    """Parse a graph and the one function that it calls."""
    head = f'<domain: "local", opset_import: ["" : {opset}]> '
    return parse(graph + head + function, opset, ir_version, LOCAL)


def test_a_slice_that_negates() -> None:
    # x[m] = w[:n] takes the updates from w itself.
    graph = """g (float[4] x, float[N] w, bool[4] m) => (float[4] y)
        <int64[1] zero = {0}, int64[1] one = {1}> {
        n = NonZero (m)
        i = Transpose <perm = [1, 0]> (n)
        s = Shape (i)
        k = Slice (s, zero, one)
        u = local.Slice (w, zero, k)
        y = ScatterND (x, i, u) }"""
    function = """Slice (w, a, k) => (u) {
        v = Slice (w, a, k)
        u = Neg (v) }"""
    feed = {"x": f32([1, 2, 3, 4]), "w": f32([7, 8, 9]), "m": MASK}
    assert_sound(model(graph, function), feed, left=0)


def test_an_expand_that_negates() -> None:
    # The mask is looked at before it was broadcast.
    graph = """g (float[2,4] x, float v, bool[4] m) => (float[2,4] y)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[2] shape = {2, 4}> {
        e = local.Expand (m, shape)
        n = NonZero (e)
        i = Transpose <perm = [1, 0]> (n)
        s = Shape (i)
        k = Slice (s, zero, one)
        u = Expand (v, k)
        y = ScatterND (x, i, u) }"""
    function = """Expand (m, s) => (e) {
        n = Not (m)
        e = Expand (n, s) }"""
    feed = {"x": f32(np.arange(8).reshape(2, 4)), "v": f32(9), "m": MASK}
    assert_sound(model(graph, function), feed, left=0)


def test_a_transpose_that_negates() -> None:
    # A cache that is written behind a Transpose is raised to TensorScatter in front of it.
    graph = """g (float[2,5,3] x, float[2,2,3] u, int64 p) => (float[5,2,3] y)
        <int64 zero = {0}, int64 one = {1}, int64 two = {2}, int64[1] last = {-1}> {
        r = Range (zero, two, one)
        c = Add (r, p)
        i = Unsqueeze (c, last)
        t = local.Transpose (x)
        v = Transpose <perm = [1, 0, 2]> (u)
        y = ScatterND (t, i, v) }"""
    function = """Transpose (x) => (y) {
        t = Transpose <perm = [1, 0, 2]> (x)
        y = Neg (t) }"""
    x, u = f32(np.arange(30).reshape(2, 5, 3)), f32(100 + np.arange(12).reshape(2, 2, 3))
    feeds = [{"x": x, "u": u, "p": i64(p)} for p in (0, 3, -2)]
    assert_sound(model(graph, function, 24, 11), *feeds, left=0, target=RAISING)


def test_positions_that_a_function_finds() -> None:
    # What they are counted in, or sorted by, is not seen outside of the function.
    graph = """g (float[6] x, bool[6] m, float[N] u, float[6] k, float[6] v)
        => (float[6] y, float[6] z) {
        i = local.rows (m)
        y = ScatterND (x, i, u)
        j = local.order (k)
        z = ScatterElements <axis = 0> (x, j, v) }"""
    functions = """<domain: "local", opset_import: ["" : 18]> rows (m) => (i) {
            n = Not (m)
            r = NonZero (n)
            i = Transpose <perm = [1, 0]> (r) }
        <domain: "local", opset_import: ["" : 18]> order (k) => (i) {
            six = Constant <value = int64[1] {6}> ()
            n = Neg (k)
            s, i = TopK (n, six) }"""
    m = np.array([1, 0, 0, 1, 1, 1], bool)
    feed = {"x": f32(np.arange(6)), "m": m, "u": f32([7, 8]), "k": f32([3, 1, 2, 9, 0, 5])}
    assert_sound(parse(graph + functions, more=LOCAL), feed | {"v": f32(np.arange(6, 12))})


def test_a_position_for_each_row_that_a_function_finds() -> None:
    graph = """g (float[3,5] x, float[3,5] k, float[3,1] u) => (float[3,5] y) {
        i = local.best (k)
        y = ScatterElements <axis = 1> (x, i, u) }"""
    function = """<domain: "local", opset_import: ["" : 18]> best (k) => (i) {
            n = Neg (k)
            a = ArgMax <axis = 1> (n)
            i = Identity (a) }"""
    feed = {"x": sample("float32", 3, 5), "k": sample("float32", 3, 5, seed=1)}
    u = sample("float32", 3, 1, seed=2)
    assert_sound(parse(graph + function, more=LOCAL), feed | {"u": u}, left=0)
