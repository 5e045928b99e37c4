"""What refusals say: which numbers they name, and whether they depend on what is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

ENOUGH = 5
"""After so many refusals that cannot depend on what is drawn, no more inputs are drawn."""

_MOST = 1 << 16
_FACTORS = (2, 3, 4, 6, 8)
_NODE = re.compile(r"Name:'([^']+)'")
_NAMES = re.compile(r"^\[\w+\] : \d+ :|'[^']*'|\S*/\S*")  # a kind, and names of nodes and files


def numbers_in(reason: str) -> list[int]:
    """Return the numbers in a refusal that may be sizes, and those that are one more.

    >>> numbers_in("node '/l.7/Gather': idx=31 must be within the range [-3,2]")
    [31, 32, 3, 4, 2]
    """
    found = map(int, re.findall(r"\d+", _NAMES.sub("", reason)))
    near = (number for n in found for number in (n, n + 1))
    return [n for n in dict.fromkeys(near) if 1 < n <= _MOST]


def node_in(reason: str) -> str:
    """Return the name of the node that a refusal names; "" if it names none.

    >>> node_in("Non-zero status code while running Gather node. Name:'/l.7/Gather' Status: ...")
    '/l.7/Gather'
    """
    found = _NODE.search(reason)
    return found[1] if found else ""


@dataclass
class Farthest:
    """The refused sizes with which the model came farthest, and the sizes to try because of them.

    ``places`` are the positions of nodes by their names. The numbers in the refusal are tried, as
    one size each. If the model came farther because of this, so are multiples of the largest size.
    """

    places: Mapping[str, int] = field(default_factory=dict)
    _place: int = -2
    _sizes: dict[str, int] = field(default_factory=dict)
    _numbers: dict[int, None] = field(default_factory=dict)
    _came_farther: bool = False

    def add(self, reason: str, sizes: Mapping[str, int]) -> None:
        """Note a refusal at some sizes."""
        place = self.places.get(node_in(reason), -1)
        if place > self._place:
            self._came_farther = self._place > -2
            self._place, self._sizes, self._numbers = place, dict(sizes), {}
        if place == self._place:
            here = set(sizes.values())
            self._numbers.update((n, None) for n in numbers_in(reason) if n not in here)

    def proposals(self) -> Iterator[dict[str, int]]:
        """Yield sizes to try, the most promising first."""
        ones = dict.fromkeys(self._sizes, 1)
        bases = (self._sizes, ones) if self._came_farther else (ones, self._sizes)
        if self._came_farther:
            largest = max(self._sizes, key=lambda s: self._sizes[s])
            yield from (self._sizes | {largest: k * self._sizes[largest]} for k in _FACTORS)
        yield from (bases[0] | {s: n} for n in list(self._numbers) for s in ones)
        yield from (bases[1] | {s: n} for n in list(self._numbers) for s in ones)


@dataclass
class Refusals:
    """The last refusals in a row that have the same message, which names the node, too."""

    _reason: str = ""
    _combinations: list[Mapping[str, int]] = field(default_factory=list)

    def add(self, reason: str, combination: Mapping[str, int]) -> None:
        """Note a refusal of inputs that were drawn at these sizes and limits of integers."""
        if reason != self._reason or not reason:
            self._reason, self._combinations = reason, []
        self._combinations.append(dict(combination))

    @property
    def are_final(self) -> bool:
        """Whether there are enough, and no size and no limit was the same in all of them.

        >>> refusals = Refusals()
        >>> for size in range(5):
        ...     refusals.add("no kernel", {"N": size, "M": 1})
        >>> refusals.are_final
        False
        >>> refusals.add("no kernel", {"N": 5, "M": 2})
        >>> refusals.are_final
        True
        """
        if len(self._combinations) < ENOUGH:
            return False
        names = self._combinations[0]
        return all(len({each.get(name) for each in self._combinations}) > 1 for name in names)
