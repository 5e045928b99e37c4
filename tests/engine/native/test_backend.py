"""ONNX's own node tests of the scatter operators hold for target `scatterx`, library or not."""

import onnx
import pytest

import onnx_scatterx
from tests.helpers.backend_cases import CASES, Case, with_constant_indices
from tests.helpers.native_support import RUNTIME, natives, run_native
from tests.helpers.pair import agree
from tests.helpers.support import run

KNOWN = [c for c in CASES if "tensorscatter" not in c.name or RUNTIME >= (1, 25)]


def hold(case: Case) -> onnx.ModelProto:
    """Check the optimized model on the data of a case, with the library and without it."""
    optimized: onnx.ModelProto = onnx_scatterx.optimize(case.model, target="scatterx").model
    onnx.checker.check_model(optimized, full_check=True)
    names = [value.name for value in case.model.graph.input]
    for inputs, expected in case.data:
        for way in (run, run_native):
            actual = way(optimized, dict(zip(names, inputs, strict=True)))
            assert agree(list(expected), actual), f"{way.__name__}: {expected} became {actual}"
    return optimized


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_fed_indices(case: Case) -> None:
    assert len(natives(hold(case))) == 1


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case.name)
def test_constant_indices(case: Case) -> None:
    hold(with_constant_indices(case))
