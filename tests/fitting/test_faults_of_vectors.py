"""Gathers from a vector that a Reshape makes."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

_TARGET = "standard, static_only = true, faults = [{form = 'flat_indices', version = '1'}]"


def _made(text: str, indices: np.ndarray) -> list[str]:
    """Write the form, compare, and return the operators behind the vector."""
    model = parse(f"""g (float[2, 3, 4] x, float[24] z) => (float[A] y) {{
        line = Constant <value_ints = [-1]> ()  v = Reshape (x, line)  {text} }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    model.graph.initializer.append(onnx.numpy_helper.from_array(indices, "i"))
    made = onnx_scatterx.optimize(model, target=_TARGET).model
    rng = np.random.default_rng(0)
    drawn = {"x": rng.standard_normal((2, 3, 4)), "z": rng.standard_normal(24)}
    drawn["x"][0, 0, :3] = [np.nan, -0.0, np.inf]
    assert_same(model, made, [{name: x.astype(np.float32) for name, x in drawn.items()}])
    return [node.op_type for node in made.graph.node if node.op_type != "Constant"][1:]


@pytest.mark.parametrize("seed", range(20))
def test_drawn_indices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 4, int(rng.integers(2, 5)))
    indices = rng.integers(-24, 24, shape, [np.int64, np.int32][seed % 2])
    assert _made("y = Gather (v, i)", indices) == ["Gather", "Reshape"]


@pytest.mark.parametrize("shape", [(24, 1), (1, 24, 1, 1), (2, 12)])
@pytest.mark.parametrize("first", [0, -24])
def test_all_positions_in_order(shape: tuple[int, ...], first: int) -> None:
    """The elements of the vector in another shape."""
    indices = np.arange(first, first + 24).reshape(shape)
    assert "Gather" not in _made("g = Gather (v, i)  y = Neg (g)", indices)


@pytest.mark.parametrize(
    ("text", "indices"),
    [
        ("y = Gather (v, i)", np.array([3, 1])),
        ("y = Gather (v, i)", np.array(3)),
        ("y = Gather (v, i)", np.zeros((2, 0), np.int64)),
        ("g = Gather (z, i)  y = Add (g, v)", np.arange(24)[::-1].reshape(24, 1)),
        ("n = Neg (v)  y = Gather (n, i)", np.array([[3, 1]])),
        ("t = Constant <value_ints = [4, 6]> ()  w = Reshape (x, t)  y = Gather (w, i)",
         np.array([[3, 1]])),
    ],
)  # fmt: skip
def test_other_gathers(text: str, indices: np.ndarray) -> None:
    operators = _made(text, indices)
    assert operators[-1:] != ["Reshape"]
    assert ("Gather" in operators) == (indices.size > 0)
