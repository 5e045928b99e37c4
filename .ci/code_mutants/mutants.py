"""Mutants: one change in a file, named by what is changed and not by where the file is.

The key of a mutant is a hash of the name of the function, its source and its changed source. So a
verdict stays true if the file moves, and is asked for again if the function changes.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import heapq
import itertools
import textwrap
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from code_mutants.expressions import Change
from code_mutants.statements import Function, changes_in, statements_of

# A return and a swap mostly break a function at once, so they tell less about tests.
WEIGHTS = {"early return": 0.4, "swapped arguments": 0.5}


class Mutant(NamedTuple):
    """A changed statement.

    `lines` has those of the statement, without the statements in it, and `owner` those of the
    function, or of the statement if no function has it. `before` and `after` are the source of the
    owner without indentation. `text` is the whole changed file. `is_within` says whether the
    statement runs when its owner does, and not when the owner is defined.
    """

    key: str
    path: str
    kind: str
    qualname: str
    lines: range
    owner: range
    is_within: bool
    before: str
    after: str
    text: str

    def diff(self) -> str:
        """Return the lines that differ."""
        before, after = self.before.splitlines(), self.after.splitlines()
        found = difflib.unified_diff(before, after, n=0, lineterm="")
        return "\n".join(line for line in itertools.islice(found, 2, None) if line[0] != "@")

    def is_different(self) -> bool:
        """Return whether Python reads the changed file, and as another program."""
        try:
            return ast.dump(ast.parse(self.after)) != ast.dump(ast.parse(self.before))
        except SyntaxError:
            return False


def _hash(*parts: object) -> str:
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def _header(node: ast.stmt) -> range:
    """Return the lines of a statement before those in it; of a function, all."""
    assert node.end_lineno is not None
    inner = [] if isinstance(node, Function) else getattr(node, "body", None)
    cases = getattr(node, "cases", None)
    end = inner[0].lineno if inner else cases[0].pattern.lineno if cases else node.end_lineno + 1
    return range(node.lineno, max(end, node.lineno + 1))


class Source:
    """A file whose statements are changed."""

    def __init__(self, root: Path, path: str) -> None:
        self._path, text = path, (root / path).read_text(encoding="utf-8")
        self._lines = text.splitlines(keepends=True)
        self.statements = list(statements_of(ast.parse(text)))
        self._owners = {id(s.owner): self._owner(s.owner) for s in self.statements}

    def _owner(self, node: ast.stmt) -> tuple[range, str]:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        assert node.end_lineno is not None
        lines = range(first, node.end_lineno + 1)
        return lines, self._source(self._lines, lines)

    @staticmethod
    def _source(lines: list[str], numbers: range) -> str:
        return textwrap.dedent("".join(lines[numbers.start - 1 : numbers.stop - 1]))

    def ranks(self, seed: int) -> Iterator[tuple[str, str, int]]:
        """Yield for each statement a number that the seed, and its function alone, decide."""
        for place, statement in enumerate(self.statements):
            lines, source = self._owners[id(statement.owner)]
            where = statement.node.lineno - lines.start, statement.node.col_offset
            yield _hash(seed, statement.qualname, source, *where), self._path, place

    def mutant(self, place: int, seed: int) -> Mutant | None:
        """Draw a mutant of a statement: first one of the kinds that it can have, then one of it."""
        statement = self.statements[place]

        def rank(change: Change) -> tuple[float, str]:
            where = change.node.lineno - lines.start, change.node.col_offset
            chance = int(_hash(seed, change.kind, source, *at)[:8], 16) / 16**8
            weight = WEIGHTS.get(change.kind, 1.0)
            return -(chance ** (1 / weight)), _hash(seed, *where, change.text)

        lines, source = self._owners[id(statement.owner)]
        at = statement.node.lineno - lines.start, statement.node.col_offset
        changed = (self._changed(place, c) for c in sorted(changes_in(statement), key=rank))
        return next((mutant for mutant in changed if mutant.is_different()), None)

    def mutants(self, names: Container[str] | None = None) -> Iterator[Mutant]:
        """Yield all mutants, or those of functions of these names."""
        for place, statement in enumerate(self.statements):
            if names is None or statement.qualname in names:
                changed = (self._changed(place, change) for change in changes_in(statement))
                yield from (mutant for mutant in changed if mutant.is_different())

    def _changed(self, place: int, change: Change) -> Mutant:
        statement, node = self.statements[place], change.node
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        lines = list(self._lines)
        first, last = (lines[n - 1].encode() for n in (node.lineno, node.end_lineno))
        head, tail = first[: node.col_offset].decode(), last[node.end_col_offset :].decode()
        text = change.text
        if change.is_inserted:
            tail = first[node.col_offset :].decode()
            lines[node.lineno - 1] = f"{head}{text}\n{head}{tail}"
        else:
            lines[node.lineno - 1 : node.end_lineno] = [f"{head}{text}{tail}"]
        numbers, before = self._owners[id(statement.owner)]
        longer = len(lines) - len(self._lines)
        after = self._source(lines, range(numbers.start, numbers.stop + longer))
        key = _hash(statement.qualname, before, after)[:16]
        is_within = isinstance(statement.owner, Function) and statement.node is not statement.owner
        where = statement.qualname, _header(statement.node), numbers, is_within
        return Mutant(key, self._path, change.kind, *where, before, after, "".join(lines))


def sources_of(root: Path, folders: Iterable[str]) -> dict[str, Source]:
    """Read all files of folders."""
    files = (path for folder in folders for path in sorted((root / folder).rglob("*.py")))
    paths = [str(file.relative_to(root)) for file in files]
    return {path: Source(root, path) for path in paths}


def draw(sources: dict[str, Source], count: int, seed: int) -> list[Mutant]:
    """Draw mutants of so many statements: each statement is as likely as any other.

    So a file has its share by its statements. More mutants of the same seed begin with the same
    ones, and a file that moves changes nothing.
    """
    ranked = [rank for source in sources.values() for rank in source.ranks(seed)]
    heapq.heapify(ranked)
    drawn: dict[str, Mutant] = {}
    while ranked and len(drawn) < count:
        _, path, place = heapq.heappop(ranked)
        mutant = sources[path].mutant(place, seed)
        if mutant is not None:
            drawn.setdefault(mutant.key, mutant)
    return list(drawn.values())
