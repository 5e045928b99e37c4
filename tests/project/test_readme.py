"""The README does what it says: its Python and its commands run, its numbers and links hold."""

import re
import tomllib
from pathlib import Path

import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.rewrites import RULES

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REWRITES = (ROOT / "docs" / "rewrites.md").read_text(encoding="utf-8")
COMMAND_LINE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n((?!>>>).*?)^```", README + REWRITES, re.M | re.S)
SHELL = re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S)
LINES = [line for block in SHELL for line in block.splitlines()]
COMMANDS = [part.strip() for line in LINES for part in line.split("&&")]


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a directory of its own, with the models where the README has them."""
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.split("\n")[0])
def test_python(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.strip()


def test_there_is_python() -> None:
    assert len(PYTHON) == 2
    assert len(PYTHON[0].strip().splitlines()) <= 12
    assert "from onnx_scatterx import Reason, Refusal" in PYTHON[1]


def test_the_first_screen() -> None:
    """A picture with a caption, a command for a chip, one for ONNX Runtime, and known models."""
    start, models = README.split("\n## Known models")
    assert re.search(r"!\[.+\]\(docs/drawings/before_after.svg\)\n\n\*.+\*$", start, re.M | re.S)
    chip = r"^pip install \. && onnx-scatterx optimize .* --target qnn .*--verify --strict$"
    assert len(re.findall(chip, start, re.M)) == 1
    told = "Each rewrite follows by a proof from the model alone; `--verify` also runs both models"
    assert told in " ".join(start.split("\n## For ONNX Runtime")[0].split())
    assert re.findall(r"^onnx-scatterx (\w+) .* --verify$", start, re.M) == ["optimize"]
    assert len(re.findall(r"^```text$", start, re.M)) == 2
    assert len(re.findall(r"^\| \[", models, re.M)) == 5


KNOWN = {
    "YOLOX": "yolox_640, ts, dynamic",
    "Deformable": "deformable_detr_r50, dynamo",
    "Swin": "swin_tiny, ts",
    "MViTv2": "mvitv2_base, ts",
    "Segment": "sam_vit_base, dynamo",
    "Longformer": "longformer_4096, ts, dynamic",
    "T5": "t5_base, dynamo",
    "Whisper": "whisper_small, dynamo",
    "Qwen2": "qwen2_500m_caches, dynamo",
    "TAPAS": "tapas_base, dynamo",
}


def test_the_known_models_are_those_of_the_page() -> None:
    """Their scatters, and about their seconds, which a new measurement changes; three numbers."""
    page = (ROOT / "docs" / "measured" / "real_sizes.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| (.*) \|$", page, re.M))
    table = README.split("\n## Known models")[1].split("\n## ")[0].replace("**", "")
    told = [row.split(" | ") for row in re.findall(r"^\| (\w.*) \|$", table, re.M)[1:]]
    assert [row[0].split()[0].strip(",") for row in told] == list(KNOWN)
    counts = r"of (\d+) scatters in (\d+) files of (\d+) exports, (\d+) are left"
    ((before, files, exports, after),) = re.findall(counts, " ".join(README.split()))
    assert f"\n- {files} files are optimized, of {exports} exports\n" in page
    assert f"\n- {before} scatters before, {after} after\n" in page
    kernel, proofs = (
        (ROOT / "docs" / "measured" / f"{name}.md").read_text(encoding="utf-8")
        for name in ("kernel_benchmark", "proof")
    )
    assert "158 measurements, all: geometric mean of the ratios 3.05\n" in kernel
    assert "3.05 times as fast" in README
    assert "\n| standard | 302 | 284 (" in proofs
    assert "of 302 models" in README
    assert "284 are proven" in README
    for (_, before, *left, seconds), name in zip(told, KNOWN.values(), strict=True):
        _, scatters, _, times, _, runs = rows[name].split(" | ")
        plain, *others = [cell.split(" → ") for cell in scatters.split(" / ")]
        assert [before, *left] == [*plain, *(cell[0] for cell in others)], name
        assert 0.3 < float(seconds) / float(times.split(" / ")[0]) < 3, name
        assert runs.startswith("equal"), name


def test_the_two_commands_install_what_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "pip install ." in COMMANDS
    assert 'pip install ".[test]"' in COMMANDS
    assert {"test", "dev"} <= set(project["optional-dependencies"])
    assert project["scripts"]["onnx-scatterx"] == "onnx_scatterx.doors.cli.supervised:run"
    assert [c for c in COMMANDS if not c.startswith(("onnx-scatterx ", "pip "))] == ["pytest"]


def test_ci_runs_both_first() -> None:
    """As they stand here: lines that begin with an installation."""
    assert len([line for line in LINES if line.startswith("pip install ")]) == 2
    script = (ROOT / ".ci" / "run").read_text()
    commands = [line for line in script.splitlines() if not line.startswith(("#", "set ", "cd "))]
    first = next(line for line in commands if re.match(r"\.ci/|pip |pytest|python3? -m pip", line))
    assert first == ".ci/readme"


def test_the_picture() -> None:
    """It shows the rewritten nodes of a model: kept nodes are left out on both sides."""
    report = onnx_scatterx.inspect("models/refine_centres_dynamo.onnx", target="standard")
    title = (ROOT / "docs/drawings/before_after.svg").read_text(encoding="utf-8").split("title>")[1]
    numbers = [int(number) for number in re.findall(r"(\d+) nodes", title)]
    assert numbers == [9, 2]
    assert report.nodes_before - report.nodes_after == 9 - 2
    assert "boxes[..., :2] += reference" in README


def test_every_option_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    sections = [part for part in COMMAND_LINE.split("\n## ")[1:] if not part.startswith("The ")]
    assert main(["--help"]) == 0
    commands = capsys.readouterr().out.split("\ncommands:\n")[1].split("\n\n")[0]
    listed = re.findall(r"^  ([a-z]+)  ", commands, re.M)
    assert sorted(section.split()[0] for section in sections) == sorted(listed)
    for section in sections:
        assert main([section.split()[0], "--help", "all"]) == 0
        options = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) - {"--help", "--output"}
        rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
        told = {option for row in rows for option in re.findall(r"--[a-z-]+", row)}
        assert options == told - {"--output"}, section


def test_links_and_rules() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).exists()] == []
    told = set(re.findall(r"\[(\w+)\]\(../rewrites/", REWRITES))
    assert {r.name for r in RULES} - told == set(), "the table of docs/rewrites.md lacks a rule"
    assert told - {r.name for r in RULES} == set()


def test_it_leads_everywhere() -> None:
    """To every page, at the most by way of another page; one leads to every folder of code."""
    inside = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "onnx_scatterx").glob("*/__init__.py")}
    assert [f for f in folders - {"rewrites"} if f"(../onnx_scatterx/{f})" not in inside] == []
    docs = ROOT / "docs"
    pages = {path: path.read_text(encoding="utf-8") for path in docs.rglob("*.md")}
    linked = {ROOT / name for name in re.findall(r"\]\((docs/[\w/]+\.md)", README)}
    for page in [*linked, docs / "theory" / "index.md", docs / "measured" / "index.md"]:
        linked |= {page.parent / name for name in re.findall(r"\]\(([\w/]+\.md)\)", pages[page])}
    assert linked == set(pages)
