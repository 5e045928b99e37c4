"""Which sizes to try next: those that the original model accepts are found by trying.

A *combination* gives every symbol a number. Equal small numbers come first, then the accepted ones
are changed one symbol at a time (to 0, 1, 2, to its neighbours, to what another symbol has), and
from then on at random, away from numbers that were always rejected.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from onnx_scatterx.verification.assumptions import NOTHING, Assumption

Combination = dict[str, int]

_EQUAL = (4, 8, 2, 1, 3, 16, 5, 32, 64, 0, 7, 12, 24, 48, 128)
_ENOUGH = 3  # accepted combinations of equal sizes after which large equal ones are left out
_LARGE = 16
_OFTEN = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 17, 24, 32, 33, 64, 100)
FREE = 1 << 30  # a limit that is none


@dataclass(frozen=True)
class Symbol:
    """Something with a size: a named or nameless dim, a rank, or the limit of an integer input.

    A limit says how far the elements of an integer input go, where more is not known.
    """

    name: str
    assumption: Assumption = NOTHING
    most: int = FREE
    limit: bool = False

    def nearest(self, value: int) -> int:
        """Return the allowed number nearest to `value`."""
        if self.limit:
            return value
        tries = {value, *_OFTEN, *self.assumption.numbers}
        allowed = [v for v in tries if 0 <= v <= self.most and self.assumption.allows(v)]
        return min(allowed, key=lambda v: (abs(v - value), v), default=min(value, self.most))


@dataclass
class SizeSearch:
    """Proposes combinations by `next` and learns from `tell`.

    `fits` says whether tensors of a combination are of a reasonable size.
    """

    symbols: Sequence[Symbol]
    fits: Callable[[Combination], bool]
    rng: np.random.Generator
    accepted: list[Combination] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._sizes = [symbol for symbol in self.symbols if not symbol.limit]
        self._limits = [symbol for symbol in self.symbols if symbol.limit]
        self._queue = deque(self._equal(value, FREE) for value in _EQUAL)
        self._rejected: Counter[tuple[tuple[str, int], ...]] = Counter()
        self._tried: Counter[tuple[str, int]] = Counter()
        self._good: Counter[tuple[str, int]] = Counter()
        self._systematic = False

    def next(self) -> Combination:
        """Return the combination to try next."""
        while self._queue:
            proposed = self._queue.popleft()
            enough = len(self.accepted) >= _ENOUGH and max(self._numbers(proposed), default=0)
            if enough and min(self._numbers(proposed)) >= _LARGE and not self._systematic:
                continue
            if self._is_new(proposed):
                return proposed
        if self.accepted and not self._systematic:
            self._systematic = True
            self._queue.extend(self._neighbours(self._base()))
            return self.next()
        if not self.accepted:
            return self._blind()
        return self._varied()

    def tell(self, combination: Combination, accepted: bool) -> None:
        """Learn whether the original ran at a combination."""
        for pair in combination.items():
            self._tried[pair] += 1
            self._good[pair] += accepted
        if accepted:
            if combination not in self.accepted:
                self.accepted.append(combination)
            return
        self._rejected[tuple(sorted(combination.items()))] += 1
        # Perhaps the sizes are fine and the integers are too large: zero indexes everything.
        if self._limits and any(combination[limit.name] == FREE for limit in self._limits):
            self._queue.appendleft(combination | {limit.name: 1 for limit in self._limits})

    def _equal(self, value: int, limit: int) -> Combination:
        combination = {symbol.name: symbol.nearest(value) for symbol in self._sizes}
        return combination | {symbol.name: limit for symbol in self._limits}

    def _numbers(self, combination: Mapping[str, int]) -> list[int]:
        return [combination[symbol.name] for symbol in self._sizes]

    def _is_new(self, combination: Combination) -> bool:
        if combination in self.accepted or not self.fits(combination):
            return False
        return not self._rejected[tuple(sorted(combination.items()))]

    def _base(self) -> Combination:
        """Return the accepted combination that shows most: nothing empty, few ones, not large."""
        return max(
            self.accepted,
            key=lambda c: (
                all(n > 0 for n in self._numbers(c)),
                sum(n > 1 for n in self._numbers(c)),
                -max(self._numbers(c), default=0),
            ),
        )

    def _neighbours(self, base: Combination) -> list[Combination]:
        """Return the base with one symbol changed, every symbol in turn."""
        found = []
        for number in range(8):
            for symbol in self._sizes:
                here = base[symbol.name]
                options = (1, 2, 0, here + 1, 2 * here, max(0, here - 1), here + 5, 3)
                found.append(base | {symbol.name: symbol.nearest(options[number])})
        for symbol in self._limits:
            found += [base | {symbol.name: limit} for limit in (FREE, 2, 8)]
        return found

    def _varied(self) -> Combination:
        """Return an accepted combination, as it is or with one or two symbols changed."""
        base = self.accepted[int(self.rng.integers(len(self.accepted)))]
        if len(self.accepted) > 1 and self.rng.random() < 0.5:  # the larger of two shows more
            other = self.accepted[int(self.rng.integers(len(self.accepted)))]
            base = max(base, other, key=lambda c: sum(n > 1 for n in self._numbers(c)))
        if not self.symbols or self.rng.random() < 0.3:
            return base
        tries = [self._changed(base) for _ in range(4)]
        tries = [t for t in tries if self._is_new(t)] or [base]
        return max(tries, key=self._promise)

    def _changed(self, base: Combination) -> Combination:
        result = dict(base)
        for _ in range(1 + (self.rng.random() < 0.3)):
            symbol = self.symbols[int(self.rng.integers(len(self.symbols)))]
            others = self._numbers(base)
            near = [n + d for n in others for d in (-2, -1, 0, 1, 2)]
            near += [n * 2 for n in others] + [n // 2 for n in others]
            pool = [1, 2, 4, 8, 100, FREE] if symbol.limit else [*_OFTEN, *near]
            result[symbol.name] = symbol.nearest(int(pool[int(self.rng.integers(len(pool)))]))
        return result

    def _blind(self) -> Combination:
        """Return sizes at random while nothing is accepted: all small, or powers of two."""
        powers = self.rng.random() < 0.5
        result = {}
        for symbol in self._sizes:
            number = int(self.rng.integers(8))
            result[symbol.name] = symbol.nearest(2**number if powers else number)
        result = {
            name: size
            if self._good[name, size] or self._tried[name, size] < 5 or self.rng.random() < 0.5
            else result[name]
            for name, size in result.items()
        }
        result |= {symbol.name: int(self.rng.choice([1, 2, 4, FREE])) for symbol in self._limits}
        return result if self.fits(result) else self._equal(1, 1)

    def _promise(self, combination: Combination) -> float:
        scores = [(self._good[p] + 1) / (self._tried[p] + 2) for p in combination.items()]
        return float(np.prod(scores)) if scores else 0.0
