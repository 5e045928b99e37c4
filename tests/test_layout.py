"""The project as a whole: its folders, its imports, and what its files must not say."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import onnx_scatterx

ROOT = Path(__file__).parents[1]
TEXT = {".py", ".md", ".toml", ".cpp", ".h", ".hpp", ".cc", ".txt", ".yml", ".yaml", ".svg", ""}
# Homes, and directories that only some machine has.
PATH = re.compile(r"(?<![\w.])/(?:home|root|Users|work|mnt)/\w")


def texts() -> Iterator[Path]:
    for top in ROOT.iterdir():
        if (top.name.startswith(".") and top.name != ".ci") or top.name in ("build", "dist"):
            continue
        for path in [top] if top.is_file() else sorted(top.rglob("*")):
            if path.is_file() and path.suffix in TEXT and "__pycache__" not in path.parts:
                yield path


def test_the_rules_are_a_folder_of_the_package() -> None:
    link = ROOT / "onnx_scatterx" / "rewrites"
    assert link.is_dir()
    assert link.samefile(ROOT / "rewrites")


def test_import_is_light() -> None:
    program = "import sys, onnx_scatterx; print(*{m.split('.')[0] for m in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    modules = set(done.stdout.split())
    assert "onnx_scatterx" in modules
    heavy = {"torch", "onnx", "onnx_ir", "onnxruntime", "onnxscript", "numpy", "rich", "cupy"}
    assert not modules & heavy


@pytest.mark.parametrize("name", onnx_scatterx.__all__)
def test_public_names(name: str) -> None:
    found = getattr(onnx_scatterx, name)
    assert found.__doc__
    assert found.__name__ == name


def test_a_function_is_not_hidden_by_its_module() -> None:
    program = (
        "import onnx_scatterx.reports.explanation, onnx_scatterx.api, onnx_scatterx.verification\n"
        "import onnx_scatterx as sx\n"
        "print(*(callable(f) for f in (sx.explain, sx.inspect, sx.optimize, sx.verify)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True"] * 4


def test_no_file_names_a_path_of_a_machine() -> None:
    found = list(texts())
    assert ROOT / "README.md" in found
    assert ROOT / "onnx_scatterx" / "api.py" in found
    assert PATH.search("see " + "/home" + "/somebody/x")
    assert [p for p in found if PATH.search(p.read_text(encoding="utf-8", errors="ignore"))] == []
