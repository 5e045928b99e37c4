"""`run` and `bench` when ONNX Runtime dies: one line, and the command ends as it does elsewhere."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.runtime.opened import run_model
from tests.helpers.commands import error_of, saved
from tests.helpers.support import parse

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]

# ONNX Runtime 1.31 divides by the batch size, and the process gets SIGFPE.
DIES = """g (float[B, 2, 4] x) => (float[B, 2, 2] y)
    { y = Einsum <equation = "bij,bkj->bik"> (x, x) }"""
FEED = {"x": np.zeros((0, 2, 4), np.float32)}


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A model of whose process ONNX Runtime makes an end, if it still does."""
    path = saved(tmp_path / "dies.onnx", DIES)
    program = (
        "import onnxruntime as ort, numpy as np\n"
        f"session = ort.InferenceSession({path!r}, providers=['CPUExecutionProvider'])\n"
        "session.run(None, {'x': np.zeros((0, 2, 4), np.float32)})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    if done.returncode >= 0:
        pytest.skip("this ONNX Runtime does not die of it")
    np.save(tmp_path / "x.npy", FEED["x"])
    return path


def test_run(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "o.npz"
    command = ["run", model, "--input", f"x={tmp_path / 'x.npy'}", "--output", str(out)]
    assert main(command) == 2
    assert error_of(capsys) == (
        "ONNX Runtime cannot run the model: the process died (killed by SIGFPE)"
    )
    assert not out.exists()
    with pytest.raises(ScatterXError, match="the process died"):
        run_model(model, FEED, library=False)


def test_bench(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["bench", model, model, "--input", f"x={tmp_path / 'x.npy'}", "--rounds", "6"]
    assert main(command) == 2
    assert error_of(capsys) == (
        f"{model}: ONNX Runtime cannot run the model: the process died (killed by SIGFPE)"
    )


def test_models_that_run_are_told_from_those_that_do_not(model: str) -> None:
    same = {"x": np.ones((1, 2, 4), np.float32)}
    found = onnx_scatterx.bench([model, parse(DIES)], inputs=same, rounds=6, library=False)
    assert [timing.difference for timing in found.timings] == [None, None]
    assert all(timing.node_times for timing in found.timings)
