"""Commands of the command line in tests: models that they get, a run, and the line of an error."""

import os
import subprocess
import sys
from pathlib import Path

import onnx
import pytest

from tests.helpers.support import parse

MODELS = Path(__file__).parents[2] / "models"
YOLOX = str(MODELS / "yolox_head_ts_dynamic.onnx")
KV = str(MODELS / "kv_cache_dynamo.onnx")

ROW = """row (float[N, 2] x, float[1, 2] y) => (float[N, 2] z)
    { [the_write] z = ScatterND(x, [[1]], y) }"""
NEG = "g (float[N] x) => (float[N] y) { y = Neg(x) }"


def saved(path: Path, text: str, opset: int = 18) -> str:
    onnx.save(parse(text, opset), path)
    return str(path)


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line on stderr, without its head."""
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("onnx-scatterx: ")
    assert "Traceback" not in line
    return line.removeprefix("onnx-scatterx: ")


def started(
    directory: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a copy of this process, or in one of its own without `fork`."""
    if not hasattr(os, "fork"):
        command = [sys.executable, "-m", "onnx_scatterx", *arguments]
        variables = os.environ | environment
        return subprocess.run(command, cwd=directory, env=variables, capture_output=True)
    from tests.helpers.isolation import run

    ended = run(arguments, directory, environment, 60)
    return subprocess.CompletedProcess(arguments, ended.status, ended.sent, ended.err.encode())
