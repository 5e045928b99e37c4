"""Faults put into optimized models: none is ever proven to be no fault."""

import importlib.util
import random
from pathlib import Path
from types import ModuleType

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.equivalence.proof import prove

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODELS = (
    "box_update_dynamo_dynamic",
    "inverse_wavelet_dynamo_dynamic",
    "kv_cache_ts",
    "letterbox_ts_dynamic",
    "mask_copy_dynamo",
    "one_hot_labels_dynamo",
    "overlap_add_dynamo",
    "shift_right_ts_dynamic",
)


def made_by() -> ModuleType:
    """Return the module of the mutants, which is a part of the benchmark."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "benchmarks" / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", MODELS)
def test_no_mutant_is_proven(name: str) -> None:
    mutants = made_by()
    path = ROOT / "models" / f"{name}.onnx"
    before = onnx.load(path)
    after = onnx_scatterx.optimize(before, target="standard").model
    assert prove(before, after).proven
    rng = random.Random(name)
    seen = 0
    for _ in range(60):
        found = mutants.mutate(before, after, rng)
        if found is None or not mutants.differs(before, found[1], path, seen):
            continue
        kind, faulty = found
        answer = prove(before, faulty, seconds=10).kind
        assert answer in ("unknown", "proven for sizes"), f"{kind}: {answer}"
        seen += 1
        if seen == 8:
            break
    assert seen == 8
