"""Which tests run a line of a file, and how long each test takes."""

from __future__ import annotations

import functools
import itertools
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from math import inf
from pathlib import Path
from typing import NamedTuple

import pytest
from coverage import Coverage, CoverageData

from code_mutants.faults import Fault, codes
from code_mutants.forks import run_all, start, wait

NEAR = 10.0  # seconds of tests beside the folder, which are asked first


class Recorder:
    """Notes of each test which lines it runs, and of those that pass how long they take."""

    def __init__(self, file: Path, folders: Iterable[str]) -> None:
        self._file, self._seconds = file, defaultdict[str, float](float)
        data, included = str(file.with_suffix(".coverage")), [f"{name}/*" for name in folders]
        self._coverage = Coverage(data, include=included, config_file=False)
        self._coverage.set_option("run:relative_files", True)
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration if report.passed else inf

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._file.write_text(json.dumps(self._seconds))


def recorded(
    into: Path, tests: Iterable[str], folders: Iterable[str], options: list[str], workers: int
) -> list[Path]:
    """Run tests whose lines in folders are not known yet, and return the files that hold them."""
    into.mkdir(parents=True, exist_ok=True)
    files = {path: into / f"{path.replace('/', '-')}.json" for path in tests}

    def run(path: str) -> int:
        return int(pytest.main([*options, path], plugins=[Recorder(files[path], folders)]))

    def run_each(paths: list[str]) -> int:
        return max([wait(start(partial(run, path))) for path in paths], default=0)

    todo = [path for path, file in files.items() if not file.exists()]
    run_all(partial(run_each, todo[i::workers]) for i in range(workers))
    return list(files.values())


class Job(NamedTuple):
    """A fault, the tests that run it and their seconds; whether they run it after all imports."""

    fault: Fault
    tests: list[str]
    seconds: float
    is_late: bool


class Lines:
    """What is recorded."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._seconds: dict[str, float] = {}
        self._data = CoverageData(no_disk=True)
        for file in files:
            data = CoverageData(str(file.with_suffix(".coverage")))
            data.read()
            self._data.update(data)
            self._seconds |= json.loads(file.read_text())

    def job(self, fault: Fault, beside: str, seconds: float) -> Job:
        """Choose tests that run a fault.

        If the line also runs before the tests, as they are imported, all those beside the folder
        may depend on it. If it only runs then, all tests that run a line of the file may.
        """
        by_line = self._of_file(fault.path)
        code = compile(fault.file.read_text(), fault.path, "exec")
        lines = {n for part in codes(code) for *_, n in part.co_lines() if n}
        # A folded constant is part of the line before.
        found = set(by_line.get(max(n for n in lines if n <= fault.line), ()))
        is_late = "" not in found
        if found == {""}:
            found = set().union(*by_line.values())
        if not is_late:
            found |= {n for n in self._seconds if n.startswith(f"{beside}/")}
        asked = {n for n in found if self._seconds.get(n, inf) < inf}
        near = self._cheapest({n for n in asked if n.startswith(f"{beside}/")}, NEAR)
        chosen = near + self._cheapest(asked - set(near), seconds - self._sum(near))
        return Job(fault, chosen, round(self._sum(chosen)), is_late)

    @functools.cache  # noqa: B019 (for as long as the process)
    def _of_file(self, path: str) -> dict[int, list[str]]:
        return self._data.contexts_by_lineno(path)

    def _cheapest(self, tests: set[str], seconds: float) -> list[str]:
        """Return the cheapest test of each file, and of the others those that fit."""
        by_cost = sorted(tests, key=lambda n: (self._seconds[n], n))
        of_file = {n.split("::")[0]: n for n in reversed(by_cost)}
        first = [n for n in by_cost if of_file[n.split("::")[0]] == n]
        others = [n for n in by_cost if of_file[n.split("::")[0]] != n]
        totals = itertools.accumulate((self._seconds[n] for n in others), initial=self._sum(first))
        chosen = {
            *first,
            *(n for n, t in zip(others, list(totals)[1:], strict=True) if t <= seconds),
        }
        return [n for n in by_cost if n in chosen]

    def _sum(self, tests: list[str]) -> float:
        return sum(self._seconds[n] for n in tests)
