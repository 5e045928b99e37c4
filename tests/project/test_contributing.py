"""The recipes of CONTRIBUTING.md work as they are written, and their places exist."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.engine.analysis.operators import arithmetic
from onnx_scatterx.engine.analysis.transfers import TRANSFERS
from onnx_scatterx.engine.passes import settings
from onnx_scatterx.rewrites import RULES
from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.golden import GoldenFile
from tests.helpers.rules import Golden, Refuses

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w./]+)`(?: is then)?:\n\n```\w+\n(.*?)^```", PAGE, re.M | re.S)
FILES: dict[str, str] = dict(NAMED)
DIFFS: list[str] = re.findall(r"^```diff\n(.*?)^```", PAGE, re.M | re.S)


def code_of(name: str, **beside: Any) -> dict[str, Any]:
    """Return what a block of the page defines."""
    found: dict[str, Any] = {"__name__": Path(name).stem, **beside}
    exec(compile(FILES[name], name, "exec"), found)
    return found


def functions_of(found: dict[str, Any]) -> list[Callable[..., None]]:
    tests = [thing for name, thing in found.items() if name.startswith("test_")]
    assert len(tests) >= 3
    return tests


def test_a_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = code_of("rewrites/neutral.py")["NeutralRule"]()
    rules = [r for r in RULES if r.name != "neutral"]
    rules.insert([r.name for r in rules].index("constant_indices"), rule)
    monkeypatch.setattr(settings, "RULES", tuple(rules))
    path, golden = tmp_path / "test_neutral.py", tmp_path / "neutral.txt"
    path.write_text(FILES["tests/engine/rewrites/test_neutral.py"])
    golden.write_text(FILES["tests/engine/rewrites/golden/neutral.txt"])
    file = GoldenFile(golden, path)
    assert list(file.sections()) == file.tests()
    for test in functions_of(code_of("tests/engine/rewrites/test_neutral.py")):
        if "golden" in test.__annotations__:
            test(golden=Golden("neutral", file, test.__name__, update=False))
        else:
            test(refuses=Refuses("neutral"))


def test_an_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    beside = vars(arithmetic)
    given = code_of("onnx_scatterx/engine/analysis/operators/arithmetic.py", **beside)
    monkeypatch.setitem(TRANSFERS, "BitwiseNot", given["bitwise_not"])
    for test in functions_of(code_of("tests/engine/analysis/test_bitwise_not.py")):
        test()


def test_a_target(tmp_path: Path) -> None:
    path = tmp_path / "my_npu.toml"
    path.write_text(FILES["onnx_scatterx/targets/profiles/my_npu.toml"])
    target = target_of(path)
    assert target.operators is not None
    assert len(target.operators) > 40
    result = onnx_scatterx.optimize(ROOT / "models/letterbox_ts.onnx", target=target)
    assert (result.report.removed, result.report.violations) == (1, ())


def test_the_lines_around_a_change_are_there() -> None:
    places = ("rewrites/__init__.py", "onnx_scatterx/engine/analysis/transfers.py")
    for diff, place in zip(DIFFS, places, strict=True):
        lines = (ROOT / place).read_text(encoding="utf-8").splitlines()
        around = [line[1:] for line in diff.splitlines() if line.startswith(" ")]
        assert [line for line in around if line not in lines] == []


def test_the_row_of_the_table_is_one_of_the_page() -> None:
    (row,) = re.findall(r"^```markdown\n(.*)\n```", PAGE, re.M)
    page = (ROOT / "docs" / "rewrites.md").read_text(encoding="utf-8")
    assert row.count("|") == 4
    assert "| the write | becomes | rule |" in page


def test_the_commands_name_what_exists() -> None:
    words = re.findall(r"[\w./]+", " ".join(re.findall(r"^pytest .*", PAGE, re.M)))
    named = [word for word in words if word.startswith("tests/") and word not in FILES]
    assert len(named) > 3
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_names_are_in_the_files_that_the_page_says() -> None:
    """As "`_LIMITS` and `_LEAST` of [profile_checks.py](...)"."""
    told = r"((?:`\w+`(?:, | and )?)+)\s(?:of|in)\s\[[^]]+\]\(\.\./([\w./]+\.py)\)"
    found = re.findall(told, PAGE)
    named = [(name, path) for names, path in found for name in re.findall(r"`(\w+)`", names)]
    assert len(named) > 5
    for name, path in named:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^ *(def |class )?{name}\b", text, re.M), f"{name} is not in {path}"


def test_every_word_is_explained_once_in_order() -> None:
    table = PAGE.split("## Glossary\n")[1].split("\n## ")[0]
    words = re.findall(r"^\| ([\w, -]+) \|", table, re.M)[1:]
    assert words == sorted(set(words))
    assert len(words) > 25


def test_models_of_the_recipes_are_there() -> None:
    for name in set(re.findall(r"models/\w+\.onnx", PAGE)):
        onnx.checker.check_model(ROOT / name)
