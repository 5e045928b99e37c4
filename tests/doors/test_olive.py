"""The surgeon and the pass for Olive, where it is installed."""

from collections.abc import Mapping
from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from tests.helpers.support import scatters

olive = pytest.importorskip("olive", reason="Olive is not installed")
MODEL = Path(__file__).parents[2] / "models" / "yolox_head_ts_dynamic.onnx"


def run(tmp_path: Path, kind: object, config: Mapping[str, object]) -> onnx.ModelProto:
    """Return what a pass of Olive writes of the model."""
    from olive.hardware.accelerator import DEFAULT_CPU_ACCELERATOR
    from olive.model import ONNXModelHandler
    from olive.passes.olive_pass import create_pass_from_dict

    made = create_pass_from_dict(kind, dict(config), True, DEFAULT_CPU_ACCELERATOR)
    done = made.run(ONNXModelHandler(str(MODEL)), str(tmp_path / "out.onnx"))
    return onnx.load(done.model_path)


def test_both_remove_the_scatters(tmp_path: Path) -> None:
    from olive.passes.onnx.graph_surgeries import GraphSurgeries

    from onnx_scatterx.olive import RemoveScattersPass

    options = {"target": "standard", "gathers": True}
    surgeries = {"surgeries": [{"surgeon": "RemoveScatters", **options}]}
    for kind, config in (GraphSurgeries, surgeries), (RemoveScattersPass, options):
        written = run(tmp_path, kind, config)
        assert scatters(written) == 0
        assert onnx_scatterx.verify(MODEL, written, samples=5)


def test_a_target_that_refuses_is_an_error(tmp_path: Path) -> None:
    from onnx_scatterx.olive import RemoveScattersPass

    with pytest.raises(onnx_scatterx.TargetError):
        run(tmp_path, RemoveScattersPass, {"target": "qnn", "strict": True})


def test_it_is_one_file_of_40_lines() -> None:
    text = (Path(onnx_scatterx.__file__).parent / "olive.py").read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line]) <= 40
