"""Tensors whose axes behind the first are equally long, for a compiler that goes by sizes."""

import numpy as np
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse


@pytest.mark.parametrize(
    ("shape", "text", "front"),
    [
        ([2, 4, 4], "y = Reshape (h, [-1, 4])", 1),
        ([2, 4, 4], "y = Reshape (h, [0, 16])", 1),
        ([2, 4, 4], "y = Transpose <perm = [1, 0, 2]> (h)", 1),
        ([1, 4, 4, 4], "t = Transpose <perm = [0, 2, 1, 3]> (h)  y = Reshape (t, [4, 16])", 1),
        ([2, 4, 4], "m = MatMul (h, h)  y = Reshape (m, [8, 4])", 0),
        ([4, 4], "y = Reshape (h, [16])", 0),
        ([2, 4, 3], "y = Reshape (h, [8, 3])", 0),
        ([2, 1, 1], "y = Reshape (h, [2])", 0),
        ([2, 4, 4], "y = Softmax <axis = 1> (h)", 0),
    ],
)
def test_an_axis_in_front(shape: list[int], text: str, front: int) -> None:
    sizes = ", ".join(map(str, shape))
    model = parse(f"g (float[{sizes}] x) => (float[] y) {{ h = Neg (x)  {text} }}")
    target = "standard, static_only = true, faults = [{form = 'one_axis_in_front', version = '1'}]"
    made = onnx_scatterx.optimize(model, target=target).model
    assert [node.op_type for node in made.graph.node].count("Unsqueeze") == front
    drawn = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    assert_same(model, made, [{"x": drawn}, {"x": np.full(shape, np.nan, np.float32)}])
