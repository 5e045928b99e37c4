"""The pages that lead from PyTorch to a chip: their commands work, and print what stands there."""

import re
from pathlib import Path

import pytest

from onnx_scatterx.text.reasons import Reason
from tests.helpers.documented import follow

ROOT = Path(__file__).parents[2]
PAGES = ("kept_scatters", "quick_start")
TEXT = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in PAGES}


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a directory of its own, with the models where the pages have them."""
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    """They print what stands below them; all succeed but one."""
    done = list(follow(TEXT[page], capsys.readouterr))
    failed = [arguments[3] for arguments, status, _ in done if status]
    assert len(done) >= 3
    assert failed == (["wrong.onnx"] if page == "quick_start" else [])


def test_the_module_is_that_of_the_repository() -> None:
    (module,) = re.findall(r"^class Letterbox.*?return canvas\n", TEXT["quick_start"], re.M | re.S)
    assert module in (ROOT / "models" / "sources.py").read_text(encoding="utf-8")


def test_every_reason_is_there() -> None:
    """In a row of a table, or at the head of its section."""
    rows = re.findall(r"^\| (.*?) \|", TEXT["kept_scatters"], re.M)
    quoted = re.findall(r"\n\n    ([a-z].*)\n\n", TEXT["kept_scatters"])
    reasons = {reason.value for reason in Reason}
    assert reasons - {*rows, *quoted} == set()
    assert len(quoted) > 4
    assert set(quoted) - reasons == {"the target qnn wants all sizes as numbers"}
