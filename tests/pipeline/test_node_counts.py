"""Chains of writes come out as a person would write them: the new nodes of the example models."""

from collections import Counter
from pathlib import Path

import pytest

import onnx_scatterx
from onnx_scatterx.engine.plan.commit import REPLACES

MODELS = Path(__file__).parents[2] / "models"

# Interleaving two halves: Unsqueeze each, Concat, Reshape; of a head: three pieces, one Concat.
WRITTEN = {
    "box_update_dynamo": {"Slice": 4, "Concat": 2},
    "box_update_ts": {"Slice": 4, "Concat": 2},
    "face_keypoints_dynamo": {"Slice": 1, "Unsqueeze": 2, "Concat": 1, "Reshape": 1},
    "face_keypoints_ts_dynamic": {"Slice": 1, "Unsqueeze": 2, "Concat": 1, "Reshape": 1},
    "inverse_wavelet_dynamo": {"Unsqueeze": 6, "Concat": 3, "Reshape": 3},
    "letterbox_dynamo": {"Pad": 1},
    "letterbox_ts": {"Pad": 1},
    "mask_fill_dynamo_dynamic": {"Where": 1},
    "refine_centres_dynamo": {"Slice": 1, "Concat": 1},
    "refine_centres_dynamo_dynamic": {"Slice": 1, "Concat": 1},
    "refine_centres_ts_dynamic": {"Slice": 1, "Concat": 1},
    "reverse_channels_dynamo": {"Slice": 1},
    "reverse_channels_ts": {"Slice": 1},
    "rotary_interleaved_dynamo_dynamic": {"Slice": 1, "Unsqueeze": 2, "Concat": 1, "Reshape": 1},
    "rotary_interleaved_ts_dynamic": {"Slice": 1, "Unsqueeze": 2, "Concat": 1, "Reshape": 1},
    "shift_right_dynamo_dynamic": {"Slice": 1, "Pad": 1},
    "yolox_head_ts": {"Slice": 2, "Concat": 1},
    "yolox_head_ts_dynamic": {"Slice": 2, "Concat": 1},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written(name: str) -> None:
    result = onnx_scatterx.optimize(MODELS / f"{name}.onnx", target="standard")
    new = [n for n in result.model.graph.node if any(p.key == REPLACES for p in n.metadata_props)]
    assert Counter(n.op_type for n in new) == WRITTEN[name]
    assert result.report.removed == len(result.report.scatters)


# Reads, with writes between: one Slice each, and a Squeeze for a single row.
READ = {
    "gather_rows_dynamo_dynamic": {"Slice": 1},
    "gather_rows_ts_dynamic": {"Slice": 1},
    "learnt_positions_dynamo_dynamic": {"Slice": 1},
    "read_back_dynamo": {"Slice": 1, "Squeeze": 1},
    "read_back_ts_dynamic": {"Slice": 1, "Squeeze": 1},
    "read_channels_dynamo": {"Slice": 2},
    "read_steps_dynamo_dynamic": {"Slice": 2, "Identity": 1},
    "read_steps_ts_dynamic": {"Slice": 2, "Identity": 1},
    "take_along_dynamo": {"Slice": 1},
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read(name: str) -> None:
    result = onnx_scatterx.optimize(MODELS / f"{name}.onnx", target="standard", gathers=True)
    new = [n for n in result.model.graph.node if any(p.key == REPLACES for p in n.metadata_props)]
    assert Counter(n.op_type for n in new) == READ[name]
    assert result.report.gathers_removed == len(result.report.gathers)


def test_counts_in_the_report() -> None:
    model = MODELS / "rotary_interleaved_ts_dynamic.onnx"
    result = onnx_scatterx.optimize(model, target="standard")
    assert result.report.nodes_after == len(result.model.graph.node) < 16
    assert result.report.nodes_before > 200
