"""`.ci/code-mutants`: what is changed, what is drawn, what a mutant may not do, what is counted."""

import ast
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import code_mutants.lines
from code_mutants import forks
from code_mutants.lines import Lines, stamp_of
from code_mutants.mutants import Mutant, Source, draw, sources_of
from code_mutants.report import Report
from code_mutants.verdicts import IMPORT, Reason, Told, Verdict, equivalents, read, write

ROOT = Path(__file__).parents[2]
LIMITED = pytest.mark.skipif(not forks.can_restrict_writes(), reason="this kernel has no Landlock")
FUNCTION = '''
def first(items: list[int], least: int = 3) -> int | None:
    """Return the first of at least 3."""
    for place, item in enumerate(items):
        if item >= least and place < len(items) - 1:
            learn(item, place)
            return items[place]
    if not items:
        raise ValueError("empty: 7")
    log.info("nothing of %d", 9)
    return None
'''


def changed(text: str, tmp_path: Path) -> list[Mutant]:
    (tmp_path / "code.py").write_text(text)
    return list(Source(tmp_path, "code.py").mutants())


def diffs(text: str, tmp_path: Path) -> set[str]:
    return {line[1:].strip() for m in changed(text, tmp_path) for line in m.diff().split("\n")}


def test_kinds_of_changes(tmp_path: Path) -> None:
    found = diffs(FUNCTION, tmp_path)
    assert {
        "if (item > least) and place < len(items) - 1:",
        "if (item >= least):",
        "if (item >= least or place < len(items) - 1):",
        "if item >= least and place < (len(items) - 1) - 1:",
        "if item >= least and place < len(items) - 2:",
        "if True:",
        "if False:",
        "if bool(items):",
        "(learn(place, item))",
        "pass",
        "return None",
        "def first(items: list[int], least: int = 4) -> int | None:",
        "for place, item in list(enumerate(items))[1:]:",
    } <= found
    kinds = {mutant.kind for mutant in changed(FUNCTION, tmp_path)}
    assert kinds >= {"early return", "removed statement", "swapped arguments", "off by one"}


@pytest.mark.parametrize(
    "text",
    [
        '"""Has 3 things."""',
        "import a, b",
        "def f(x: Literal[3]) -> tuple[1, 2]:\n    assert x < 3",
        "class A:\n    def __repr__(self) -> str:\n        return str(3)",
        'def f() -> int:\n    raise_it = f"at {1 + 2}"',
        "if TYPE_CHECKING:\n    SIZE = 3",
        "Number = int | float",
        "def f() -> Any:\n    return zip(*a, strict=True)",
        "def f() -> Any:\n    raise NotImplementedError",
        "@cache(3)\ndef f() -> int:\n    return g",
    ],
)
def test_what_is_not_changed(text: str, tmp_path: Path) -> None:
    assert changed(text, tmp_path) == []


def test_messages_are_not_changed(tmp_path: Path) -> None:
    found = diffs(FUNCTION, tmp_path)
    assert not [
        line for line in found if "empty" in line and line != 'raise ValueError("empty: 7")'
    ]
    assert not [line for line in found if line.startswith("log")]


def test_every_mutant_of_the_engine_can_be_compiled() -> None:
    for source in sources_of(ROOT, ["onnx_scatterx/engine/terms"]).values():
        for place in range(0, len(source.statements), 9):
            mutant = source.mutant(place, seed=1)
            if mutant is not None:
                compile(mutant.text, mutant.path, "exec")
                assert ast.dump(ast.parse(mutant.before)) != ast.dump(ast.parse(mutant.after))
                assert mutant.diff()


def test_a_key_depends_on_the_function_alone(tmp_path: Path) -> None:
    keys = {mutant.key for mutant in changed(FUNCTION, tmp_path)}
    moved = "import a\n\n\ndef other() -> int:\n    return 3\n" + FUNCTION
    assert keys < {mutant.key for mutant in changed(moved, tmp_path)}
    other = FUNCTION.replace("place < len", "place <= len")
    assert not keys & {mutant.key for mutant in changed(other, tmp_path)}


