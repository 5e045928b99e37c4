"""Faults put into optimized models: none is ever proven to be no fault."""

import random
from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from tests.helpers.proving import prove
from tests.helpers.scripts import script

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
MODELS = (
    "box_update_dynamo_dynamic",
    pytest.param("inverse_wavelet_dynamo_dynamic", marks=pytest.mark.full),
    "kv_cache_ts",
    pytest.param("letterbox_ts_dynamic", marks=pytest.mark.full),
    "mask_copy_dynamo",
    "one_hot_labels_dynamo",
    "overlap_add_dynamo",
    pytest.param("shift_right_ts_dynamic", marks=pytest.mark.full),
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", MODELS)
def test_no_mutant_is_proven(name: str) -> None:
    mutants, runs = script("mutants"), script("mutant_runs")
    path = ROOT / "models" / f"{name}.onnx"
    before = onnx.load(path)
    after = onnx_scatterx.optimize(before, target="standard").model
    assert prove(before, after).proven
    rng = random.Random(name)
    seen = 0
    for _ in range(60):
        found = mutants.mutate(before, after, rng)
        if found is None or not runs.Original(before, path, seen).differs(found[1]):
            continue
        kind, faulty = found
        answer = prove(before, faulty).kind
        assert answer in ("unknown", "proven for sizes"), f"{kind}: {answer}"
        seen += 1
        if seen == 8:
            break
    assert seen == 8
