"""The project proves its own models, for three targets."""

from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from tests.helpers.proving import prove

MODELS = sorted(Path("models").glob("*.onnx"))
TARGETS = ("standard", "scatterx", "qnn")
CASES = [(path, target) for path in MODELS for target in TARGETS]


@pytest.mark.slow
@pytest.mark.sampled(12, each="target")
@pytest.mark.parametrize(("path", "target"), CASES, ids=lambda given: getattr(given, "stem", given))
def test_a_model_is_proven(path: Path, target: str) -> None:
    before = onnx.load(path)
    after = onnx_scatterx.optimize(before, target=target).model
    answer = str(prove(before, after)).split("\n")
    assert answer[0].startswith("proven the same, for all"), answer
