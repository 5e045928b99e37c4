"""Draws random integers for an input, within the bounds of all operators that the input reaches.

Sometimes an integer equals a number with which the model compares.
"""

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.judges.verification.index_bounds import Bound, Bounds, IndexConstraints
from onnx_scatterx.judges.verification.sizes import FREE, Combination
from onnx_scatterx.optimizer.assumptions.assumption import Assumption
from onnx_scatterx.optimizer.assumptions.expressions import evaluate

_INT64 = np.iinfo(np.int64)
_SPAN = 4096  # how many numbers are tried to find allowed ones


@dataclass(frozen=True)
class IntegerSampler:
    """Draws the integers of one input at given sizes."""

    rng: np.random.Generator
    dtype: ir.DataType
    constraints: IndexConstraints
    compared_constants: tuple[int, ...]
    assumption: Assumption
    sizes: Combination  # the sizes of all inputs
    own: Combination  # the same sizes, by the names that this input declares
    limit: int  # of the absolute values

    def draw(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return integers in the range of their uses that satisfy the assumption."""
        common = self.constraints.get(None, frozenset())
        columns = sorted(position for position in self.constraints if position is not None)
        if not columns or not shape or shape[-1] <= columns[-1] or self.assumption.is_sorted:
            every = common.union(*self.constraints.values())
            values = self._within(shape, every)
            return np.sort(values, axis=-1) if shape and self.assumption.is_sorted else values
        asked = range(columns[-1] + 1)
        parts = [
            self._within(shape[:-1], common | self.constraints.get(j, frozenset())) for j in asked
        ]
        values = np.stack(parts, axis=-1)
        if shape[-1] > len(asked):
            rest = self._within((*shape[:-1], shape[-1] - len(asked)), common)
            values = np.concatenate([values, rest], axis=-1)
        return values

    def _within(self, shape: tuple[int, ...], bounds: Bounds) -> np.ndarray:
        low, high, known = self._range(bounds)
        contiguous = "contiguous" in self.assumption.properties
        unique = contiguous or bool(self.assumption.properties & {"unique", "increasing"})
        length = shape[-1] if contiguous and shape else int(np.prod(shape))
        least, most = self.assumption.interval(self.own)
        if unique and not known:
            high = int(min(max(high, low + length), max(most, low)))
        if contiguous and shape:
            end = min(int(self.dtype.max), int(_INT64.max)) + 1  # above all numbers of the type
            low = min(low, end - max(length, 1))
            last = max(low, min(high + 1, end) - max(length, 1))
            starts = self.rng.integers(low, last, (*shape[:-1], 1), endpoint=True)
            return np.asarray(starts + np.arange(length))
        if unique and self.assumption.comparisons:
            return self._chosen(shape, low, high)
        distinct = unique or any(bound.distinct for bound in bounds)
        values = integers(self.rng, shape, low, high, distinct)
        if any(bound.nonzero for bound in bounds):
            values = np.where(values == 0, 1, values)
        compared = [n for n in self.compared_constants if self.assumption.allows(n, self.own)]
        if compared and not unique and self.rng.random() < (0.15 if known else 0.4):
            values = np.where(
                self.rng.random(shape) < 0.3, self.rng.choice(compared, shape), values
            )
        if self.assumption.comparisons and not unique:
            allowed = self._allowed(range(-64, 1025)) or self._allowed(_around(least))
            allowed = allowed or self._allowed(_around(most)) or [0]
            values = _nearest(values, np.array(allowed, np.int64))
        return values

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

    def _range(self, bounds: Bounds) -> tuple[int, int, bool]:
        """Return the least and the greatest integer to draw, and whether they are known."""
        whole = bool(bounds) and all(bound.whole for bound in bounds) and self.limit >= FREE
        ranges = [r for bound in bounds if (r := _bounded(bound, self.sizes)) is not None]
        low_bits, high_bits = int(self.dtype.min), min(int(self.dtype.max), int(_INT64.max))
        if ranges:
            low, high = max(r[0] for r in ranges), min(r[1] for r in ranges)
            if self.rng.random() < 0.75:
                low = max(low, min(0, high))
        elif whole and self.rng.random() < 0.8:
            low, high = low_bits, high_bits
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
        return low, max(low, high), bool(ranges)


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


def _bounded(bound: Bound, sizes: Combination) -> tuple[int, int] | None:
    size = evaluate(bound.size, sizes)
    if size is None:
        return None
    low = -size if bound.signed else 0
    return low - bound.offset, size + bound.slack - 1 - bound.offset


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
