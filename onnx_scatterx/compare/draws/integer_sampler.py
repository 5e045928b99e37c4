"""Draws random integers for an input, within the bounds of all operators that the input reaches.

Some elements are hit on purpose: ends of the bounds, constants of the models, ends of types.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import Assumption
from onnx_scatterx.compare.draws.index_bounds import Bounds, IndexConstraints
from onnx_scatterx.compare.draws.landmarks import (
    Aims,
    Landmark,
    beside,
    ends,
    positions,
)
from onnx_scatterx.compare.draws.sizes import FREE, Combination

_INT64 = np.iinfo(np.int64)
_SPAN = 4096  # how many numbers are tried to find allowed ones
FEW_ELEMENTS = 4
"""Fewer elements are all hit on purpose, or none."""


@dataclass(frozen=True)
class IntegerSampler:
    """Draws the integers of one input at given sizes."""

    rng: np.random.Generator
    dtype: ir.DataType
    constraints: IndexConstraints
    assumption: Assumption
    sizes: Combination  # the sizes of all inputs
    own: Combination  # the same sizes, by the names that this input declares
    limit: int  # of the absolute values
    aims: Aims | None = None  # what is hit on purpose
    number: int = 0  # of the draw
    every: bool = False  # whether few elements are hit in any case

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return integers in the range of their uses that satisfy the assumption."""
        common = self.constraints.get(None, frozenset())
        columns = sorted(position for position in self.constraints if position is not None)
        if not columns or not shape or shape[-1] <= columns[-1] or self.assumption.is_sorted:
            every = common.union(*self.constraints.values())
            values = self._within(shape, every, None)
            return np.sort(values, axis=-1) if shape and self.assumption.is_sorted else values
        asked = range(columns[-1] + 1)
        parts = [
            self._within(shape[:-1], common | self.constraints.get(j, frozenset()), j)
            for j in asked
        ]
        values = np.stack(parts, axis=-1)
        if shape[-1] > len(asked):
            rest = self._within((*shape[:-1], shape[-1] - len(asked)), common, None)
            values = np.concatenate([values, rest], axis=-1)
        return values

    def _within(self, shape: tuple[int, ...], bounds: Bounds, column: int | None) -> np.ndarray:
        span = self._range(bounds)
        low, high = span.low, span.high
        contiguous = "contiguous" in self.assumption.properties
        unique = contiguous or bool(self.assumption.properties & {"unique", "increasing"})
        length = shape[-1] if contiguous and shape else int(np.prod(shape))
        least, most = self.assumption.interval(self.own)
        if unique and not span.known:
            high = int(min(max(high, low + length), max(most, low)))
        if contiguous and shape:
            end = min(int(self.dtype.max), int(_INT64.max)) + 1  # above all numbers of the type
            low = min(low, end - max(length, 1))
            last = max(low, min(high + 1, end) - max(length, 1))
            starts = self.rng.integers(low, last, (*shape[:-1], 1), endpoint=True)
            ranges = Span(low, last, low, True)
            starts = self._aimed(starts, bounds, column, ranges, shift=max(length, 1) - 1)
            return np.asarray(starts + np.arange(length))
        if unique and self.assumption.comparisons:
            values = self._chosen(shape, low, high)
            return self._aimed(values, bounds, column, span, distinct=True)
        distinct = unique or any(bound.distinct for bound in bounds)
        values = integers(self.rng, shape, low, high, distinct)
        if span.scaled:
            values = _scaled(self.rng, shape, low, high)
        if any(bound.nonzero for bound in bounds):
            values = np.where(values == 0, 1, values)
        if self.assumption.comparisons and not unique:
            allowed = self._allowed(range(-64, 1025)) or self._allowed(_around(least))
            allowed = allowed or self._allowed(_around(most)) or [0]
            values = _nearest(values, np.array(allowed, np.int64))
        return self._aimed(values, bounds, column, span, distinct=distinct)

    def _aimed(
        self,
        values: np.ndarray,
        bounds: Bounds,
        column: int | None,
        span: "Span",
        *,
        distinct: bool = False,
        shift: int = 0,
    ) -> np.ndarray:
        """Return values, of which some are landmarks, or landmarks less ``shift``."""
        turn = self.number + (0 if self.aims is None else self.aims.turn)
        few = values.size < FEW_ELEMENTS
        if self.aims is None or not values.size or (few and turn % 3 == 2 and not self.every):
            return values
        bold = not self.every and (turn % 6 == 3 if few else turn % 4 == 1)
        least, most = int(self.dtype.min), int(self.dtype.max)
        nonzero = any(bound.nonzero for bound in bounds)
        marks = (
            ((column, label), n - at)
            for label, n in self._landmarks(bounds, column, span.whole)
            for at in ((0, shift) if shift else (0,))
            if least <= n - at <= most
            and not (nonzero and n == at)
            and span.takes(n - at, bold)
            and self.assumption.allows(n - at, self.own)
        )
        chosen = self.aims.dealer.deal(marks, max(1, values.size // 4))
        moduli = [i[1] - i[0] + 1 for b in bounds if b.distinct and (i := b.interval(self.sizes))]
        period = max(moduli[0] // 2, 1) if moduli and bounds else 0
        flat = values.reshape(-1).copy()
        used: set[int] = set()
        places = self.rng.permutation(flat.size)
        for place, number in zip(places, chosen, strict=False):
            same = np.flatnonzero(_place(flat, period) == _place(np.array(number), period))
            at = int(same[0]) if distinct and same.size else int(place)
            if at not in used:
                flat[at] = number if number <= _INT64.max else number - (1 << 64)
                used.add(at)
        return flat.reshape(values.shape)

    def _landmarks(self, bounds: Bounds, column: int | None, whole: bool) -> Iterator[Landmark]:
        assert self.aims is not None
        also = self.aims.also.get(None, frozenset()) | self.aims.also.get(column, frozenset())
        shown = {name: size for name, size in self.sizes.items() if "(" not in name}
        decisive = 3 * len(self.aims.near)
        numbers, of_type = self.aims.integers, ends(self.dtype) if whole else ()
        yield from chain(positions(bounds | also, shown), numbers[:decisive], of_type)
        yield from chain(numbers[decisive:], beside(shown))

    def _allowed(self, numbers: range) -> list[int]:
        top = _INT64.max
        return [n for n in numbers if n <= top and self.assumption.allows(n, self.own)]

    def _chosen(self, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
        """Return allowed numbers: all different if there are enough."""
        count = int(np.prod(shape))
        numbers = self._allowed(range(low, min(high, low + _SPAN) + 1))
        if len(numbers) < count:
            numbers = self._allowed(range(low, low + _SPAN))
        if len(numbers) < count:
            return np.zeros(shape, np.int64)
        return self.rng.permutation(np.array(numbers, np.int64))[:count].reshape(shape)

    def _range(self, bounds: Bounds) -> "Span":
        """Return the least and the greatest integer to draw."""
        whole = bool(bounds) and all(bound.whole for bound in bounds) and self.limit >= FREE
        ranges = [r for bound in bounds if (r := bound.interval(self.sizes)) is not None]
        low_bits, high_bits = int(self.dtype.min), min(int(self.dtype.max), int(_INT64.max))
        scaled, least_of_all = False, None
        if ranges:
            low, high = max(r[0] for r in ranges), min(r[1] for r in ranges)
            least_of_all = low
            if self.rng.random() < 0.75:
                low = max(low, min(0, high))
        elif whole and (kind := self.rng.random()) < 0.7:
            low, high, scaled = low_bits, high_bits, kind < 0.25
        else:
            high = int(self.rng.choice([1, 7, 7, 30, 255]))
            low = -2 if self.rng.random() < 0.1 else 0
        low, high = max(low, low_bits), min(high, high_bits)
        if not whole:
            low, high = max(low, -self.limit), min(high, self.limit - 1)
        least, most = self.assumption.interval(self.own)
        low = int(min(max(low, least), high_bits))
        if most < high:
            high = int(max(most, low_bits))
            low = min(low, high)
        below = low if least_of_all is None else min(low, least_of_all)
        return Span(low, max(low, high), below, bool(ranges), whole, scaled, self.limit)


@dataclass(frozen=True)
class Span:
    """The integers of a draw: from `low` to `high`, in other draws from `least` on.

    If `known`, they follow from the uses of the input. If `whole`, any number of the type may be
    drawn; if `scaled`, all magnitudes are.
    """

    low: int
    high: int
    least: int
    known: bool
    whole: bool = False
    scaled: bool = False
    limit: int = FREE

    def takes(self, number: int, bold: bool) -> bool:
        """Return whether a number may be hit: outside of known bounds only if ``bold``."""
        if self.whole or self.low <= number <= self.high:
            return True
        if self.least <= number < self.low or not -self.limit <= number < self.limit:
            return False
        return (bold or not self.known) and abs(number) < 1 << 31


def _place(values: np.ndarray, period: int) -> np.ndarray:
    """Return which elements of an axis of this length are meant; all numbers if it is 0."""
    return values % period if period else values


def _scaled(rng: np.random.Generator, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Return integers of all magnitudes."""
    bits = rng.integers(0, high.bit_length(), shape, endpoint=True)
    values = rng.integers(0, high, shape, endpoint=True) >> (high.bit_length() - bits)
    return np.where(rng.random(shape) < (0.5 if low < 0 else 0.0), -values, values)


def _nearest(values: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return for each value the nearest of some sorted numbers, and the lesser of two nearest.

    >>> _nearest(np.array([-7, 4, 5, 9]), np.array([2, 6]))
    array([2, 2, 6, 6])
    """
    after = numbers.searchsorted(values).clip(max=numbers.size - 1)
    before = (after - 1).clip(min=0)
    nearer = np.abs(values - numbers[before]) <= np.abs(numbers[after] - values)
    return np.asarray(np.where(nearer, numbers[before], numbers[after]))


def _around(edge: float) -> range:
    """Return the numbers near a bound; none if it is infinite."""
    if not _INT64.min < edge < _INT64.max:
        return range(0)
    return range(max(int(edge) - _SPAN, _INT64.min), min(int(edge) + _SPAN, _INT64.max))


def integers(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    low: int,
    high: int,
    distinct: bool,
) -> np.ndarray:
    """Return integers from low to high. If ``distinct``, they are different, if possible."""
    count = int(np.prod(shape))
    span = high - low + 1
    choice = rng.random()
    if count <= span and count > 1 and choice < 0.3:
        return np.arange(count).reshape(shape) + rng.integers(low, high - count + 2)
    if distinct and count <= span <= 1 << 20:
        return rng.permutation(span)[:count].reshape(shape) + low
    if distinct and shape and shape[-1] <= span <= 1 << 12:  # distinct in every row at least
        rows = rng.random((*shape[:-1], span)).argsort(axis=-1)
        return np.asarray(rows[..., : shape[-1]] + low)
    if choice > 0.95:
        low = high = int(rng.integers(low, high, endpoint=True))
    return rng.integers(low, high, size=shape, endpoint=True)
