"""The scripts of benchmarks: README.md says who reads what each makes, and no file is left over."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "benchmarks"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = [row for row in README.splitlines() if row.startswith("| [")]
SCRIPTS = [name for row in ROWS for name in re.findall(r"\]\(([\w/]+\.py)\)", row.split(" | ")[0])]
CODE = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py")}


def test_every_file_is_named() -> None:
    named = set(re.findall(r"`([\w*.]+)`|\]\((\w+)", README))
    starts = tuple(a.removesuffix("*") for a, _ in named if a.endswith("*"))
    whole = {name.split(".")[0] for pair in named for name in pair}
    found = [p.name for p in FOLDER.iterdir() if p.name not in ("README.md", "__pycache__")]
    assert len(found) > 30
    assert [n for n in found if n.split(".")[0] not in whole and not n.startswith(starts)] == []


def test_a_page_names_the_script_that_makes_its_figures() -> None:
    assert len(ROWS) > 10
    for row in ROWS:
        script, made, _ = row.split(" | ")
        commands = re.findall(r"`(just \w+)`", made)
        commands += [f"benchmarks/{name}" for name in re.findall(r"\((\w+\.py)\)", script)]
        for page in re.findall(r"\]\(\.\./docs/([\w/]+\.md)\)", made):
            text = (ROOT / "docs" / page).read_text(encoding="utf-8")
            assert any(command in text for command in commands), row


def test_what_is_no_script_is_read_by_one() -> None:
    """Modules are imported, and data are opened, by a file of the folder."""
    left = []
    for path in FOLDER.rglob("*.*"):
        others = "\n".join(text for name, text in CODE.items() if name != path.name)
        if path.suffix in (".json", ".txt", ".toml", ".cc"):
            if path.name not in others:
                left.append(path.name)
        elif path.suffix == ".py" and path.relative_to(FOLDER).as_posix() not in SCRIPTS:
            imported = rf"\b(from|import) (benchmarks\.(\w+\.)?)?{path.stem}\b|\"{path.stem}\""
            if path.stem != "__init__" and not re.search(imported, others):
                left.append(path.name)
    assert left == []
