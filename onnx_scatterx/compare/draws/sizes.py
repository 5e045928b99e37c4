"""Proposes sizes at which to run a model, and learns which sizes the model accepts.

A *combination* gives every symbol a number. Combinations of different numbers come first, then
those of equal numbers. An accepted combination is grown, symbol by symbol, until its sizes differ
and few are small. Then each of its symbols is set to 0, 1, 2 and the neighbours of its size, and in
turn to more than 100, to constants of the models, and to the numbers beside these. Then accepted
combinations are varied at random.

As long as none is accepted, the numbers in the refusals are tried, too: a runtime names the sizes
that it wants.
"""

import math
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice

import numpy as np

from onnx_scatterx.assumptions import NOTHING, Assumption
from onnx_scatterx.compare.draws.refusals import Farthest

Combination = dict[str, int]
Trials = Generator[Combination, bool, None]
"""Yields combinations to try. The caller sends back whether the model accepted each of them."""

_DIFFERING = ((3, 1), (8, 8), (32, 32))  # the first of several sizes, and the step to the next
EQUAL_SIZES = (4, 8, 2, 1, 3, 16, 5, 32, 64, 0, 7, 12, 24, 48, 128, 256, 512, 1024)
_TELLING = (4, 1, 0)  # equal sizes to try if small different sizes were accepted
_ENOUGH = 3  # after so many accepted combinations of equal sizes, larger ones are not tried
_LARGE = 16
_GROWN = (9, 6, 4)
_HINTED = 3  # so many sizes from refusals are tried after each of the others
_PATIENCE = 20  # how often sizes that fit are looked for
_OFTEN = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 17, 24, 32, 33, 64, 100)
_MANY = 131  # more than 100
_REFUSALS = 2  # after so many, a size is not set to constants any more
_MOST_TOGETHER = 1 << 17  # the most elements of a tensor with all sizes
_TELLING_TRIALS = 16  # the most trials at constants of the models
FREE = 1 << 30  # a limit that is never reached


