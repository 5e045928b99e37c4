"""A command that gives numbers to sizes is tried with other numbers, too, if this is cheap.

A user takes other numbers than the printed ones. The other numbers are near the first ones, so that
they share no factor with them, or half or double.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from onnx_scatterx.assumptions import equalities
from onnx_scatterx.engine.budget import LimitError
from onnx_scatterx.tell.advice.change import Change
from onnx_scatterx.tell.advice.search import Search
from onnx_scatterx.tell.advice.sizes import needs_at, runs_at
from onnx_scatterx.tell.advice.whole import REWRITTEN

_CHEAP = 100_000  # steps for one more trial: about half a second
_TRIALS = 3  # the most of them


@dataclass
class Again:
    """The second trials of the changes of a search: with numbers that are not printed."""

    search: Search
    _told: dict[frozenset[object], str] = field(default_factory=dict)
    _failing: list[dict[str, int]] = field(default_factory=list)

    def told(self, change: Change) -> str:
        """Return in words what a change does with other numbers; empty if none were tried."""
        if change.statements not in self._told:
            self._told[change.statements] = self._trial(change)
        return self._told[change.statements]

    def _trial(self, change: Change) -> str:
        whole = self.search.whole
        is_cheap = whole.price + REWRITTEN * whole.nodes <= _CHEAP and len(self._told) < _TRIALS
        others = self._others if is_cheap else {}
        numbers = {name: others[name] for name in change.fix if name in others}
        if (
            not others
            and self._failing
            and is_cheap
            and self._failing[0].keys() <= change.fix.keys()
        ):
            return f"but the model does not run with {' or '.join(map(_told, self._failing))}"
        if not numbers:
            return ""
        told = _told(numbers)
        is_same = self._does_the_same(change, numbers)
        if is_same is None:
            return ""
        return (
            f"{told} {'was' if len(numbers) == 1 else 'were'} tried, too"
            if is_same
            else (f"but with {told} not all of it is removed")
        )

    def _does_the_same(self, change: Change, numbers: Mapping[str, int]) -> bool | None:
        """Return whether a change removes the same with other numbers; None if it takes long."""
        search = self.search
        try:
            fix = {**change.fix, **numbers}
            needs = needs_at(search.whole, fix) if change.needs else ()
            result = search.attempt(replace(change, fix=fix, needs=needs))
        except LimitError:
            return None
        if result is None:
            return False
        gone = {search.key(record) for record in result.records if record.entry.is_gone}
        refused, known = ({op for op, _ in keys} for keys in (result.refused, search.refused))
        removed = search.removed.get(change.statements, {})
        return refused <= known and all(
            key in gone or (key in search.refused and key[0] not in refused) for key in removed
        )

    @cached_property
    def _others(self) -> dict[str, int]:
        """Other numbers at which the model runs; {} if none are found, or the steps end."""
        whole = self.search.whole
        first = self.search.base.fix or (self.search.numbers or Change()).fix
        stated = equalities(whole.settings.assumed)
        with suppress(LimitError):
            for numbers in _near({name: n for name, n in first.items() if name not in stated}):
                if runs_at(whole, {**first, **numbers}):
                    return numbers
                self._failing.append(numbers)
        return {}


def _told(numbers: Mapping[str, int]) -> str:
    return " ".join(f"{name}={number}" for name, number in numbers.items())


def _near(first: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Yield other numbers than the first ones.

    >>> [*_near({"batch": 1, "height": 8})]
    [{'batch': 3, 'height': 9}, {'batch': 3, 'height': 16}, {'batch': 3, 'height': 4}]
    """
    for times, more in ((1.0, 1), (2.0, 0), (0.5, 0)):
        yield {name: 3 if n == 1 else int(times * n) + more for name, n in first.items()}
