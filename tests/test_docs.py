"""The examples in the documentation run as printed, and its pictures are what draw makes."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "docs"
DOCS = sorted(FOLDER.glob("*.md"))


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    failures, _ = doctest.testfile(str(path), module_relative=False)
    assert not failures


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.stem)
def test_links(path: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (FOLDER / link).exists()] == []


def test_pictures() -> None:
    """Where one differs, ``python docs/drawings.py`` draws it anew; look at it."""
    spec = importlib.util.spec_from_file_location("drawings", FOLDER / "drawings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = list(module.drawings())
    assert {path for path, _ in drawn} == set((FOLDER / "drawings").glob("*.svg"))
    for path, picture in drawn:
        assert path.read_text(encoding="utf-8") == picture, path
