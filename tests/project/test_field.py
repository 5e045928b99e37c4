"""The page of threads is the one that the stored results make; no PyTorch is needed here."""

import json
import re
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnx_scatterx.targets.catalogue import target_of
from tests.helpers.support import parse

# The scripts are no package, and need PyTorch in part: mypy reads none of them.
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import field  # type: ignore[import-not-found]
import field_page  # type: ignore[import-not-found]
from field_graphs import GRAPHS  # type: ignore[import-not-found]
from field_inputs import STYLES, drawn, draws  # type: ignore[import-not-found]

ROOT = field_page.ROOT
THREADS = field_page.threads()
RESULTS = json.loads(field_page.RESULTS.read_text(encoding="utf-8"))
SOURCES = "".join(
    (ROOT / "benchmarks" / f"{module}.py").read_text(encoding="utf-8") for module in field.MODULES
)


def test_the_page_is_what_the_results_make() -> None:
    """Where it differs, ``python benchmarks/field.py --page`` writes it."""
    _, _, shown = field_page.PAGE.read_text(encoding="utf-8").partition(field_page.BEGINS)
    assert shown == f"\n{field_page.page(RESULTS)}"


def test_the_page_for_users_has_the_same_totals() -> None:
    """How many threads are solved, and which are not."""
    text = (ROOT / "docs" / "threads.md").read_text(encoding="utf-8")
    graded = {
        t.name: field_page.grade(RESULTS["cases"][t.case.key], field_page.first_command(t.case))
        for t in THREADS
    }
    for grade, count in Counter(graded.values()).items():
        assert re.search(rf"^\| {grade}: .* \| {count} \|$", text, re.M), grade
    section = text.split("## What is not solved")[1]
    named = set(re.findall(r"\[([\w/-]+#\d+)\]", section))
    assert named == {name for name, grade in graded.items() if grade == "not solved"}


def test_there_are_enough_threads_and_none_twice() -> None:
    page = field_page.PAGE.read_text(encoding="utf-8")
    table = page.split("## The threads\n")[1].split("\n## ")[0]
    assert len(THREADS) >= 100
    assert max(Counter(thread.name for thread in THREADS).values()) == 1
    assert max(Counter(thread.link for thread in THREADS).values()) == 1
    assert all(table.count(f"{thread.link} |") == 1 for thread in THREADS)


@pytest.mark.parametrize("thread", THREADS, ids=lambda thread: thread.name)
def test_each_thread_has_a_pattern_and_a_result(thread: Any) -> None:
    case = thread.case
    assert thread.words
    assert (case.exporter == "graph") == (case.pattern in GRAPHS)
    assert case.pattern in GRAPHS or f"class {case.pattern}(nn.Module):" in SOURCES
    target_of(str(ROOT / field_page.TARGETS[case.target]) if "/" in field_page.TARGETS[case.target]
              else field_page.TARGETS[case.target])  # fmt: skip
    found = RESULTS["cases"][case.key]
    told = shlex.split(found["command"])
    first = shlex.split(field_page.first_command(case))
    assert all(word.startswith(start) for word, start in zip(told, first, strict=False))
    assert found["ran"] > found["refused"]
    assert found["off"] == 0
    assert found["default"] <= field.LARGEST
    assert set(found["kept"]) or not any(kind != "ScatterX" for kind in found["after"])


def test_no_result_is_left_over() -> None:
    assert set(RESULTS["cases"]) == {thread.case.key for thread in THREADS}


def test_a_difference_is_found(tmp_path: Path) -> None:
    """In the second model the write is at another row."""
    text = """g (float[4, 3] x, int64[2, 1] i, float[2, 3] u) => (float[4, 3] y)
              { y = ScatterND (x, i, u) }"""
    wrong = text.replace("{ y", "{ one = Constant <value_int = 1> ()  j = Sub (i, one)  y")
    wrong = wrong.replace("(x, i, u) }", "(x, j, u) }")
    inputs = {"x": "float 4 3", "i": "unique 0:4 2 1", "u": "float 2 3"}
    for name, graph in (("in", text), ("out", wrong)):
        onnx.save(parse(graph), tmp_path / f"{name}.onnx")
    found = field.compare(tmp_path, draws(inputs, (), fixed=True))
    assert found["default"] > 0.1
    assert found["off"] > 0.1
    onnx.save(parse(text), tmp_path / "out.onnx")
    found = field.compare(tmp_path, draws(inputs, (), fixed=True))
    assert (found["ran"], found["off"]) == (2 * len(STYLES), 0)


def test_inputs_are_at_the_borders() -> None:
    rng = np.random.default_rng(0)
    assert not drawn("mask 2 3", "low", {}, rng).any()
    assert drawn("mask 2 3", "high", {}, rng).all()
    assert drawn("index 0:8 5", "high", {}, rng).tolist() == [7] * 5
    assert (drawn("index 0:8 50", "negative", {}, rng) < 0).all()
    assert drawn("index 0:n 5", "high", {"n": 3}, rng).max() == 2
    assert len(set(drawn("unique 0:8 8", "some", {}, rng).tolist())) == 8
    assert drawn("cells 2:3 6", "low", {}, rng).tolist() == [
        [i, j] for i in (0, 1) for j in range(3)
    ]
    sizes = {feed["x"].shape[0] for feed in draws({"x": "float n=4 2"}, ("n <= 5",), fixed=False)}
    assert sizes == {1, 4, 5}


@pytest.mark.parametrize(
    ("options", "runs"),
    [
        ("--target 'qnn, dense = true, dense_limit = inf'", True),
        ("--target 'qnn, add = [\"CumSum\"]'", False),
        ("--target tvm", False),
        ("--target qnn --assume 'i: nonnegative'", True),
        ("--target qnn --assume 'i: nonnegative, unique'", False),
    ],
)
def test_only_what_a_thread_allows_is_run(options: str, runs: bool) -> None:
    case = field_page.Case("Any", "graph", 18, "qnn")
    field_page.TARGETS["qnn"] = "qnn"
    command = f"onnx-scatterx optimize in.onnx -o out.onnx {options}"
    inputs = {"i": "index 0:8 n=5"}
    assert bool(field.allowed(command, case, inputs, ("i: nonnegative",))) == runs
    sized = field.allowed(f"{command} --fix n=64 --fix i:7", case, inputs, ("i: nonnegative",))
    assert sized.endswith("--fix n=5 --fix i:5" if runs else "")


def test_the_grades() -> None:
    first = "onnx-scatterx optimize in.onnx -o out.onnx"
    found = {"before": {"ScatterND": 1}, "after": {}, "lacks": [], "command": first}
    assert field_page.grade(found, first) == "solved at once"
    assert field_page.grade(found | {"command": f"{first} --fix n=1"}, first).startswith(
        "solved by"
    )
    assert field_page.grade(found | {"lacks": ["Where"]}, first) == "partly"
    assert field_page.grade(found | {"after": {"ScatterND": 1}}, first) == "not solved"
    assert field_page.grade(found | {"after": {"ScatterX": 1}}, first) == "solved at once"
    assert field_page.grade(found | {"before": {}}, first) == "no scatter"
