"""Which tests run a line of a file, and how many seconds of a processor each test takes."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from code_mutants.changing import body_lines, can_replace
from code_mutants.forks import start, wait
from code_mutants.mutants import Mutant

ROOT = Path(__file__).parents[2]
PACKAGE = "onnx_scatterx"
OPTIONS = (
    *("-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb=no", "--show-capture=no"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)

COLLECTED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


def cpu_seconds() -> float:
    """Return the seconds of a processor that this process took, and its children that ended."""
    return sum(os.times()[:4])


def use_folder(folder: Path) -> None:
    """Let what tests write for a while, and the files of a user, be in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    os.environ |= {"HOME": str(folder), "TMPDIR": str(folder)}
    tempfile.tempdir = None


def rooms_of_tests(root: Path) -> list[str]:
    """Return the folders whose tests are recorded together, and the package for its examples."""
    tests = sorted(f"tests/{path.parent.name}" for path in root.glob("tests/*/__init__.py"))
    return [*tests, PACKAGE]


def stamp_of(folders: Iterable[str]) -> str:
    """Return a hash of the files of folders: what was recorded of others is out of date."""
    found = hashlib.sha256()
    for file in sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py")):
        found.update(f"{file.relative_to(ROOT)}\0{file.read_text(encoding='utf-8')}\0".encode())
    return found.hexdigest()


class Recorder:
    """Notes which lines each test runs, and of those that pass how long they take."""

    def __init__(self, file: Path, folders: Iterable[str], stamp: str) -> None:
        from coverage import Coverage  # the rest does without

        self._file, self._stamp, self._seconds = file, stamp, dict[str, float]()
        self._failed = set[str]()
        data = file.with_suffix(".coverage")
        included = [f"{ROOT / name}/*" for name in folders]
        self._coverage = Coverage(str(data), include=included, config_file=False)
        self._coverage.set_option("run:relative_files", True)
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        began = cpu_seconds()
        try:
            return (yield)
        finally:
            self._seconds[item.nodeid] = round(cpu_seconds() - began, 3)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self._coverage.stop()
        self._coverage.save()
        if exitstatus not in COLLECTED:
            return
        passed = {k: v for k, v in self._seconds.items() if k not in self._failed}
        self._file.write_text(json.dumps({"stamp": self._stamp, "seconds": passed}))


def record(into: Path, folders: Iterable[str], workers: int) -> list[Path]:
    """Run the tests whose lines are not known, and return the files that hold them.

    Each room of tests is recorded in a process of its own. A line that runs while its tests are
    imported is recorded in the context whose name is empty.
    """
    into.mkdir(parents=True, exist_ok=True)
    rooms, folders = rooms_of_tests(ROOT), tuple(folders)
    files = {name: into / f"{name.replace('/', '-')}.json" for name in rooms}
    stamps = {name: stamp_of((*folders, *{name} - {PACKAGE})) for name in rooms}

    def is_known(name: str) -> bool:
        file = files[name]
        return file.exists() and json.loads(file.read_text())["stamp"] == stamps[name]

    def run(name: str) -> int:
        recorder = Recorder(files[name], folders, stamps[name])
        return int(pytest.main([*OPTIONS, name], plugins=[recorder]))

    running = set[int]()
    for name in [name for name in rooms if not is_known(name)]:
        for suffix in (".json", ".coverage"):
            files[name].with_suffix(suffix).unlink(missing_ok=True)
        if len(running) == workers:
            running.remove(os.waitpid(-1, 0)[0])
        running.add(start(partial(run, name)))
    for child in running:
        wait(child)
    return [file for file in files.values() if file.exists()]


class Lines:
    """What is recorded: the lines of each file that each test runs, as bits of a number."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.seconds: dict[str, float] = {}
        self._bits: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._sizes: dict[str, int] = defaultdict(int)
        for file in files:
            self.seconds |= json.loads(file.read_text())["seconds"]
            self._read(file.with_suffix(".coverage"))
        for of_file in self._bits.values():
            for test, bits in of_file.items():
                self._sizes[test] += bits.bit_count()

    def _read(self, database: Path) -> None:
        """Add the table of coverage.py, whose rows have a bit for each line, the lowest first."""
        rows = """select path, context, numbits from line_bits
            join file on file.id = file_id join context on context.id = context_id"""
        with closing(sqlite3.connect(database)) as opened:
            for path, test, numbits in opened.execute(rows):
                self._bits[path][test] |= int.from_bytes(numbits, "little")

    def tests_of(self, path: str, lines: Iterable[int]) -> set[str]:
        """Return the tests that run one of these lines, and "" if an import runs one."""
        asked = sum(1 << line for line in set(lines))
        return {test for test, bits in self._bits.get(path, {}).items() if bits & asked}

    def of_mutant(self, mutant: Mutant) -> tuple[list[str], bool]:
        """Return the tests that run a mutant, in order, and whether they do so after all imports.

        If only an import runs the line, the tests that run another line of the file may see it; of
        a file without other lines, all tests may.
        """
        found = self.tests_of(mutant.path, mutant.lines)
        is_late = False
        if mutant.is_within:
            body = body_lines(ROOT, mutant)
            if not body & {*mutant.lines}:  # folded: it is a part of the line before
                found = self.tests_of(mutant.path, [max(n for n in body if n < mutant.lines.stop)])
            is_late = not self.tests_of(mutant.path, body) & {""} and can_replace(ROOT, mutant)
        if found == {""}:
            found |= set(self._bits[mutant.path])
        if found == {""}:
            found |= set(self.seconds)
        return self.in_order(found), is_late

    def in_order(self, tests: Iterable[str]) -> list[str]:
        """Put tests in the order in which they are asked.

        First comes the most special test of each file, the one that runs the fewest lines. Then
        come the others. Of both, the cheapest is first. Tests that fail anyway are left out.
        """
        able = sorted(test for test in tests if test in self.seconds)
        special: dict[str, str] = {}
        for test in sorted(able, key=lambda t: (self._sizes[t], self.seconds[t], t)):
            special.setdefault(test.partition("::")[0], test)
        chosen = set(special.values())
        return sorted(able, key=lambda t: (t not in chosen, self.seconds[t], t))
