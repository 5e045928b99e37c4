"""The page of questions about the code: each answer is a file, and a name that it defines."""

import ast
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
ROWS = re.findall(
    r"^\| (.*\?.*) \| \[(.*)\]\((.*)\) \| `(.*)` \|$", (DOCS / "where.md").read_text(), re.M
)


def defined(body: list[ast.stmt], name: str) -> bool:
    """Return whether a module or a class defines a name, such as ``Facts.is_nonnegative``."""
    first, _, rest = name.partition(".")
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == first:
            return not rest or (isinstance(node, ast.ClassDef) and defined(node.body, rest))
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return True  # a list for others
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(target, ast.Name) and target.id == first for target in targets):
            return True
    return False


@pytest.mark.parametrize(("question", "shown", "path", "name"), ROWS, ids=[r[3] for r in ROWS])
def test_an_answer_is_there(question: str, shown: str, path: str, name: str) -> None:
    assert path.endswith(shown.replace("\\", "")), question
    tree = ast.parse((DOCS / path).read_text(encoding="utf-8"))
    assert defined(tree.body, name), f"{path} does not define {name}"


def test_the_page_has_its_questions() -> None:
    text = (DOCS / "where.md").read_text(encoding="utf-8")
    assert len(ROWS) == text.count("\n| ") - 1 >= 30
    assert len({name for *_, name in ROWS}) == len(ROWS)
