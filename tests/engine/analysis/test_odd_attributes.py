"""Attributes that only ONNX Runtime refuses, or reads in its own way."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

WRITE = "float[4] d, int64[1, 1] i, float[1] v) => (y, float[4] u) { u = ScatterND (d, i, v)"


@pytest.mark.parametrize(
    "read",
    [
        *(f"y = Split <num_outputs = {n}> (x)" for n in (-1, 0, 2, 2**16)),
        *(f"y = GatherND <batch_dims = {n}> (x, [[1], [1]])" for n in (-(2**32), -1, 3, 2**31)),
    ],
)
def test_a_node_that_does_not_run(read: str) -> None:
    """It says nothing, and nothing is done for as many outputs or axes as it names."""
    model = parse(f"g (float[2, 3] x, {WRITE} {read} }}")
    assert onnx_scatterx.optimize(model).report.scatters


@pytest.mark.parametrize("number", [2**16 + 1, 2**31, 2**63 - 1])
@pytest.mark.parametrize("function", [False, True])
def test_a_split_into_far_more_parts_than_it_has(number: int, function: bool) -> None:
    """ONNX's shape inference would make a list of them."""
    split = f"Split <num_outputs = {number}> (x)"
    model = parse(f"g (float[2, 3] x, {WRITE} y = {'own.f (x)' if function else split} }}")
    if function:
        sets = [onnx.helper.make_opsetid("", 18)]
        (node,) = onnx.parser.parse_graph(f"g (float[2] x) => (y) {{ y = {split} }}").node
        model.functions.append(onnx.helper.make_function("own", "f", ["x"], ["y"], [node], sets))
        model.opset_import.append(onnx.helper.make_opsetid("own", 1))
    with pytest.raises(onnx_scatterx.ScatterXError, match=f"num_outputs = {number}"):
        onnx_scatterx.optimize(model)


@pytest.mark.parametrize("turned", [False, True])
def test_the_first_value_of_a_constant_counts(turned: bool) -> None:
    """The checker takes a Constant of two values, and ONNX Runtime the first of them."""
    model = parse("""g (float[4] x, float[1] v) => (float[4] y, int64[1] c) {
        c = Constant <value_ints = [1]> ()  y = ScatterElements (x, c, v) }""")
    values = [*model.graph.node[0].attribute]
    values.append(onnx.helper.make_attribute("value", onnx.numpy_helper.from_array(np.array([2]))))
    del model.graph.node[0].attribute[:]
    model.graph.node[0].attribute.extend(values[::-1] if turned else values)
    result = onnx_scatterx.optimize(model, target="standard")
    assert result.report.removed
    feed = {"x": np.zeros(4, np.float32), "v": np.ones(1, np.float32)}
    assert_same(model, result.model, [feed])
