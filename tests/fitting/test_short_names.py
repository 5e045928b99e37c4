"""Short names for the values of a model of many nodes, for a compiler that compares them often."""

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.fitting.faults import names
from tests.helpers.pair import assert_same
from tests.helpers.support import parse

TARGET = "standard, static_only = true, faults = [{form = 'short_names', version = '1'}]"
TEXT = """g (float[2] an_input_of_the_model, float[2] v_1) => (float[2] an_output_of_the_model)
    <float[2] a_constant_of_the_model = {1, 2}> {
    the_first_of_the_values = Add (an_input_of_the_model, a_constant_of_the_model)
    short = Neg (the_first_of_the_values)
    the_second_of_the_values = Mul (short, v_1)
    an_output_of_the_model = Sub (the_second_of_the_values, the_first_of_the_values) }"""


def named() -> onnx.ModelProto:
    """Return the model, whose nodes have long names."""
    model = parse(TEXT)
    for i, node in enumerate(model.graph.node):
        node.name = f"a_node_with_a_long_name_{i}"
    return model


def made(many: int, monkeypatch: pytest.MonkeyPatch) -> onnx.ModelProto:
    """Return the result if so many nodes are many."""
    monkeypatch.setattr(names, "_MANY", many)
    model = named()
    result = onnx_scatterx.optimize(model, target=TARGET).model
    assert [n.name for n in result.graph.node] == [n.name for n in model.graph.node]
    x = np.array([3, -4], np.float32)
    assert_same(model, result, [{"an_input_of_the_model": x, "v_1": x}])
    return result


def test_values_between_many_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = [node.output[0] for node in made(4, monkeypatch).graph.node]
    assert outputs == ["v", "short", "v_2", "an_output_of_the_model"]


def test_few_nodes_keep_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    assert made(5, monkeypatch) == named()
