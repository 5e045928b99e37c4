"""The page of many models: a table of all, and the report of each, folded."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from tests.helpers.html import Page
from tests.helpers.many_scatters import many_scatters

pytestmark = pytest.mark.sampled(2)

NOON = datetime(2024, 2, 29, 12, 30, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    models = tmp_path / "models"
    (models / "below").mkdir(parents=True)
    onnx.save(many_scatters(1), models / "all.onnx")
    onnx.save(many_scatters(2), models / "below" / "some.onnx")
    onnx.save(many_scatters(0), models / "none.onnx")
    (models / "broken.onnx").write_bytes(b"no model")
    return models


def test_every_model_is_on_the_page(folder: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as threads:
        summary = onnx_scatterx.optimize_many(
            folder, tmp_path / "out", executor=threads, verify={"samples": 2}
        )
    page = Page(summary.to_html("my models", date=NOON))
    page.check()
    assert "my models" in page.said
    assert summary.summary().replace("`", "") in page.said
    ids = [name for name in page.ids if name[0] == "m" and name[1:].isdecimal()]
    names = [str(o.source.relative_to(folder)) for o in summary.outcomes]
    assert sorted(ids) == [f"m{i}" for i in range(4)]
    # What failed comes first, then ScatterX, then what is removed, then what has no scatter.
    assert [names[int(name[1:])] for name in ids] == [
        *("broken.onnx", os.path.join("below", "some.onnx"), "all.onnx", "none.onnx")
    ]
    for name in names:
        assert name in page.said
    assert "on 2 inputs and are the same" in page.said
    assert page.text.count('class="card ') == 3
    assert "12:30 UTC" in page.said


def test_on_the_command_line(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "broken.onnx").unlink()
    place = tmp_path / "r.html"
    arguments = ["optimize", str(folder), "-o", str(tmp_path / "out"), "--jobs", "1"]
    coreml = ["--target", "coreml"]
    assert main([*arguments, *coreml, "-q", "--report", str(place)]) == 0
    assert capsys.readouterr() == ("", "")
    page = Page(place.read_text(encoding="utf-8"))
    page.check()
    assert page.said.startswith("models: onnx-scatterx What became of 3 models models ")
    said = page.said.split("What would remove it", 1)[1]
    assert "OUT.onnx --target 'coreml, add" in said  # other options were tried
    assert main([*arguments, "-q", "--report", str(folder / "r.html")]) == 0
