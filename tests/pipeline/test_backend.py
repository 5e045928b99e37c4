"""ONNX's own node tests of the scatter operators hold after `optimize`.

Once as they are, with indices that are fed, and once with the indices as constants.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

import numpy as np
import onnx
import onnx.backend.test.case.node
import onnx.numpy_helper
import pytest

from tests.helpers.pair import agree
from tests.helpers.support import SCATTERS, nodes, optimize, run

for module in ("scatter", "scatterelements", "scatternd", "tensorscatter"):
    import_module(f"onnx.backend.test.case.node.{module}")  # which registers its cases


class Case(NamedTuple):
    """A model with pairs of inputs and expected outputs."""

    name: str
    model: onnx.ModelProto
    data: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]]


CASES = [
    Case(case.name, case.model, case.data_sets)
    for case in onnx.backend.test.case.node._NodeTestCases
    if case.model and case.data_sets and SCATTERS & {node.op_type for node in nodes(case.model)}
]


def hold(case: Case) -> None:
    """Check the optimized model on the data of a case, as far as it asks for inputs."""
    optimized = optimize(case.model)
    names = [value.name for value in case.model.graph.input]
    for inputs, expected in case.data:
        actual = run(optimized, dict(zip(names, inputs, strict=True)))
        assert agree(list(expected), actual), f"{expected} became {actual}"


def test_all_operators_are_there() -> None:
    assert {node.op_type for case in CASES for node in nodes(case.model)} >= SCATTERS
    assert len(CASES) >= 15


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_fed_indices(case: Case) -> None:
    hold(case)


def with_constant_indices(case: Case) -> Case:
    """Return a case whose indices are an initializer."""
    ((inputs, expected),) = case.data
    place = 2 if "tensorscatter" in case.name else 1
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    name = model.graph.input.pop(place).name
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(inputs[place]), name))
    fed = [*inputs[:place], *inputs[place + 1 :]]
    return Case(case.name, model, [(fed, expected)])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_constant_indices(case: Case) -> None:
    hold(with_constant_indices(case))