@dataclass(frozen=True)
class SizeSymbol:
    """An unknown number: a named or nameless dim, a rank, or the limit of an integer input.

    The limit bounds the elements of an integer input whose uses give no range.
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
    """Proposes combinations by `next`, and learns from `tell` which ones the model accepts.

    `fits` returns whether the inputs of a combination exist and are not too large. `telling` are
    constants of the models at which they may differ, the most telling first.
    """

    symbols: Sequence[SizeSymbol]
    fits: Callable[[Combination], bool]
    rng: np.random.Generator
    accepted: list[Combination] = field(default_factory=list)
    equal_sizes: Sequence[int] = EQUAL_SIZES
    equal_first: bool = False
    telling: Sequence[int] = ()
    farthest: Farthest = field(default_factory=Farthest)

    def __post_init__(self) -> None:
        self._sizes = [symbol for symbol in self.symbols if not symbol.limit]
        self._limits = [symbol for symbol in self.symbols if symbol.limit]
        self._rejected: set[tuple[tuple[str, int], ...]] = set()
        self._tried: Counter[tuple[str, int]] = Counter()
        self._good: Counter[tuple[str, int]] = Counter()
        self._plan = self._trials()
        self._verdict: bool | None = None
        self._at: list[Combination] = []  # what `_at_constants` proposed
        self.is_cheap: Callable[[Combination], bool] = lambda _: True

    def next(self) -> Combination:
        """Return the combination to try next, which may not fit if none that fits is found."""
        verdict, self._verdict = self._verdict, False
        return next(self._plan) if verdict is None else self._plan.send(verdict)

    def is_at_constants(self, combination: Combination) -> bool:
        """Return whether a combination was proposed because a model may differ at its sizes."""
        return combination in self._at

    def tell(self, combination: Combination, accepted: bool, reason: str = "") -> None:
        """Learn whether the model ran at the combination that was proposed last, or why not."""
        self._verdict = accepted
        if not self.accepted:
            sizes = {symbol.name: combination[symbol.name] for symbol in self._sizes}
            self.farthest.add(reason, sizes)
        for pair in combination.items():
            self._tried[pair] += 1
            self._good[pair] += accepted
        if not accepted:
            self._rejected.add(tuple(sorted(combination.items())))
        elif combination not in self.accepted:
            self.accepted.append(combination)

    def _trials(self) -> Trials:
        if not self.equal_first:
            yield from self._hinted(self._differing_sizes())
        is_free = any(min(self._numbers(c), default=0) < 8 for c in self.accepted)
        yield from self._hinted(self._equal_sizes(_TELLING if is_free else self.equal_sizes))
        while not self.accepted:
            yield self._blind()
        yield from self._growing()
        base = max(self.accepted, key=self._shows)
        yield from _in_turn(self._around(base), self._at_constants(base))
        while True:
            yield self._varied()

    def _hinted(self, trials: Trials) -> Trials:
        """Try sizes that follow from refusals, too."""
        answer: bool | None = None
        while True:
            try:
                proposed = next(trials) if answer is None else trials.send(answer)
            except StopIteration:
                return
            answer = yield proposed
            limits = {s.name: FREE for s in self._limits}
            hinted = (
                limits | {s.name: s.nearest(sizes[s.name]) for s in self._sizes}
                for sizes in self.farthest.proposals()
            )
            for combination in islice(filter(self._is_new, hinted), _HINTED):
                if not self.accepted:
                    yield combination

    def _differing_sizes(self) -> Trials:
        """Give all symbols different sizes, rising or falling, until some are accepted."""
        for first, step in _DIFFERING if len(self._sizes) > 1 else ():
            rising = [first + step * position for position in range(len(self._sizes))]
            for values in (rising, rising[::-1]):
                if not self.accepted:
                    yield from self._with_limits(values)

    def _equal_sizes(self, values: Sequence[int]) -> Trials:
        for value in values:
            if value < _LARGE or len(self.accepted) < _ENOUGH:
                yield from self._with_limits([value] * len(self._sizes))

    def _with_limits(self, values: Sequence[int]) -> Trials:
        """Try sizes near ``values``: first with free limits, and then with the least limits."""
        pairs = zip(self._sizes, values, strict=True)
        combination = {symbol.name: symbol.nearest(value) for symbol, value in pairs}
        combination |= {symbol.name: FREE for symbol in self._limits}
        if not self._is_new(combination):
            return
        accepted = yield combination
        if not accepted and self._limits:
            # The sizes may be right and the integers too large: with limit 1, all integers are 0.
            yield combination | {symbol.name: 1 for symbol in self._limits}

    def _growing(self) -> Trials:
        """Enlarge the small sizes of the best combination, and make equal sizes different."""
        for symbol in self._sizes:
            base = max(self.accepted, key=self._shows)
            here = base[symbol.name]
            others = {base[other.name] for other in self._sizes if other is not symbol} - {0, 1, 2}
            if here > 2 and here not in others:
                continue
            tied = [o + step for o in sorted(others, reverse=True) for step in (0, -1, 1, -2, 2)]
            halves = [o * k // 2 for o in sorted(others, reverse=True) for k in (1, 4)]
            values = (*_GROWN, *tied, *halves, 2) if here <= 2 else (here + 1, 2 * here, *_GROWN)
            for value in sorted(values, key=others.__contains__):
                grown = base | {symbol.name: symbol.nearest(value)}
                if self._shows(grown) > self._shows(base) and self._is_new(grown):
                    accepted = yield grown
                    if accepted:
                        break

    def _around(self, base: Combination) -> Trials:
        """Change one symbol of a combination, and then two that may depend on each other."""
        changed = []
        for number in range(6):
            for symbol in self._sizes:
                here = base[symbol.name]
                options = (1, 2, 0, here + 1, 2 * here, 3)
                changed.append({symbol.name: symbol.nearest(options[number])})
        changed += [{symbol.name: limit} for symbol in self._limits for limit in (FREE, 2, 8)]
        for one, other in islice(combinations(self._sizes, 2), 6):
            m, n = base[one.name], base[other.name]
            pairs = ((m + 1, n + 1), (m - 1, n - 1), (2 * m, 2 * n), (m // 2, n // 2))
            changed += [
                {one.name: one.nearest(p), other.name: other.nearest(q)}
                for p, q in (*pairs, (m + 2, n + 1), (m + 1, n + 2))
            ]
        for change in changed:
            if self._is_new(base | change):
                yield base | change

    def _at_constants(self, base: Combination) -> Trials:
        """Set each symbol to more than 100 once, and to and beside constants of the models.

        Several symbols are set at once. If the model refuses this, they are set one by one.
        """
        numbers = [_MANY, *(n + step for n in self.telling for step in (0, 1, -1))]
        left = [(symbol, n) for n in dict.fromkeys(numbers) for symbol in self._sizes]
        refused: Counter[str] = Counter()
        most = len(self._sizes)
        for _ in range(_TELLING_TRIALS + len(self._sizes)):
            left = [(symbol, n) for symbol, n in left if refused[symbol.name] < _REFUSALS]
            chosen = self._together(base, left, most)
            if not chosen:
                return
            tried = base | chosen
            accepted = tried in self.accepted
            if not accepted and self._is_new(tried):
                self._at.append(tried)
                accepted = yield tried
            if accepted or len(chosen) == 1:
                left = [(s, n) for s, n in left if chosen.get(s.name) != s.nearest(n)]
            if len(chosen) == 1:
                refused.update([*chosen] * (not accepted))
            most = len(self._sizes) if accepted else 1

    def _together(
        self, base: Combination, left: Sequence[tuple[SizeSymbol, int]], most: int
    ) -> Combination:
        """Return the first sizes that are left of each symbol, of at most so many symbols."""
        chosen: Combination = {}
        for symbol, number in left:
            if len(chosen) == most:
                break
            if symbol.name in chosen:
                continue
            more = chosen | {symbol.name: symbol.nearest(number)}
            if not chosen or (self._is_small(base | more) and self.fits(base | more)):
                chosen = more
        return chosen

    def _is_small(self, combination: Combination) -> bool:
        return math.prod(max(n, 1) for n in self._numbers(combination)) <= _MOST_TOGETHER

    def _numbers(self, combination: Mapping[str, int]) -> list[int]:
        return [combination[symbol.name] for symbol in self._sizes]

    def _is_new(self, combination: Combination) -> bool:
        if combination in self.accepted or not self.fits(combination):
            return False
        if not self.is_cheap(combination):
            return False
        return tuple(sorted(combination.items())) not in self._rejected

    def _shows(self, combination: Combination) -> tuple[int, ...]:
        """Return a score: higher if no size is 0, if few sizes are small, and if none is huge."""
        numbers = self._numbers(combination)
        return (
            all(n > 0 for n in numbers),
            sum(min(n, 3) for n in numbers),
            len(set(numbers)),
            -max(numbers, default=0),
        )

    def _varied(self) -> Combination:
        """Return an accepted combination, perhaps with one or two symbols changed."""
        picks = self.rng.integers(len(self.accepted), size=2)
        base = max((self.accepted[int(pick)] for pick in picks), key=self._shows)
        if not self.symbols or self.rng.random() < 0.3:
            return base
        tries = [self._changed(base) for _ in range(4)]
        tries = [t for t in tries if self._is_new(t)] or [base]
        return max(tries, key=self._promise)

    def _changed(self, base: Combination) -> Combination:
        result = dict(base)
        if len(self._sizes) > 1 and self.rng.random() < 0.4:  # two that may depend on each other
            step, twice = int(self.rng.integers(-2, 6)), self.rng.random() < 0.3
            for index in self.rng.permutation(len(self._sizes))[:2]:
                tied, size = self._sizes[index], base[self._sizes[index].name]
                result[tied.name] = tied.nearest(2 * size if twice else size + step)
            return result
        for _ in range(1 + (self.rng.random() < 0.3)):
            symbol = self.symbols[int(self.rng.integers(len(self.symbols)))]
            others = self._numbers(base)
            near = [n + step for n in others for step in (-2, -1, 0, 1, 2)]
            near += [n * 2 for n in others] + [n // 2 for n in others]
            pool = [1, 2, 4, 8, 100, FREE] if symbol.limit else [*_OFTEN, *near]
            result[symbol.name] = symbol.nearest(int(pool[int(self.rng.integers(len(pool)))]))
        return result

    def _blind(self) -> Combination:
        """Return random sizes, as long as none are accepted: all small, or powers of two."""
        powers = self.rng.random() < 0.5
        for _ in range(_PATIENCE):
            result = {}
            for symbol in self._sizes:
                number = int(self.rng.integers(15 if powers else 8))
                result[symbol.name] = symbol.nearest(2**number if powers else number)
            result |= {s.name: int(self.rng.choice([1, 2, 4, FREE])) for s in self._limits}
            if self.fits(result):
                return result
        return {symbol.name: 1 if symbol.limit else symbol.nearest(1) for symbol in self.symbols}

    def _promise(self, combination: Combination) -> float:
        scores = [(self._good[p] + 1) / (self._tried[p] + 2) for p in combination.items()]
        return float(np.prod(scores)) if scores else 0.0


def _in_turn(*all_trials: Trials) -> Trials:
    """Yield from several sources of trials, one from each in turn; each gets its own answers."""
    answers: dict[Trials, bool | None] = dict.fromkeys(all_trials)
    while answers:
        for trials, answer in list(answers.items()):
            try:
                proposed = next(trials) if answer is None else trials.send(answer)
            except StopIteration:
                del answers[trials]
                continue
            answers[trials] = yield proposed
