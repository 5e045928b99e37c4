"""The table of toolchains is the one that the stored results make; no toolchain is needed here."""

import json
import sys
from pathlib import Path

# The scripts are no package, and need PyTorch in part: mypy reads none of them.
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import toolchain_page  # type: ignore[import-not-found]
import toolchains  # type: ignore[import-not-found]
from toolchain_page import GRADES, cell, grade, row, size

RESULTS = toolchains.known()
BEFORE = {"partitions": 2, "taken": 5, "left": {"copy": 1, "slice_scatter": 2}, "apart": 1e-7}
AFTER = {"partitions": 1, "taken": 9, "left": {}, "apart": 2e-7}
REFUSED = {"refused": "RuntimeError: no step"}


def test_the_page_is_what_the_results_make() -> None:
    """Where it differs, ``python benchmarks/toolchains.py --page`` writes it."""
    _, _, shown = toolchain_page.PAGE.read_text(encoding="utf-8").partition(toolchain_page.BEGINS)
    assert shown == "\n" + "\n".join(toolchain_page.page(RESULTS)).rstrip() + "\n"
    assert json.loads(toolchains.written(RESULTS)) == RESULTS


def test_every_toolchain_has_every_module_or_says_why_not() -> None:
    assert list(toolchains.PACKAGES) == list(toolchain_page.TOOLS) == list(RESULTS)
    assert len(toolchain_page.modules()) == 12
    assert sum(len(found.get("modules", {})) for found in RESULTS.values()) >= 40
    for tool, found in RESULTS.items():
        results = found.get("modules", {})
        assert results or found["not_tried"]
        assert {*results} <= {*toolchain_page.modules()}
        for result in results.values():
            was_right = toolchain_page.agrees(tool, result["before"])  # int8 may be wrong in both
            assert toolchain_page.agrees(tool, result["after"]) or not was_right
            assert grade(result["before"], result["after"]) != GRADES[5], (tool, result)


def test_grades() -> None:
    assert size(BEFORE) > size(AFTER)
    pairs = ((REFUSED, AFTER), (BEFORE, AFTER), (AFTER, AFTER), (AFTER, BEFORE))
    assert [grade(*pair) for pair in (*pairs, (REFUSED, REFUSED), (AFTER, REFUSED))] == [*GRADES]
    fewer = AFTER | {"partitions": 3}
    assert grade(fewer, AFTER) == "better"
    assert [cell(found) for found in (BEFORE, REFUSED, {"nodes": 7})] == [
        "2 / 5 / 3",
        "refused",
        "7",
    ]
    assert row("tosa", {"before": BEFORE, "after": AFTER}) == "2 / 5 / 3 → **1 / 9 / 0**"
    wrong = AFTER | {"apart": 1.0}
    assert row("tosa", {"before": BEFORE, "after": wrong}).endswith("** (wrong)")


def test_why_something_does_not_install() -> None:
    told = "error: x\n  The installation of y for version 1 failed.\nerror: metadata failed\n"
    assert toolchains.installing(told) == "The installation of y for version 1 failed."
    assert (
        toolchains.installing("ERROR: No matching distribution")
        == "ERROR: No matching distribution"
    )
    assert toolchains.installing("") == "no message"
