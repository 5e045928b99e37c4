"""The pages of docs and the README: each block is run or read, and prints what stands there."""

import ast
import json
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.targets import target_of
from onnx_scatterx.text.reasons import Reason
from onnx_scatterx.text.recipes import RECIPES
from tests.helpers.documented import follow

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
USERS = [page for page in PAGES if page.parent.name not in ("theory", "measured")]
BLOCKS = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.M)
FAILS = {"quick_start": ["wrong.onnx"]}
# Blocks that a test of their own runs, beside those with prompts, of which test_docs.py runs all.
ELSEWHERE = {
    ("README.md", "python"): "project/test_readme.py",
    ("rewrites.md", "python"): "project/test_readme.py",
    ("before_onnx.md", "python"): "torch/test_torch.py",
    ("library.md", "cpp"): "project/test_docs.py",
    ("frameworks.md", "sh"): "theory/conventions/test_page.py",
    ("plug_in.md", "yaml"): "doors/cli/test_pull_request.py",
}


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the language and the text of each block, without those that have prompts."""
    found = BLOCKS.findall(page.read_text(encoding="utf-8"))
    return [(language, text) for language, text in found if not text.startswith(">>> ")]


def commands(page: Path) -> list[str]:
    text = "\n".join(text for language, text in blocks(page) if language == "sh")
    return [part.strip() for line in text.splitlines() if line for part in line.split("&&")]


WITH_COMMANDS = [p for p in PAGES if any(c.startswith("onnx-scatterx ") for c in commands(p))]


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a directory of its own, with the models where the pages have them."""
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)


@pytest.mark.sampled(3)
@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They print what stands below them; later commands use what earlier ones wrote."""
    run = list(follow(page.read_text(encoding="utf-8"), capsys.readouterr))
    failed = [arguments[3] for arguments, status, _ in run if status]
    assert failed == FAILS.get(page.stem, [])
    for arguments, status, _ in run:
        if "-o" in arguments and not status:
            output = Path(arguments[arguments.index("-o") + 1])
            for model in output.rglob("*.onnx") if output.is_dir() else (output,):
                onnx.checker.check_model(model, full_check=True)
        for report in (a for a in arguments if a.endswith(".html")):
            assert '<table class="chart">' in Path(report).read_text()


def test_the_pages_run_all_commands() -> None:
    found = {command.split()[1] for page in WITH_COMMANDS for command in commands(page)[:40]
             if command.startswith("onnx-scatterx ")}  # fmt: skip
    assert found >= {"bench", "check", "explain", "inspect", "optimize", "run", "target", "verify"}
    assert len(WITH_COMMANDS) >= 9


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_run(page: Path) -> None:
    """By this file, or by one that is named above; and no block has another language."""
    here = {"sh", "text", "toml", "json", "python"}
    for language, text in blocks(page):
        file = ELSEWHERE.get((page.name, language))
        assert language in here or file, f"{page.name} has a block of {language or 'no language'}"
        if file:
            assert (ROOT / "tests" / file).is_file()
        elif language == "python":
            assert page.stem in (*CODE, "quick_start"), f"{page.name}: {text}"
    if (page.name, "sh") not in ELSEWHERE:
        others = {c for c in commands(page) if not c.startswith("onnx-scatterx ")}
        in_ci = {"pip install .", 'pip install ".[test]"', "pytest"}  # .ci/readme
        assert others == (in_ci if page.name == "README.md" else set())
    kinds = [language for language, _ in blocks(page)]
    above = [kinds[i - 1] for i, kind in enumerate(kinds) if kind == "text"]
    assert set(above) <= {"sh"}, "output stands below a command"


class _Exporter:
    """Exports nothing: what a page gets from PyTorch, ultralytics or optimum is in models/."""

    onnx: Any
    nn = SimpleNamespace(Module=object)

    def __init__(self) -> None:
        self.onnx = self

    @staticmethod
    def export(*_: Any, format: str = "", **__: Any) -> Any:
        path = "models/letterbox_ts.onnx"
        if format:
            Path("exported").mkdir()
            onnx.save(onnx.load(path), "exported/model.onnx")
            return "exported/model.onnx"
        return SimpleNamespace(model=ir.load(path))


def _without_scatters(model: onnx.ModelProto) -> onnx.ModelProto:
    return onnx_scatterx.optimize(model, target="standard").model


CODE: dict[str, dict[str, Any]] = {
    "devices": {},
    "experts": {},
    "plug_in": {
        "onnx": onnx,
        "onnx_scatterx": onnx_scatterx,
        "without_scatters": _without_scatters,
        "pathlib": SimpleNamespace(Path=Path),
        "module": None,
        "inputs": (),
    },
}


@pytest.mark.parametrize("page", CODE)
def test_code_without_prompts(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs, with a file in place of what other packages export."""
    monkeypatch.setitem(__import__("sys").modules, "torch", _Exporter())
    names = dict(CODE[page])
    names |= {"torch": _Exporter(), "ultralytics": SimpleNamespace(YOLO=lambda _: _Exporter())}
    exporters = SimpleNamespace(onnx=SimpleNamespace(main_export=lambda *_, **__: None))
    names["optimum"] = SimpleNamespace(exporters=exporters)
    found = [text for kind, text in blocks(ROOT / "docs" / f"{page}.md") if kind == "python"]
    assert found
    for text in found:
        exec(compile(text, page, "exec"), names)
    assert all(
        not _scatters(path) for path in Path().glob("**/*.onnx") if path.parts[0] != "models"
    )


