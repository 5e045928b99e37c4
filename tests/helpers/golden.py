"""Golden texts: what tests print, kept in files that people read.

A file has a section for each test. `pytest --update-golden` writes the sections anew.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

_HEAD = "# What the tests of {} print. `pytest --update-golden` writes this file.\n"
_MARK = "\n== "


@dataclass(frozen=True)
class GoldenFile:
    """The sections of one file, which belong to the tests of one test file."""

    path: Path
    test_file: Path

    def sections(self) -> dict[str, str]:
        """Return the texts by the names of their tests."""
        if not self.path.exists():
            return {}
        _, *sections = self.path.read_text().split(_MARK)
        parts = (section.partition("\n") for section in sections)
        return {_test(title): text.strip("\n") for title, _, text in parts}

    def tests(self) -> list[str]:
        """Return the names of what has a section: tests that take `golden`, rows of `GOLDEN`."""
        found: list[str] = []
        for node in ast.parse(self.test_file.read_text()).body:
            match node:
                case ast.Assign(targets=[ast.Name("GOLDEN")], value=ast.Dict(keys=keys)):
                    found += [_test(ast.literal_eval(key)) for key in keys if key]
                case ast.FunctionDef(name=name) if name != "test_golden":
                    found += [name] if any(a.arg == "golden" for a in node.args.args) else []
        return found

    def update(self, test: str, text: str) -> None:
        """Write the section of a test, in the order of the tests; sections of no test go."""
        known = {**self.sections(), test: text}
        kept = [(name, known[name]) for name in self.tests() if name in known]
        head = _HEAD.format(self.test_file.name)
        content = head + "".join(f"{_MARK}{_title(name)}\n\n{text}\n" for name, text in kept)
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_text(content)


def _title(test: str) -> str:
    return test.removeprefix("test_").replace("_", " ")


def _test(title: str) -> str:
    return "test_" + title.replace(" ", "_")
