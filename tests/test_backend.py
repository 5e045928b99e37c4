"""ONNX's own node tests of the scatter operators hold after `optimize`.

Once as they are, with indices that are fed, and once with the indices as constants.
"""

from importlib import import_module

import numpy as np
import onnx
import onnx.backend.test.case.node
import onnx.numpy_helper
import pytest
from onnx.backend.test.case.test_case import TestCase

from tests.support import SCATTERS, agree, nodes, optimize, run

for module in ("scatter", "scatterelements", "scatternd", "tensorscatter"):
    import_module(f"onnx.backend.test.case.node.{module}")  # which registers its cases

CASES: list[TestCase] = [
    case
    for case in onnx.backend.test.case.node._NodeTestCases
    if SCATTERS & {node.op_type for node in case.model.graph.node}
]


def hold(model: onnx.ModelProto, case: TestCase, known: int | None = None) -> None:
    """Check the optimized model on the data of a case; the known input is not fed."""
    optimized = optimize(model)
    names = [value.name for value in case.model.graph.input]
    assert case.data_sets
    for inputs, expected in case.data_sets:
        feed = dict(zip(names, inputs, strict=True))
        if known is not None:
            del feed[names[known]]
        actual = run(optimized, feed)
        assert agree(list(expected), actual), f"{expected} became {actual}"


def test_all_operators_are_there() -> None:
    assert {node.op_type for case in CASES for node in nodes(case.model)} >= SCATTERS
    assert len(CASES) >= 15


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_fed_indices(case: TestCase) -> None:
    hold(case.model, case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_constant_indices(case: TestCase) -> None:
    place = 2 if "tensorscatter" in case.name else 1
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    value = model.graph.input.pop(place)
    indices = np.asarray(case.data_sets[0][0][place])
    model.graph.initializer.append(onnx.numpy_helper.from_array(indices, value.name))
    hold(model, case, known=place)
