"""Integers that follow from constants are those of ONNX Runtime, over their whole types."""

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.domain.call import Call
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.transfers import TRANSFERS, transferred
from onnx_scatterx.engine.terms.facts import Facts
from onnx_scatterx.fitting.constant_finder import COMPUTED
from tests.helpers.integer_nodes import CASES, VERSION, draws, i64, in_onnx_runtime


def node_of(op: str, arrays: list[np.ndarray], attributes: dict[str, Any]) -> ir.Node:
    values = [ir.Value(name=f"i{n}") for n in range(len(arrays))]
    outputs = 2 if op == "Split" else 1
    proto = onnx.helper.make_node(op, [], [], **attributes)
    found = [ir.serde.deserialize_attribute(a) for a in proto.attribute]
    return ir.Node("", op, values, found, num_outputs=outputs)


def followed(op: str, arrays: list[np.ndarray], attributes: dict[str, Any]) -> list[Any] | None:
    """Return the outputs of a node on constants, if its transfer function gives all of them."""
    inputs = [TensorValue.of(array) for array in arrays]
    node = node_of(op, arrays, attributes)
    found = transferred(Call(node, inputs, VERSION, Facts()))
    results = None if found is None else [value.constant for value in found]
    return None if results is None or any(array is None for array in results) else results


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", sorted(CASES))
def test_as_onnx_runtime_computes_it(op: str) -> None:
    followable = [(case, found) for case in draws(op, 60) if (found := followed(op, *case))]
    cases = [case for case, _ in followable]  # the others may end the process of ONNX Runtime
    compared = 0
    for optimize in (False, True):
        told = in_onnx_runtime(op, cases, optimize)
        for ((arrays, attributes), found), expected in zip(followable, told, strict=True):
            for one, other in zip(found, expected or (), strict=expected is not None):
                np.testing.assert_array_equal(one, other, f"{arrays} {attributes}", strict=True)
                compared += 1
    assert compared >= 40


@pytest.mark.parametrize("op", ["Div", "Mod"])
def test_a_division_by_zero_is_not_computed(op: str) -> None:
    assert followed(op, [i64(1, 2), i64(1, 0)], {}) is None


def test_every_operator_is_drawn() -> None:
    others = "MatMul Pad"  # of floats
    floats = """Ceil Cos Exp Floor IsInf IsNaN Log Pow Reciprocal Round Sigmoid Sin Sqrt Tan Tanh"""
    assert CASES.keys() == COMPUTED - set(f"{others} {floats}".split())
    assert CASES.keys() <= TRANSFERS.keys()
