"""A LeakyRelu stands behind a Conv of groups, if its channels are picked."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse

_TARGET = "standard, faults = [{form = 'leaky_relu_of_groups', version = '1'}]"
_SHUFFLE = "a = Reshape (c, [1, 2, 4, 5, 5])  b = Transpose <perm = [0, 2, 1, 3, 4]> (a)"


def model_of(text: str, group: int = 8, first: str = "") -> onnx.ModelProto:
    """Return nodes behind a Conv of 8 channels."""
    first = first or f"c = Conv <group = {group}, pads = [1, 1, 1, 1]> (x, w)"
    model = parse(f"""g (float[1, 8, 5, 5] x) => (float[] y)
        <int64[3] i = {{3, 1, 7}}, float k = {{0.3}}> {{ {first}  {text} }}""")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    weights = np.random.default_rng(0).standard_normal((8, 8 // group, 3, 3), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return model


def written(model: onnx.ModelProto) -> int:
    """Write the form, compare, and count the LeakyRelus."""
    made = onnx_scatterx.optimize(model, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    array = np.random.default_rng(1).standard_normal((1, 8, 5, 5), np.float32)
    odd = array.copy()
    odd.ravel()[[3, 60, 130]] = [np.nan, np.inf, -0.0]
    assert_same(model, made, [{"x": array}, {"x": odd}, {"x": -np.zeros_like(array)}])
    again = onnx_scatterx.optimize(made, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    assert len(again.graph.node) == len(made.graph.node)
    return sum(node.op_type == "LeakyRelu" for node in nodes(made))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("y = Gather <axis = 1> (c, i)", 1),
        ("a = Add (c, x)  y = Gather <axis = 1> (a, i)", 1),
        ("a = Mul (k, c)  b = Neg (a)  y = Gather <axis = 1> (b, i)", 1),
        ("a = Reshape (c, [1, 8, 25])  y = Gather <axis = 1> (a, i)", 1),
        ("a = Transpose <perm = [0, 2, 3, 1]> (c)  y = Gather <axis = 3> (a, i)", 1),
        (f"{_SHUFFLE}  y = Reshape (b, [1, 8, 5, 5])", 1),
        ("a = Slice (c, [4], [8], [1])  b = Slice (c, [0], [4], [1])"
         "  y = Concat <axis = 1> (a, b)", 1),
        ("a, b = Split <axis = 1, num_outputs = 2> (c)  y = Concat <axis = 1> (b, a)", 1),
        ("a = Reshape (c, [1, 4, 50])  b = Slice (a, [2], [3], [2])  y = Squeeze (b, [2])", 1),
        ("a = Relu (c)  y = Gather <axis = 1> (a, i)", 0),
        ("a = Sigmoid (c)  b = Mul (a, c)  y = Gather <axis = 1> (b, i)", 0),
        ("y = Slice (c, [4], [8], [1])", 0),
        (f"{_SHUFFLE}  y = Neg (b)", 0),
        ("a = Transpose <perm = [0, 2, 3, 1]> (c)  y = Reshape (a, [1, 25, 8])", 0),
        ("y = Neg (c)", 0),
    ],
)  # fmt: skip
def test_what_picks_channels(text: str, count: int) -> None:
    assert written(model_of(text)) == count


@pytest.mark.parametrize("computed", ["float[8, 1, 1, 1] w", "int64[3] i"])
def test_weights_and_indices_that_are_computed_are_left_alone(computed: str) -> None:
    model = parse(f"""g (float[1, 8, 5, 5] x, {computed}) => (float[] y) {{
        c = Conv <group = 8> (x, w)  y = Gather <axis = 1> (c, i) }}""")
    weights, indices = np.ones((8, 1, 1, 1), np.float32), np.array([3, 1, 7])
    for name, array in (("w", weights), ("i", indices)):
        if not computed.endswith(name):
            model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    made = onnx_scatterx.optimize(model, target=target_of(_TARGET), passes=["AvoidFaults"]).model
    assert {node.op_type for node in nodes(made)} == {"Conv", "Gather"}


@pytest.mark.parametrize(
    ("first", "count"),
    [
        ("c = Conv <group = 1, pads = [1, 1, 1, 1]> (x, w)", 0),
        ("c = GlobalAveragePool (x)", 1),
        ("c = ReduceMean (x, [2, 3])", 1),
        ("c = ReduceMean <keepdims = 0> (x, [2, 3])", 1),
        ("c = ReduceMean <keepdims = 0> (x, [3])", 0),
        ("c = ReduceMax (x, [2, 3])", 0),
        ("c = MaxPool <kernel_shape = [2, 2]> (x)", 0),
    ],
)
def test_what_is_a_conv_of_groups(first: str, count: int) -> None:
    group = 1 if "group = 1," in first else 8
    assert written(model_of("y = Gather <axis = 1> (c, i)", group, first)) == count


def test_a_conv_of_one_group_beside_one_of_many_is_left_alone() -> None:
    both = "d = Conv <group = 8, pads = [1, 1, 1, 1]> (x, w)  e = Relu (d)  c = Conv (e, v)"
    model = model_of("y = Gather <axis = 1> (c, i)", first=both)
    weights = np.random.default_rng(2).standard_normal((8, 8, 1, 1), np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "v"))
    assert written(model) == 0


def test_a_conv_that_is_an_output_too() -> None:
    model = model_of("y = Gather <axis = 1> (c, i)")
    model.graph.output.append(onnx.helper.make_tensor_value_info("c", 1, [1, 8, 5, 5]))
    assert written(model) == 1


def test_readers_stand_in_any_order() -> None:
    text = "a = Neg (c)  b = Gather <axis = 1> (c, i)  d = Slice (a, [0], [3], [1])  y = Add (b, d)"
    assert written(model_of(text)) == 1


@pytest.mark.parametrize("seed", range(10))
def test_drawn_convs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = int(rng.choice([2, 4, 8]))
    picked = ", ".join(str(n) for n in rng.integers(-8, 8, int(rng.integers(1, 9))))
    between = str(rng.choice(["a = Identity (c)", "a = Add (c, x)", "a = Div (c, k)"]))
    text = f"{between}  y = Gather <axis = 1> (a, [{picked}])"
    assert written(model_of(text, group)) == 1


def test_the_profile_has_the_fault() -> None:
    (fault,) = (f for f in target_of("rknn").faults if f.form == "leaky_relu_of_groups")
    assert "fuse_conv_gather" in fault.switch
