"""The examples in the documentation run as printed."""

import doctest
from pathlib import Path

import pytest

DOCS = sorted((Path(__file__).parent.parent / "docs").glob("*.md"))


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    failures, _ = doctest.testfile(str(path), module_relative=False)
    assert not failures
