"""The page for a reviewer: it is what its script makes, and what it names is there."""

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("paper", ROOT / "docs" / "theory" / "paper.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_script_makes(script: ModuleType) -> None:
    assert script.page() == (ROOT / "docs" / "theory" / "paper.md").read_text(encoding="utf-8")


def test_every_row_has_its_file_and_its_test(script: ModuleType) -> None:
    assert len(script.ROWS) == 30
    for _, row, there, path, test in script.ROWS:
        if there.startswith("no"):
            assert (path, test) == ("", "")
            continue
        assert (ROOT / "onnx_scatterx" / path).is_file(), row
        file, _, called = test.partition("::")
        function, _, case = called.removesuffix("]").partition("[")
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"^(def )?{function}\b", text, re.M), test
        assert re.search(rf'^    "{re.escape(case)}": (Case|row)\(', text, re.M) or not case, test


def test_every_claim_selects_tests(script: ModuleType) -> None:
    for claim, path, chosen in script.CLAIMS:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
        assert any(name.startswith("test_") and chosen in name for name in names), claim


def test_figures_and_versions_were_found(script: ModuleType) -> None:
    page = script.page()
    for name in script.MEASURED:
        assert f"]({name}): Date: " in page, name
    for name in script.FIGURES:
        after = page.split(f"]({name})")[1]
        assert after.split("\n\n")[1].startswith("- "), name
