"""ONNX's own node tests of the scatter operators hold after `optimize`.

Once as they are, with indices that are fed, and once with the indices as constants.
"""

import pytest

from tests.helpers.backend_cases import CASES, Case, with_constant_indices
from tests.helpers.pair import agree
from tests.helpers.support import SCATTERS, nodes, optimize, run


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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_constant_indices(case: Case) -> None:
    hold(with_constant_indices(case))
