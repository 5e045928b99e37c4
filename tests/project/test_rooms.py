"""The walls between the rooms of the package: `.ci/rooms` finds what breaks them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYERS = """
[[tool.importlinter.contracts]]
name = "data flows one way"
layers = ["doors", "engine : rewrites", "files", "faces"]
[[tool.importlinter.contracts]]
name = "the parts of the engine"
layers = ["passes", "terms"]
"""
FACE = """
from typing import TYPE_CHECKING
from onnx_scatterx.faces import face
if TYPE_CHECKING:
    from onnx_scatterx.files.reading import read as read
else:
    __getattr__, __dir__, __all__ = face(__name__, {"reading": "read"})
"""


def rooms(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / ".ci" / "rooms"), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_no_wall_is_broken() -> None:
    found = rooms(ROOT)
    assert (found.returncode, found.stderr) == (0, "")
    assert "engine.terms" in found.stdout


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("doors/main.py", "from onnx_scatterx.files import read", ""),
        ("doors/main.py", "from onnx_scatterx.files.reading import read", "not in the face"),
        ("doors/main.py", "def f():\n    from onnx_scatterx.files import other", "not in the face"),
        ("doors/main.py", "import onnx_scatterx.files.reading", "not in the face"),
        ("files/other.py", "from onnx_scatterx.doors import x", "an arrow runs back"),
        ("files/read.py", "", "the module read hides the name read"),
        ("files/__init__.py", FACE.replace('"read"', '"read more"'), "differ: more"),
        (
            "files/reading.py",
            "class read:\n" + "".join(f"    def f{i}(self): ...\n" for i in range(21)),
            "has 21 public methods",
        ),
    ],
)
def test_what_breaks_a_wall(tmp_path: Path, file: str, text: str, told: str) -> None:
    files = {
        "__init__.py": "",
        "doors/__init__.py": "",
        "doors/main.py": "from onnx_scatterx.files import read",
        "files/__init__.py": FACE,
        "files/reading.py": "def read(): ...",
        "engine/passes/__init__.py": "",
        file: text,
    }
    for name, content in files.items():
        path = tmp_path / "onnx_scatterx" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    (tmp_path / "rewrites").mkdir()
    (tmp_path / "pyproject.toml").write_text(LAYERS, encoding="utf-8")
    shutil.copy(ROOT / "onnx_scatterx" / "faces.py", tmp_path / "onnx_scatterx")
    found = rooms(tmp_path)
    assert told in found.stdout
    assert found.returncode == bool(told)


def test_a_face_of_too_many_names(tmp_path: Path) -> None:
    names = " ".join(f"name{i}" for i in range(26))
    package = tmp_path / "onnx_scatterx"
    (package / "files").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "files" / "__init__.py").write_text("")
    (package / "files" / "reading.py").write_text("")
    (package / "doors.py").write_text(f"from onnx_scatterx.files import {names.replace(' ', ', ')}")
    (tmp_path / "rewrites").mkdir()
    (tmp_path / "pyproject.toml").write_text(LAYERS, encoding="utf-8")
    assert "others use 26 names" not in rooms(tmp_path).stdout  # of files, 35 may be
    (package / "files").rename(package / "engine")
    (package / "engine" / "terms").mkdir()
    (package / "engine" / "terms" / "__init__.py").touch()
    (package / "engine" / "terms" / "more.py").touch()
    wanted = names.replace(" ", ", ")
    (package / "doors.py").write_text(f"from onnx_scatterx.engine.terms import {wanted}")
    assert "engine.terms: others use 26 names; at most 25 may be" in rooms(tmp_path).stdout
