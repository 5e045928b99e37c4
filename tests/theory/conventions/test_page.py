"""The page on frameworks: every call has a row and a one-liner that prints what the page says."""

import contextlib
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.theory.golden import (
    mindspore_draws,
    onnx_draws,
    pytorch_draws,
    stablehlo_draws,
    tensorflow_draws,
    tvm_draws,
)

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "theory" / "frameworks.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\$ (python -c .*)\n((?:[^$`].*\n)*)", PAGE, re.M)
CALLS: dict[str, Mapping[str, object]] = {
    "onnx": onnx_draws.DRAWS,
    "pytorch": pytorch_draws.DRAWS,
    "tensorflow": tensorflow_draws.DRAWS,
    "mindspore": {"scatter_": None, **mindspore_draws.DRAWS},
    "tvm": tvm_draws.DRAWS,
    "stablehlo": stablehlo_draws.DRAWS,
    "timvx": dict.fromkeys(
        ["scatter_nd", "gather_nd", "gather", "gather_elements", "scatter_nd_onnx_v16"]
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("line", "printed"), LINES, ids=[line[50:90] for line, _ in LINES])
def test_one_liner(line: str, printed: str) -> None:
    python, option, code = shlex.split(line)
    assert (python, option) == ("python", "-c")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(code, {})
    assert output.getvalue() == printed


def test_a_one_liner_in_a_shell() -> None:
    line, printed = LINES[0]
    command = line.replace("python", shlex.quote(sys.executable), 1)
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == printed


@pytest.mark.parametrize("framework", CALLS)
def test_every_call_has_a_row_and_a_one_liner(framework: str) -> None:
    rows = "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.M))
    lines = [line for line, _ in LINES if f"conventions.{framework} " in line]
    for call in CALLS[framework]:
        assert any(f"print({call}(" in line for line in lines), call
        assert f"`{call}`" in rows or f"`_{call.rsplit('_')[-1]}`" in rows, call
