"""Tests are asked whether they see a mutant, each mutant in a fork of a process that has all tests.

If a test ends its fork, the tests that are left are asked in another one.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import Phase, settings

from code_mutants.changing import Functions, change_imports
from code_mutants.forks import limit_cpu, start, wait
from code_mutants.lines import COLLECTED, OPTIONS, ROOT, cpu_seconds, rooms_of_tests, use_folder
from code_mutants.mutants import Mutant
from code_mutants.verdicts import Told, Verdict, file_of

TIMES, MORE = 10, 10.0  # of a test's own seconds, and seconds more: then it is stuck
WAITING = 120.0  # seconds of the clock more: then it waits for what never comes
IMPORTED = ("numpy", "onnx", "onnx_ir", "onnxruntime", "onnxscript")  # by what is changed


class Job(NamedTuple):
    """A mutant, and the tests to ask, in order, with what each takes of a processor.

    `is_late` says whether its function runs only after all imports. `asks_all` says whether tests
    are asked after one has killed it. `before` is what is known.
    """

    mutant: Mutant
    tests: dict[str, float]
    is_late: bool
    asks_all: bool
    before: Verdict


class Asker:
    """Asks the tests of a job, in a fork, and tells its parent by lines of a file."""

    def __init__(self, job: Job, tests: Iterable[str], seconds: float, told: int) -> None:
        self._job, self._told, self._failure = job, told, ""
        self.places = {test: place for place, test in enumerate(tests)}
        self._seconds = seconds

    def tell(self, test: str, how: str | None = None, seconds: float = 0.0) -> None:
        """Say that a test begins, or how it failed; "" if it passed."""
        os.write(self._told, (json.dumps([test, how, seconds]) + "\n").encode())

    def run(self, items: Iterable[pytest.Item]) -> None:
        """Run tests until the seconds are over, or one fails and no more are asked for."""
        chosen = [item for item in items if item.nodeid in self.places]
        chosen.sort(key=lambda item: self.places[item.nodeid])
        taken = 0.0
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            expected = self._job.tests[item.nodeid]
            if taken and taken + expected > self._seconds:
                continue
            self.tell(item.nodeid)
            self._failure, began = "", cpu_seconds()
            limit_cpu(TIMES * expected + MORE)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            seconds = cpu_seconds() - began
            taken += seconds
            self.tell(item.nodeid, self._failure, round(seconds, 3))
            if taken >= self._seconds or (self._failure and not self._job.asks_all):
                return

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.run(session.items)
        return True

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.tell(report.nodeid, "cannot be imported")

    def pytest_exception_interact(self, call: pytest.CallInfo[object]) -> None:
        if call.excinfo is not None:
            text = str(call.excinfo.value).partition("\n")[0]
            self._failure = f"{call.excinfo.typename}: {text}"[:160]


class Worker:
    """Asks about mutants, and gives the verdict of each to a function."""

    def __init__(
        self, jobs: Iterable[Job], scratch: Path, seconds: float, give: Callable[[Verdict], None]
    ) -> None:
        self._jobs, self._scratch = list(jobs), scratch
        self._seconds, self._give = seconds, give
        self._fit, self._unfit = set[str](), set[str]()

    def run(self) -> int:
        """Ask in a fork that has imported all, then before an import. What fails stays as large."""
        use_folder(self._scratch)
        settings.register_profile("mutants", phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")  # those of tests/conftest.py inherit from it
        if any(job.is_late for job in self._jobs):
            rooms = rooms_of_tests(ROOT)
            status, _ = wait(start(lambda: int(pytest.main([*OPTIONS, *rooms], plugins=[self]))))
            if status not in COLLECTED:
                return status
        for name in IMPORTED:
            if find_spec(name) is not None:
                import_module(name)
        for job in self._jobs:
            if not job.is_late:
                job = job._replace(tests=dict(_within(job.tests, 2 * self._seconds)))
                self._ask(job, partial(change_imports, ROOT, job.mutant), _run_imported)
        return 0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        functions = Functions()
        items = {item.nodeid: item for item in session.items}

        def run(asker: Asker) -> int:
            session.config.pluginmanager.register(asker)
            asker.run(items[test] for test in asker.places if test in items)
            return 0

        for job in self._jobs:
            if job.is_late:
                self._ask(job, partial(functions.change, ROOT, job.mutant), run)
        return True

    def _ask(self, job: Job, change: Callable[[], None], run: Callable[[Asker], int]) -> None:
        """Ask in as many forks as are needed, and give what is found."""
        verdict, left = job.before, [test for test in job.tests if test not in self._unfit]

        def run_changed(asker: Asker) -> int:
            change()
            return run(asker)

        while left:
            status, cpu, told = self._fork(job, left, self._seconds - verdict.seconds, run_changed)
            verdict = self._without_unfit(job, verdict.after(told, status, cpu), run)
            begun = {test for test, *_ in told}
            left = [test for test in left if test not in begun]
            failed = any(how for _, how, _ in told)
            is_answered = verdict.killers and not job.asks_all
            is_through = status == 0 and (job.asks_all or not failed)
            if is_answered or is_through or not begun or verdict.seconds >= self._seconds:
                break
        self._give(verdict.done(job.asks_all or not verdict.killers))

    def _without_unfit(self, job: Job, verdict: Verdict, run: Callable[[Asker], int]) -> Verdict:
        """Leave out the tests that fail here without a mutant, too."""
        suspects = [t for t in verdict.killers if t in job.tests and t not in self._fit]
        if not suspects:
            return verdict
        _, _, told = self._fork(job._replace(asks_all=True), suspects, inf, run)
        self._fit |= {test for test, how, _ in told if how == ""}
        unfit = {test for test in suspects if test not in self._fit}
        self._unfit |= unfit
        return verdict.without(unfit)

    def _fork(
        self, job: Job, tests: list[str], seconds: float, run: Callable[[Asker], int]
    ) -> tuple[int, float, list[Told]]:
        """Run in a fork. Return its status, its seconds of a processor, and what it told."""
        self._scratch.mkdir(parents=True, exist_ok=True)
        file = self._scratch / "told"
        opened = os.open(file, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND)
        asker = Asker(job, tests, seconds, opened)
        patience = WAITING + TIMES * max(job.tests[test] for test in tests)

        def is_stuck() -> bool:
            return time.time() - file.stat().st_mtime > patience

        status, cpu = wait(start(partial(run, asker), self._scratch), is_stuck)
        os.close(opened)
        told = [Told(*json.loads(line)) for line in file.read_text().splitlines()]
        shutil.rmtree(self._scratch, ignore_errors=True)
        return status, cpu, told


def _within(tests: dict[str, float], seconds: float) -> Iterator[tuple[str, float]]:
    """Yield the first tests that take so many seconds: their files are imported anew."""
    for test, taken in tests.items():
        seconds -= taken
        if seconds > 0:
            yield test, taken


def _run_imported(asker: Asker) -> int:
    files = sorted({file_of(test) for test in asker.places})
    return int(pytest.main([*OPTIONS, *files], plugins=[asker]) in (2, 3, 4))
