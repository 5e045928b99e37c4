"""Functions that are named like the operators that the rules look for, and do something else."""

import numpy as np
import onnx

from onnx_scatterx.emit.target import Target
from tests.support import assert_sound, f32, i64, parse

RAISING = Target("raising", extra=frozenset({"TensorScatter"}))
MASK = np.array([True, False, False, True])


def model(graph: str, function: str, opset: int = 18, ir_version: int = 8) -> onnx.ModelProto:
    """Parse a graph and the one function that it calls."""
    head = f'<domain: "local", opset_import: ["" : {opset}]> '
    return parse(graph + head + function, opset, ir_version, ', "local" : 1')


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