def _scatters(path: Path) -> list[str]:
    return [n.op_type for n in onnx.load(path).graph.node if n.op_type.startswith("Scatter")]


@pytest.mark.parametrize("page", USERS, ids=name_of)
def test_data(page: Path) -> None:
    """A profile is one, and JSON names what exists."""
    for language, text in blocks(page):
        if language == "toml":
            Path("profile.toml").write_text(text, encoding="utf-8")
            assert target_of("profile.toml").name == tomllib.loads(text)["name"]
        elif language == "json":
            for path in re.findall(r'"(onnx_scatterx\.[\w.]+)"', json.dumps(json.loads(text))):
                assert path.rpartition(".")[2] in (ROOT / "onnx_scatterx/olive.py").read_text()


@pytest.mark.parametrize("page", USERS, ids=name_of)
def test_a_page_for_users_is_short_and_says_for_whom_it_is(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert sum(not line.startswith("|") for line in lines) <= 250
    if page.name == "README.md":
        assert len(lines) <= 120
    elif page.name != "index.md":
        assert lines[2].startswith("This page is for "), lines[2]


def test_there_are_about_twenty_pages_for_users() -> None:
    words = sum(
        len(p.read_text(encoding="utf-8").split()) for p in PAGES if p.parent.name != "measured"
    )
    assert len(USERS) <= 25
    assert words <= 60000


LEGENDS = ("column | means |", "outcome | means |", "target | `--target` |")
PROVENANCE = re.compile(
    r"^\*Date: [^*]*?\. Version: [^*]*?\. Command:\s`[^*]*?\. Machine: [^*]*\*$", re.M
)


@pytest.mark.parametrize("page", sorted((ROOT / "docs/measured").glob("*.md")), ids=name_of)
def test_a_measured_table_says_its_origin(page: Path) -> None:
    """When, with which version, by which command, and on which machine; legends need none."""
    for section in re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.M):
        tables = re.findall(r"^\| (.*)\n\|[-:| ]+\n", section, re.M)
        if [head for head in tables if head not in LEGENDS] and page.stem != "index":
            assert PROVENANCE.search(section), section[:200]


def test_the_module_is_that_of_the_repository() -> None:
    text = (ROOT / "docs/quick_start.md").read_text(encoding="utf-8")
    (module,) = re.findall(r"^class Letterbox.*?return canvas\n", text, re.M | re.S)
    assert module in (ROOT / "models" / "sources.py").read_text(encoding="utf-8")


def test_what_to_write_in_the_module_is_what_is_printed() -> None:
    text = (ROOT / "docs/kept_scatters.md").read_text(encoding="utf-8")
    table = text.partition("| instead of | write |\n|---|---|\n")[2].partition("\n\n")[0]
    told = [
        re.findall(r"\| (.*?) \| (.*?) \|", row)[0] for row in table.replace("`", "").splitlines()
    ]
    assert told == [(each.instead_of, each.write) for each in RECIPES.values()]


def test_no_page_is_named_where_there_may_be_no_clone() -> None:
    """An installed package has no pages: no text of it that may be printed names one."""
    named = []
    for path in (ROOT / "onnx_scatterx").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        alone = {
            id(node.value)
            for body in (getattr(n, "body", []) for n in ast.walk(tree))
            for node in (body if isinstance(body, list) else [])
            if isinstance(node, ast.Expr)
        }
        texts = (n for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in alone)
        named += [f"{path}: {n.value!r}" for n in texts if "docs/" in str(n.value)]
    assert named == []


def test_every_reason_is_there() -> None:
    """In a row of a table, or at the head of its section."""
    text = (ROOT / "docs/kept_scatters.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \|", text, re.M)
    quoted = re.findall(r"\n\n    ([a-z].*)\n\n", text)
    reasons = {reason.value for reason in Reason}
    assert reasons - {*rows, *quoted} == set()
    assert len(quoted) > 4
    assert set(quoted) - reasons == {"the target qnn wants all sizes as numbers"}