def test_draws(tmp_path: Path) -> None:
    """More mutants begin with the same ones, and another place of a file draws the same."""
    for name, folder in ("a", "one"), ("b", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.py").write_text(FUNCTION.replace("first", name))
    here = sources_of(tmp_path, ["one", "two"])
    few, many = draw(here, 3, seed=1), draw(here, 8, seed=1)
    assert [m.key for m in few] == [m.key for m in many[:3]]
    assert [m.key for m in draw(here, 8, seed=2)] != [m.key for m in many]
    (tmp_path / "two" / "b.py").rename(tmp_path / "one" / "moved.py")
    moved = draw(sources_of(tmp_path, ["two", "one"]), 8, seed=1)
    assert [m.key for m in moved] == [m.key for m in many]
    all_drawn = draw(here, 1000, seed=1)
    assert len({(m.path, m.lines) for m in all_drawn}) == len(all_drawn)


def endless(_: Path) -> int:
    forks.limit_cpu(0.0)
    while True:
        pass


@LIMITED
@pytest.mark.parametrize(
    ("run", "expected"),
    [
        (lambda _: 7, 7),
        (lambda _: [bytearray(1 << 33)] == [], forks.BROKEN),
        (lambda inside: (inside / "new").write_text("a"), 1),
        (lambda inside: (inside / "new" / ".." / ".." / "out").write_text("a"), forks.BROKEN),
        (lambda inside: (inside.parent / "kept").unlink(), forks.BROKEN),
        (lambda inside: subprocess.run(["rm", str(inside.parent / "kept")]).returncode, 1),
        (endless, -signal.SIGXCPU),
    ],
)
def test_means_of_a_fork(
    run: Callable[[Path], int], expected: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    inside, kept = tmp_path / "inside", tmp_path / "kept"
    inside.mkdir()
    kept.write_text("kept")
    status, _ = forks.wait(forks.start(lambda: run(inside), inside))
    assert status == expected
    assert {path.name for path in tmp_path.iterdir()} == {"inside", "kept"}


def test_a_fork_that_is_stuck_ends_with_what_it_started() -> None:
    """The end of a pipe is read if no process can write to it."""
    reading, writing = os.pipe()
    started = forks.start(lambda: subprocess.run(["sleep", "600"], pass_fds=[writing]).returncode)
    os.close(writing)
    assert forks.wait(started, lambda: True)[0] == -signal.SIGKILL
    assert os.read(reading, 1) == b""
    os.close(reading)


def recorded(file: Path, tests: dict[str, tuple[float, dict[str, list[int]]]], stamp: str) -> Path:
    """Write the lines that tests run as coverage.py does."""
    seconds = {test: taken for test, (taken, _) in tests.items() if test}
    file.write_text(json.dumps({"stamp": stamp, "seconds": seconds}))
    with closing(sqlite3.connect(file.with_suffix(".coverage"))) as opened, opened:
        opened.execute("create table file (id integer primary key, path text unique)")
        opened.execute("create table context (id integer primary key, context text)")
        opened.execute("create table line_bits (file_id integer, context_id integer, numbits blob)")
        for number, (test, (_, of_file)) in enumerate(tests.items()):
            opened.execute("insert into context values (?, ?)", (number, test))
            for path, lines in of_file.items():
                opened.execute("insert or ignore into file (path) values (?)", (path,))
                (row,) = opened.execute("select id from file where path = ?", (path,))
                bits = sum(1 << line for line in lines).to_bytes(20, "little")
                opened.execute("insert into line_bits values (?, ?, ?)", (*row, number, bits))
    return file


def test_order_of_tests(tmp_path: Path) -> None:
    """The most special test of each file is first, then the cheapest. What fails is not asked."""
    lines = Lines(
        [
            recorded(
                tmp_path / "room.json",
                {
                    "": (0.0, {"a.py": [1]}),
                    "t.py::wide": (0.1, {"a.py": [2, 3, 4]}),
                    "t.py::special": (0.5, {"a.py": [2]}),
                    "u.py::dear": (9.0, {"a.py": [2, 3]}),
                    "u.py::elsewhere": (0.1, {"b.py": [2]}),
                },
                "",
            )
        ]
    )
    assert lines.tests_of("a.py", [1]) == {""}
    running = lines.tests_of("a.py", [2])
    assert lines.in_order({*running, "t.py::fails"}) == [
        "t.py::special",
        "u.py::dear",
        "t.py::wide",
    ]


def verdict(mutant: Mutant, *told: Told, status: int = 0) -> Verdict:
    tests = ["t.py::a", "t.py::b", "u.py::c"]
    return Verdict.unknown(mutant, tests).after(told, status, 2.0).done(True)


def test_verdicts(tmp_path: Path) -> None:
    mutant, other = changed(FUNCTION, tmp_path)[:2]
    passed = verdict(mutant, Told("t.py::a", None, 0), Told("t.py::a", "", 0.5))
    assert (passed.name, passed.seconds, passed.was_asked("t.py::a")) == ("survived", 0.5, True)
    assert not passed.was_asked("t.py::b")
    failed = passed.after([Told("t.py::b", None, 0), Told("t.py::b", "KeyError", 1)], 0, 1.0)
    assert (failed.name, failed.killers, failed.cpu) == ("killed", {"t.py::b": "KeyError"}, 3.0)
    stuck = passed.after([Told("u.py::c", None, 0)], -signal.SIGXCPU, 9.0)
    assert (stuck.killers, stuck.seconds) == ({"u.py::c": "timeout"}, 9.5)
    assert set(verdict(mutant, status=4).killers) == {IMPORT}
    assert Verdict.unknown(mutant, []).name == "not run"
    file = tmp_path / "verdicts" / "all.jsonl"
    for each in (passed, verdict(other), failed):
        write(file, each)
    with file.open("a") as opened:
        opened.write('{"key": "cut off')
    assert read(file) == {mutant.key: failed, other.key: verdict(other)}


def test_report(tmp_path: Path) -> None:
    drawn = changed(FUNCTION, tmp_path)[:5]
    a, c = Told("t.py::a", None, 0), Told("u.py::c", None, 0)
    told = {
        drawn[0].key: verdict(drawn[0], a, Told("t.py::a", "KeyError", 1), c),
        drawn[1].key: verdict(drawn[1], a, Told("t.py::a", "1", 1), c, Told("u.py::c", "2", 1)),
        drawn[2].key: verdict(drawn[2], a, c),
        drawn[3].key: verdict(drawn[3], a, c),
    }
    reasons = {drawn[3].key: Reason("first", "the items are sorted"), "gone": Reason("f", "what")}
    report = Report(drawn, told, reasons)
    assert "killed of 3 that change a result: 66.7%" in list(report.rooms())
    assert [row.split()[1:] for row in report.rooms() if row.startswith("all")] == [
        ["5", "2", "1", "0", "1", "1"]
    ]
    assert [row.split() for row in report.files()][1:] == [
        ["t.py", "4", "4", "2", "1"],
        ["u.py", "4", "4", "1", "0"],
    ]
    assert [line.partition(" ")[0] for line in report.alone()] == ["t.py:"]
    left = "\n".join(report.left())
    assert drawn[2].diff() in left
    assert "the items are sorted" in left
    assert list(report.outdated({drawn[3].key})) == ["gone f: no such mutant"]


def test_equivalent_mutants_have_reasons() -> None:
    for key, reason in equivalents().items():
        assert len(key) == 16, key
        assert int(key, 16) >= 0
        assert reason.qualname.replace(".", "").isidentifier() or reason.qualname == "", key
        assert len(reason.text) > 20, f"{key} lacks a reason"


TOY = """
LIMIT = 3


def at_least(a: int, b: int) -> bool:
    return a >= b


def below(a: int) -> bool:
    return a < LIMIT


def size() -> int:
    return 7


def unused() -> int:
    return 7
"""
PATHS_ALONE = """
import sys  # an editable installation finds its own package before the paths do

sys.meta_path[:] = [f for f in sys.meta_path if getattr(f, "__module__", "").startswith("_frozen")]
"""
TOY_TESTS = """
from onnx_scatterx.engine.terms import toy

def test_at_least():
    assert toy.at_least(2, 1) and not toy.at_least(1, 2)

def test_below():
    assert toy.below(2) and not toy.below(3)

def test_nothing():
    toy.at_least(2, 1), toy.size()
"""


@LIMITED
@pytest.mark.slow
def test_a_project_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement of a small project: what is known is not asked again."""
    engine = "onnx_scatterx/engine/terms"
    for folder in (engine, "tests/toy"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "__init__.py").touch()
    for parent in ("onnx_scatterx", "onnx_scatterx/engine"):
        (tmp_path / parent / "__init__.py").touch()
    shutil.copytree(ROOT / ".ci" / "code_mutants", tmp_path / ".ci" / "code_mutants")
    shutil.copy(ROOT / ".ci" / "code-mutants", tmp_path / ".ci")
    (tmp_path / engine / "toy.py").write_text(TOY)
    (tmp_path / "tests" / "toy" / "test_toy.py").write_text(TOY_TESTS)
    (tmp_path / "sitecustomize.py").write_text(PATHS_ALONE)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    lines, test = tmp_path / "cache" / "lines", "tests/toy/test_toy.py::test_"
    lines.mkdir(parents=True)
    path = f"{engine}/toy.py"
    running = {
        "": (0.0, {path: [2, 5, 9, 13, 17]}),
        f"{test}at_least": (0.1, {path: [6]}),
        f"{test}below": (0.1, {path: [10]}),
        f"{test}nothing": (0.1, {path: [6, 14]}),
    }
    monkeypatch.setattr(code_mutants.lines, "ROOT", tmp_path)
    recorded(lines / "tests-toy.json", running, stamp_of(["onnx_scatterx/engine", "tests/toy"]))
    recorded(lines / "onnx_scatterx.json", {}, stamp_of(["onnx_scatterx/engine"]))
    command = [sys.executable, ".ci/code-mutants", "--folder", "cache", "--count", "9"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("PYTEST_ADDOPTS", None)  # such as a profile, which the toy lacks

    def run(*more: str) -> str:
        done = subprocess.run(
            [*command, *more], capture_output=True, text=True, cwd=tmp_path, env=environment
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = run("--first")
    assert "killed of 5 that change a result: 60.0%" in first
    assert "survived (size)\n-    return 7\n+    return" in first
    assert "not run (unused)\n-    return 7\n+    return" in first
    known = read(tmp_path / "cache" / "verdicts.jsonl")
    run("--first")
    assert read(tmp_path / "cache" / "verdicts.jsonl") == known
    run()
    all_asked = read(tmp_path / "cache" / "verdicts.jsonl")
    assert all(verdict.is_done for verdict in all_asked.values())
    counts = [sum(map(len, verdict.asked.values())) for verdict in all_asked.values()]
    assert sorted(counts) == [0, 1, 1, 2, 3]  # a table is asked of all tests of its file
