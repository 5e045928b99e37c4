"""Every shape of a model for a device is computed in the fewest nodes, and has the same sizes."""

from collections import Counter
from pathlib import Path

import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.passes import ShortenAllShapes
from tests.helpers.pair import Pair
from tests.helpers.support import optimize, parse, sample

# What exporters write for a view of what was transposed before. In a model without a scatter,
# ShortenShapeComputations looks at all shapes.
VIEW = """g (float[N,M,4] x, float[N,K] u, float[4,2] d, float[1,2] r)
    => (float[A,B,C] y, float[4,2] z{outputs})
    <int64 c0 = {{0}}, int64 c1 = {{1}}, int64[1] zero = {{0}}, int64[1] four = {{4}},
     int64[1,1] row = {{1}}> {{
    z = ScatterND (d, row, r)
    t = Transpose <perm = [1, 0, 2]> (x)
    s = Shape (t)  n = Gather (s, c1)  m = Gather (s, c0)
    nn = Unsqueeze (n, zero)  mm = Unsqueeze (m, zero)
    shape = Concat <axis = 0> (nn, mm, four)
    y = Reshape (u, shape) }}"""
ROW = {"d": sample("float32", 4, 2), "r": sample("float32", 1, 2)}
SIZES = [(0, 2), (1, 0), (1, 1), (2, 3), (5, 1)]


def counted(text: str, target: str = "tract") -> Counter[str]:
    return Counter(node.op_type for node in optimize(parse(text), target=target).graph.node)


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_a_shape_is_read_from_a_tensor_that_has_it(n: int, m: int) -> None:
    model = parse(VIEW.format(outputs=""))
    feed = {"x": sample("float32", n, m, 4), "u": sample("float32", n, m * 4), **ROW}
    assert Pair(model, optimize(model, target="tract")).accepts(feed)
    assert counted(VIEW.format(outputs=""))["Shape"] == 1
    assert counted(VIEW.format(outputs=""))["Gather"] == 0


def test_what_others_read_is_computed_once() -> None:
    shared = VIEW.format(outputs=", int64[3] shape")
    assert counted(shared)["Gather"] == 2
    assert counted(shared)["Shape"] == 1


def test_dims_of_one_name_may_differ_in_the_inputs() -> None:
    """Runtimes do not compare them, so the size of ``x`` is not that of ``u``."""
    model = parse("""g (float[N,2] x, float[N,4] u, float[4,2] d, float[1,2] r)
        => (float[A,B] y, float[4,2] z)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] four = {4}, int64[1,1] row = {1},
         float c = {2}> {
        z = ScatterND (d, row, r)
        v = Abs (u)
        s = Shape (x)  n = Slice (s, zero, one)
        shape = Concat <axis = 0> (n, four)
        w = Expand (c, shape)
        k = ReduceSum <keepdims = 1> (v)
        y = Add (w, k) }""")
    feed = {"x": sample("float32", 2, 2), "u": sample("float32", 3, 4), **ROW}
    assert Pair(model, optimize(model, target="tract")).accepts(feed)


@pytest.mark.parametrize("target", ["standard", "qnn"])
def test_other_models_keep_their_shapes(target: str) -> None:
    """A model for ONNX Runtime is not fitted, and a static target folds its sizes."""
    model = parse(VIEW.format(outputs=""))
    assert not ShortenAllShapes(target=target)(ir.from_proto(model)).modified


@pytest.mark.parametrize("path", sorted(Path("models").glob("*dynamic.onnx")), ids=lambda p: p.stem)
def test_a_second_run_finds_nothing_shorter(path: Path, tmp_path: Path) -> None:
    first = onnx_scatterx.optimize(path, target="openvino")
    first.save(tmp_path / "first.onnx")
    second = onnx_scatterx.optimize(tmp_path / "first.onnx", target="openvino")
    assert second.report.nodes_after == first.report.nodes_after
