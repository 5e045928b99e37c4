"""Prints what the tests said: by room, by mutant that survived, and by file of tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from code_mutants.mutants import Mutant
from code_mutants.verdicts import Reason, Verdict


def table(rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """Yield lines with columns: the first is text, the others are numbers."""
    texts = [tuple(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    for first, *others in texts:
        cells = (text.rjust(width) for text, width in zip(others, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *cells))


class Report:
    """The verdicts of the mutants that were drawn, and the reasons of those that are equivalent."""

    def __init__(
        self, drawn: list[Mutant], verdicts: dict[str, Verdict], reasons: dict[str, Reason]
    ) -> None:
        self._drawn, self._reasons = drawn, reasons
        self._known = {m.key: verdicts[m.key] for m in drawn if m.key in verdicts}

    def _kind(self, mutant: Mutant) -> str:
        if mutant.key not in self._known:
            return "not asked"
        name = self._known[mutant.key].name
        return "equivalent" if name != "killed" and mutant.key in self._reasons else name

    def rooms(self) -> Iterator[str]:
        """Yield a table of the folders, and the share of the mutants that a test sees."""
        kinds = "drawn", "killed", "survived", "not run", "equivalent", "not asked"
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for mutant in self._drawn:
            for room in (mutant.path.rpartition("/")[0], "all"):
                counts[room].update(("drawn", self._kind(mutant)))
        rooms = sorted(counts, key=lambda room: (room == "all", room))
        rows = [(room, *(counts[room][kind] for kind in kinds)) for room in rooms]
        yield from table([("folder", *kinds), *rows])
        every = counts["all"]
        asked = every["killed"] + every["survived"] + every["not run"]
        share = f"{every['killed'] / asked:.1%}" if asked else "none"
        yield f"killed of {asked} that change a result: {share}"
        cpu = [verdict.cpu for verdict in self._known.values()]
        if cpu:
            mean = sum(cpu) / len(cpu)
            yield f"seconds of a processor: {sum(cpu):.0f}, {mean:.1f} for each mutant"

    def left(self) -> Iterator[str]:
        """Yield each mutant that no test sees: how it differs, and the reason if there is one."""
        for mutant in self._drawn:
            if self._kind(mutant) in ("survived", "not run", "equivalent"):
                verdict = self._known[mutant.key]
                asked = sum(map(len, verdict.asked.values()))
                tests = f"{asked} of {sum(verdict.running.values())} tests asked"
                yield f"{mutant.key} {mutant.path}:{mutant.lines.start}: {mutant.kind}, {tests}"
                reason = self._reasons.get(mutant.key, Reason("", ""))
                yield f"{self._kind(mutant)} ({mutant.qualname}) {reason.text}".rstrip()
                yield mutant.diff() + "\n"

    def files(self) -> Iterator[str]:
        """Yield a table of the files of tests.

        It has how many mutants lie on lines that a file runs, how many of them were asked of it,
        how many it kills, and how many only it kills.
        """
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for verdict in self._known.values():
            killing = verdict.killing_files
            for file in verdict.running:
                counts[file]["run"] += 1
            for file in verdict.asked:
                counts[file]["asked"] += 1
            for file in killing:
                counts[file]["killed"] += 1
                counts[file]["alone"] += len(killing) == 1 and verdict.is_done
        names = "run", "asked", "killed", "alone"
        rows = [(file, *(counts[file][name] for name in names)) for file in sorted(counts)]
        yield from table([("file of tests", "runs", "asked", "kills", "alone"), *rows])

    def alone(self) -> Iterator[str]:
        """Yield the mutants that one file alone kills."""
        for verdict in self._known.values():
            if verdict.is_done and len(verdict.killing_files) == 1:
                (file,) = verdict.killing_files
                yield f"{file}: {verdict.key} {verdict.path}:{verdict.line} ({verdict.kind})"

    def outdated(self, existing: Iterable[str]) -> Iterator[str]:
        """Yield the lines of equivalent mutants that do not exist any more."""
        for key in sorted(self._reasons.keys() - set(existing)):
            yield f"{key} {self._reasons[key].qualname}: no such mutant"
