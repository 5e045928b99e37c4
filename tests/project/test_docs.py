"""The examples in the documentation run as printed, and its pictures are what picture makes."""

import doctest
import importlib.util
import re
import tomllib
from pathlib import Path

import onnxruntime as ort
import pytest

import onnx_scatterx
from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols
from onnx_scatterx.pipeline.order import PIPELINE
from onnx_scatterx.targets.profile_checks import PROFILE_KEYS
from tests.helpers.pair import open_session
from tests.helpers.support import parse

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs"
DOCS = sorted(FOLDER.rglob("*.md"))
FOLDERS = (".", ".github", ".github/ISSUE_TEMPLATE", "benchmarks", "custom_ops", "models")
PAGES = [*DOCS, *(page for name in FOLDERS for page in sorted((ROOT / name).glob("*.md")))]
CODE = re.compile(r"^```.*?^```$", re.M | re.S)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_examples(path: Path) -> None:
    with fresh_symbols():  # the order of terms does not depend on other tests
        failures, _ = doctest.testfile(str(path), module_relative=False)
    assert not failures


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links(path: Path) -> None:
    """The files that a page links exist, and the headings in them."""
    text = CODE.sub("", path.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#:]+)[)#]", text)
    assert [link for link in links if not (path.parent / link).exists()] == []
    anchors = re.findall(r"\]\(((?:[^)#:]+\.md)?)#([^)]+)\)", text)
    assert [(p, a) for p, a in anchors if a not in headings(path.parent / p if p else path)] == []


def headings(page: Path) -> set[str]:
    """Return the anchors of the headings of a page."""
    lines = re.findall(r"^#+ (.*)", CODE.sub("", page.read_text(encoding="utf-8")), re.M)
    shown = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line).strip().lower() for line in lines]
    return {re.sub(r"[^\w -]", "", line).replace(" ", "-") for line in shown}


def test_the_site_has_every_page() -> None:
    """Once, and the index of its folder leads to it."""
    names = {str(path.relative_to(FOLDER)) for path in DOCS}
    configuration = (ROOT / ".ci" / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"- ([\w/]+\.md)$", configuration, re.M)
    assert sorted(listed) == sorted(names)
    found = set()
    for index in FOLDER.rglob("index.md"):
        linked = re.findall(r"\]\(([\w/]+\.md)\)", index.read_text(encoding="utf-8"))
        found |= {str((index.parent / name).relative_to(FOLDER)) for name in linked}
    assert found == names - {"index.md"}


def first_column(page: str, heading: str) -> list[str]:
    """Return the names in the first column of the table under a heading."""
    text = (FOLDER / page).read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    cells = re.findall(r"^\| (\[?`.*?) \|", text.split("\n## ")[0], re.M)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


def test_the_architecture_is_that_of_the_code() -> None:
    """The passes, and the layers of the import contracts."""
    assert first_column("architecture.md", "The pipeline") == [step.name for step in PIPELINE]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {c["name"]: c for c in project["tool"]["importlinter"]["contracts"]}
    layers = [
        *contracts["data flows one way"]["layers"],
        *contracts["the parts of the engine"]["layers"],
    ]
    named = [name for layer in layers for name in re.findall(r"\w+", layer)]
    told = first_column("architecture.md", "The layers")
    assert sorted(set(told)) == sorted(set(named) - {"__main__"})


def test_what_is_stable_has_all_keys_of_a_profile() -> None:
    assert sorted(first_column("stability.md", "The keys of a profile")) == sorted(PROFILE_KEYS)


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


def test_the_cpp_example_is_the_program() -> None:
    """What the page shows is what CI compiles and runs, but for the names of the files."""
    page, program = ((FOLDER / f"library.{end}").read_text() for end in ("md", "cc"))
    (shown,) = re.findall(r"```cpp\n(.*?)```", page, re.S)
    shown = shown.replace('"/path/to/scatterx_ops.so"', "words[2]").replace(
        '"model.onnx"', "words[1]"
    )
    lines = [line.strip() for line in program.splitlines()]
    start = lines.index(shown.splitlines()[0])
    assert lines[start : start + 4] == shown.splitlines()


def test_what_happens_without_the_library() -> None:
    """The messages that the page quotes are those that come."""
    page = (FOLDER / "library.md").read_text()
    text = """g (float[5, 4] x, int64[N, 1] i, float[N, 4] y) => (float[5, 4] z)
              { z = ScatterND(x, i, y) }"""
    model = onnx_scatterx.optimize(parse(text)).model
    del model.functions[:]
    fail = ort.capi.onnxruntime_pybind11_state.Fail
    quoted = ["onnx_scatterx:ScatterX(-1) is not a registered function/op"]
    quoted.append("cannot open shared object file")
    assert all(words in page for words in quoted)
    with pytest.raises(fail, match=re.escape(quoted[0])):
        open_session(model)
    with pytest.raises(fail, match=quoted[1]):
        ort.SessionOptions().register_custom_ops_library("/no.so")
