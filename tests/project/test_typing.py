"""A user's script is typed to the end: neither mypy nor pyright finds an ``Any`` of ours in it."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("user_script.py")
WRONG = """import onnx_ir as ir
import onnx_scatterx

onnx_scatterx.optimise("model.onnx")
onnx_scatterx.optimize(b"model")
onnx_scatterx.optimize("model.onnx", target=7)
text: str = onnx_scatterx.optimize(ir.load("model.onnx")).model
onnx_scatterx.inspect("model.onnx").removd
"""


def mypy(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run mypy where the script is: beside the sources it would check them, too."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-pretty"]
    return subprocess.run(
        [*command, *options, script.name],
        cwd=script.parent,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_mypy(tmp_path: Path) -> None:
    """``--disallow-any-expr`` denies an expression of which the type has an ``Any`` in it."""
    found = mypy(Path(shutil.copy(SCRIPT, tmp_path)), "--disallow-any-expr")
    assert found.returncode == 0, found.stdout


@pytest.mark.slow
def test_mypy_finds_mistakes(tmp_path: Path) -> None:
    """So that what was not found in the script is not there."""
    (tmp_path / "wrong.py").write_text(WRONG)
    found = mypy(tmp_path / "wrong.py")
    lines = {int(n) for n in re.findall(r"wrong\.py:(\d+): error", found.stdout)}
    assert lines == {4, 5, 6, 7, 8}, found.stdout


@pytest.mark.slow
def test_pyright(tmp_path: Path) -> None:
    """In strict mode an unknown type is an error, too."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed: pip install pyright")
    (tmp_path / "user_script.py").write_text(f"# pyright: strict\n{SCRIPT.read_text()}")
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    files = [str(tmp_path / name) for name in ("user_script.py", "wrong.py")]
    done = subprocess.run([*command, *files], capture_output=True, text=True, check=False)
    if not done.stdout.lstrip().startswith("{"):
        pytest.skip(f"pyright cannot run here: {done.stderr.strip()[-200:]}")
    told = json.loads(done.stdout)["generalDiagnostics"]
    ours = [
        d for d in told if d["file"].endswith("user_script.py") and d["severity"] != "information"
    ]
    assert ours == []
    wrong = {d["range"]["start"]["line"] + 1 for d in told if d["file"].endswith("wrong.py")}
    assert {4, 5, 6, 7, 8} <= wrong
