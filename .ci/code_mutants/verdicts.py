"""What is known of mutants: a file with a line of JSON for each answer, where the last one counts.

Mutants that change no result are in `equivalent.txt`, beside this file, each with the reason.
"""

from __future__ import annotations

import json
import signal
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from code_mutants.mutants import Mutant

EQUIVALENT = Path(__file__).with_name("equivalent.txt")
IMPORT = "import"  # the killer, if not even the package could be imported


class Told(NamedTuple):
    """A test began (`how` is None), passed ("") or failed, and what it took of a processor."""

    test: str
    how: str | None
    seconds: float


@dataclass(frozen=True)
class Verdict:
    """What the tests said of a mutant.

    `running` has how many tests of each file run the line. `asked` has those that were asked, by
    file. `killers` says of each test that saw the mutant how it failed. `seconds` is what the tests
    took of a processor, and `cpu` what all forks took. If `is_done`, no more tests are to be asked.
    """

    key: str
    path: str
    line: int
    kind: str
    qualname: str
    diff: str
    running: dict[str, int] = field(default_factory=dict)
    asked: dict[str, list[str]] = field(default_factory=dict)
    killers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cpu: float = 0.0
    is_done: bool = False

    @classmethod
    def unknown(cls, mutant: Mutant, tests: Iterable[str]) -> Verdict:
        running = defaultdict[str, int](int)
        for test in tests:
            running[file_of(test)] += 1
        place = mutant.path, mutant.lines.start, mutant.kind, mutant.qualname
        return cls(mutant.key, *place, mutant.diff(), dict(running))

    @property
    def killing_files(self) -> set[str]:
        return {file_of(test) for test in self.killers}

    def was_asked(self, test: str) -> bool:
        file, _, name = test.partition("::")
        return name in self.asked.get(file, ())

    def after(self, told: Iterable[Told], status: int, cpu: float) -> Verdict:
        """Return what is known after a fork that told this and ended with this status."""
        asked = {file: list(names) for file, names in self.asked.items()}
        killers, seconds, open_test = dict(self.killers), self.seconds, ""
        for test, how, taken in told:
            file, _, name = test.partition("::")
            if name and how is None:
                asked.setdefault(file, []).append(name)
            open_test = test if how is None else ""
            seconds += taken
            if how:
                killers[test] = how
        if status and open_test:
            killers[open_test] = _end(status)
            seconds += max(cpu - (seconds - self.seconds), 0.0)
        elif status and not asked:
            killers[IMPORT] = _end(status)
        return replace(
            self,
            asked=asked,
            killers=killers,
            seconds=round(seconds, 2),
            cpu=round(self.cpu + cpu, 2),
        )

    def without(self, tests: set[str]) -> Verdict:
        """Return the verdict without what these tests said."""
        asked = {
            file: [name for name in names if f"{file}::{name}" not in tests]
            for file, names in self.asked.items()
        }
        killers = {test: how for test, how in self.killers.items() if test not in tests}
        return replace(self, asked=asked, killers=killers)

    def done(self, is_done: bool) -> Verdict:
        return replace(self, is_done=is_done)

    @property
    def name(self) -> str:
        """Return one word: what the report counts."""
        if self.killers:
            return "killed"
        return "survived" if self.running else "not run"


def file_of(test: str) -> str:
    """Return the file of a test."""
    return test.partition("::")[0]


def _end(status: int) -> str:
    if status == -signal.SIGXCPU:
        return "timeout"
    return f"ended by {signal.Signals(-status).name}" if status < 0 else f"ended with {status}"


def write(file: Path, verdict: Verdict) -> None:
    """Add a verdict to a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as opened:
        print(json.dumps(asdict(verdict)), file=opened)


def read(file: Path) -> dict[str, Verdict]:
    """Read the last verdict of each mutant. A line that was cut off counts for nothing."""
    found = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            verdict = Verdict(**json.loads(line))
        except json.JSONDecodeError:
            continue
        found[verdict.key] = verdict
    return found


class Reason(NamedTuple):
    """Why a mutant of this function changes no result."""

    qualname: str
    text: str


def equivalents(file: Path = EQUIVALENT) -> dict[str, Reason]:
    """Read why mutants change no result: `KEY QUALNAME: REASON`, where a table has the name -."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            key, _, rest = line.partition(" ")
            name, _, text = rest.partition(": ")
            found[key] = Reason(name.removeprefix("-"), text)
    return found
