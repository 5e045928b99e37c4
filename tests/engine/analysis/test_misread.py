"""Nodes whose shape is inferred wrongly: a model that has one stays as it is."""

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same, open_session
from tests.helpers.support import parse


@pytest.mark.parametrize("shape", ["", "1", "1, 1"])
def test_positions_of_one_number_have_one_row(shape: str) -> None:
    """Shape inference gives no row to the positions of a tensor without dims."""
    model = parse(f"""g (int64[1] x) => (int64[A, B] y) {{
        n = Reshape (x, [{shape}])  p = Unsqueeze (NonZero (n), [0])  y = Gather (p, 0) }}""")
    result = onnx_scatterx.optimize(model, target='standard, avoid = ["Gather"]')
    assert_same(model, result.model, [{"x": np.array([n])} for n in (0, 3)])
    written = {node.op_type for node in result.model.graph.node}
    assert ("Gather" in written) is (shape == "")


@pytest.mark.parametrize("target", ["standard", "tflite", "qnn", "mnn"])
def test_a_size_of_nothing_stays_computed(target: str) -> None:
    """Shape inference takes n for -1, and refuses it beside a 0 that is known."""
    model = parse("""g (float[0, K] x, int64 n) => (y) {
        size = Gather (Shape (x), [0])  sizes = Concat <axis = 0> (size, Reshape (n, [1]))
        y = Reshape (x, sizes) }""")
    result = onnx_scatterx.optimize(model, target=target)
    feeds = [{"x": np.zeros((0, 2), np.float32), "n": np.array(n)} for n in (0, 3)]
    assert_same(model, result.model, feeds)


def test_another_size_of_nothing_stays_computed() -> None:
    model = parse("""g (float[N, M, 0] x) => (y) {
        sizes = Concat <axis = 0> (Gather (Shape (x), [0]), Gather (Shape (x), [2]), [6])
        y = Reshape (x, sizes) }""")
    result = onnx_scatterx.optimize(model, target="tract")
    feeds = [{"x": np.zeros(shape, np.float32)} for shape in ((2, 0, 0), (0, 3, 0))]
    assert_same(model, result.model, feeds)


def test_a_zero_beside_what_is_inferred_stays_computed() -> None:
    model = parse("""g (float[N] x) => (y) {
        y = Reshape <allowzero = 1> (x, Concat <axis = 0> ([0], [-1])) }""")
    result = onnx_scatterx.optimize(model, target="opencv")
    open_session(model)
    open_session(result.model)


@pytest.mark.parametrize("sizes", ["[0, -1]", "Concat <axis = 0> ([0], Reshape (n, [1]))"])
@pytest.mark.parametrize("allowed", ["", "<allowzero = 0>"])
def test_a_zero_that_copies_a_size_is_no_obstacle(sizes: str, allowed: str) -> None:
    model = parse(f"""g (float[N, 4] x, int64 n, float[4] d, float[1] u) => (y, z) {{
        y = Reshape {allowed} (x, {sizes})  z = ScatterElements (d, [1], u) }}""")
    assert onnx_scatterx.optimize(model, target="standard").report.removed == 1


@pytest.mark.parametrize("target", ["standard", "tflite"])
def test_a_scatter_beside_a_size_of_nothing_goes(target: str) -> None:
    model = parse("""g (float[0, K] x, int64 n, float[4] d, float[1] u) => (y, z) {
        sizes = Concat <axis = 0> (Gather (Shape (x), [0]), Reshape (n, [1]))
        y = Reshape (x, sizes)  z = ScatterElements (d, [1], u) }""")
    assert onnx_scatterx.optimize(model, target=target).report.removed == 1


def test_no_other_form_lets_a_size_be_known_sooner() -> None:
    model = parse("""g (float[N, M, 0] x, int64 n) => (y) {
        sizes = Concat <axis = 0> (Reshape (n, [1]), Gather (Shape (x), [2]))
        y = Reshape <allowzero = 1> (x, sizes) }""")
    result = onnx_scatterx.optimize(
        model, target="standard, avoid = ['Concat']", assume=["n == -1"]
    )
    open_session(model)
    open_session(result.model)
