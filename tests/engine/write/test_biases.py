"""A LayerNormalization without a bias gets one that changes nothing."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse

TARGET = "standard, limits.LayerNormalization.refused = [{absent = ['B']}]"


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("seed", range(8))
def test_a_norm_without_a_bias(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.choice([1, 2, 5, 16], int(rng.integers(1, 5)))]
    axis = int(rng.integers(-len(shape), len(shape)))
    model = parse(f"""g ({kind}{shape} x) => ({kind}{shape} y) {{
        y = LayerNormalization <axis = {axis}, epsilon = 0.01> (x, s) }}""")
    dtype = np.dtype("float32" if kind == "float" else "float64")
    scale = rng.choice(np.array([-1, 0, -0.0, 2.5], dtype), shape[axis:])
    model.graph.initializer.append(onnx.numpy_helper.from_array(scale, "s"))
    result = onnx_scatterx.optimize(model, target=TARGET)
    (node,) = nodes(result.model)
    assert len(node.input) == 3
    assert not result.report.violations
    x = rng.standard_normal(shape).astype(dtype)
    odd = x.copy()
    odd.ravel()[0] = rng.choice([np.nan, np.inf, -0.0])
    assert_same(model, result.model, [{"x": x}, {"x": odd}, {"x": np.ones(shape, dtype)}])
