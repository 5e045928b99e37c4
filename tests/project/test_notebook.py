"""The notebook of the pages runs, and shows what is kept in it.

``pytest tests/project/test_notebook.py --update-golden`` keeps what it shows now. What a cell with
the tag "times" shows differs from run to run: it only has to show something.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ipykernel", reason="ipykernel is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "docs" / "notebook.ipynb"
EPOCH = "1704067200"
# The version, sizes that other versions of onnx may write, and what keeps the ids of reports apart.
CHANGES = re.compile(
    r"onnx-scatterx [\w.+]+|\(\d+ % (?:more|less)\)|[\d.]+ (?:bytes?|kB)\b|\bx[0-9a-f]{10}-"
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of the kernel's client, about event loops
]


def shown(cell: Any) -> list[dict[str, str]]:
    """Return what a cell shows, by media type."""
    found = []
    for output in cell.get("outputs", ()):
        assert output.output_type == "execute_result", output
        found.append({kind: _text(text) for kind, text in output.data.items()})
    return found


def _text(text: Any) -> str:
    return CHANGES.sub("", text if isinstance(text, str) else "".join(text))


@pytest.mark.full
def test_it_runs_and_shows_what_it_did(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", EPOCH)
    kept = nbformat.read(NOTEBOOK, as_version=4)
    ran = nbformat.read(NOTEBOOK, as_version=4)
    resources = {"metadata": {"path": os.fspath(NOTEBOOK.parent)}}  # where Jupyter opens it
    nbclient.NotebookClient(ran, timeout=300, kernel_name="python3", resources=resources).execute()
    kinds = {kind for cell in ran.cells for data in shown(cell) for kind in data}
    assert kinds == {"text/plain", "text/html", "image/svg+xml"}
    if request.config.getoption("--update-golden"):
        for cell in ran.cells:
            cell.metadata.pop("execution", None)  # when it began and ended
        nbformat.write(ran, NOTEBOOK)
        return
    for old, new in zip(kept.cells, ran.cells, strict=True):
        if "times" in new.metadata.get("tags", ()):
            assert [data.keys() for data in shown(new)] == [data.keys() for data in shown(old)]
        else:
            was, now = (
                [{k: v for k, v in d.items() if k != "text/plain" or len(d) == 1} for d in shown(c)]
                for c in (old, new)
            )
            assert now == was


def test_the_first_cell_finds_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    for folder in ROOT, NOTEBOOK.parent:
        monkeypatch.chdir(folder)
        exec(compile(first, "notebook", "exec"), {})
        assert Path.cwd() == ROOT
