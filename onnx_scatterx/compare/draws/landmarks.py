"""The values that draws hit on purpose, at the sizes of a draw, the most telling ones first.

position    the first, the last and the last but one position of an axis, from either end
constant    a number at which one of the models decides, and the numbers beside it
size        a size of the draw, and the numbers beside it
type        the ends of the type, and those of the types that an integer may be cast to
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from math import floor
from typing import TypeVar

import ml_dtypes
import numpy as np
import onnx_ir as ir

from onnx_scatterx.compare.draws.constants import Number
from onnx_scatterx.compare.draws.index_bounds import Bounds, IndexConstraints

Label = Hashable
Landmark = tuple[Label, int]
"""A value and what it is, at any sizes."""

N = TypeVar("N", int, float)
"""An element of an input."""

_BESIDE = (0, 1, -1)
_CASTS = tuple(
    sign * (1 << bits) + step
    for bits in (31, 32, 16, 15, 8, 7, 24, 53)
    for sign, step in ((1, 0), (1, -1), (-1, 0), (-1, -1))
)
_HALVES = (65504.0, 65520.0, 2.0**31, 2.0**24 + 2, 3.5e38, 1e300, -1e300, 0.5, 1.5, 2.5, -0.5)
_HUGE = 1 << 1023  # from here on, a number may not fit into a float
_MODERATE = 1e5  # a sum with a larger number loses small ones


def positions(bounds: Bounds, sizes: Mapping[str, int]) -> Iterator[Landmark]:
    """Yield the ends of all indexed axes, and the last starts of slices as long as each size."""
    intervals = [(b, i) for b in sorted(bounds, key=repr) if (i := b.interval(sizes)) is not None]
    for near in range(2):
        for bound, (low, high) in intervals:
            zero = -bound.offset
            yield (bound, "last", near), high - near
            yield (bound, "first", near), zero + near
            if bound.signed:
                yield (bound, "negative", near), zero - 1 - near
                yield (bound, "least", near), low + near
    for bound, (_, high) in intervals:
        for name, size in sizes.items():
            yield (bound, "before", name), high + 1 - size


def constants(numbers: Iterable[Number]) -> Iterator[Landmark]:
    """Yield integers at and beside numbers.

    >>> from fractions import Fraction
    >>> [value for _, value in constants([7, Fraction(5, 2)])]
    [7, 8, 6, 2, 3]
    """
    for number in numbers:
        near = floor(number)
        for step in _BESIDE if number == near else (0, 1):
            yield ("constant", near + step), near + step


@cache
def ends(dtype: ir.DataType) -> tuple[Landmark, ...]:
    """Return the ends of an integer type, and those of narrower types."""
    low, high = int(dtype.min), int(dtype.max)
    values = (high, low, high - 1, low + 1, *_CASTS)
    return tuple((("type", value), value) for value in values if low <= value <= high)


def beside(sizes: Mapping[str, int]) -> Iterator[Landmark]:
    """Yield the sizes of a draw, and the numbers beside them."""
    for name, size in sizes.items():
        for step in _BESIDE:
            yield ("size", name, step), size + step


@lru_cache(maxsize=64)
def floats_near(
    near: tuple[Number, ...], others: tuple[Number, ...], dtype: np.dtype
) -> list[float]:
    """Return floats at, beside and between numbers, and those at which casts change.

    ``near`` are numbers at which a model decides about these floats, ``others`` are all constants.

    >>> floats_near((1, 3), (), np.dtype("float16"))[:7]
    [1.0, 1.0009765625, 0.99951171875, 3.0, 3.001953125, 2.998046875, 2.0]
    """
    most = np.array(ml_dtypes.finfo(dtype).max, dtype)  # type: ignore[no-untyped-call]
    found: dict[float, None] = {}

    def add(numbers: Iterable[float]) -> None:
        array = np.array(list(numbers), np.float64).astype(dtype)
        for step in np.stack([array, np.nextafter(array, most), np.nextafter(array, -most)], -1):
            found.update(dict.fromkeys(float(n) for n in step if np.isfinite(float(n))))

    with np.errstate(all="ignore"):
        add(_floats(near))
        ordered = sorted(_floats(near))
        between = (low / 2 + high / 2 for low, high in pairwise(ordered))
        found.update((float(n), None) for n in np.array([*between], np.float64).astype(dtype))
        add(_floats(others))
        found.update((float(n), None) for n in np.array(_HALVES).astype(dtype))
    return [n for n in found if np.isfinite(n)]


def moderate(numbers: Iterable[float]) -> list[float]:
    """Return the numbers beside which ordinary ones are not lost in a sum."""
    return [n for n in numbers if abs(n) <= _MODERATE]


def _floats(numbers: Iterable[Number]) -> list[float]:
    return [float(n) for n in numbers if -_HUGE < n < _HUGE]


@dataclass
class Dealer:
    """Deals the landmarks of an input: in each draw those that were dealt least.

    A landmark that was refused twice and never accepted is dealt no more. After a refusal, fewer
    are dealt at once, so that the one that was refused is found.
    """

    dealt: dict[Label, int] = field(default_factory=dict)
    accepted: set[Label] = field(default_factory=set)
    refused: dict[Label, int] = field(default_factory=dict)
    most: int = 1 << 10
    _last: list[Label] = field(default_factory=list)

    def deal(self, landmarks: Iterable[tuple[Label, N]], count: int) -> list[N]:
        """Return the values of at most ``count`` landmarks that were dealt least."""
        known: dict[N, Label] = {}
        for label, value in landmarks:
            if self.refused.get(label, 0) < 2 or label in self.accepted:
                known.setdefault(value, label)
        order = sorted(known.items(), key=lambda item: self.dealt.get(item[1], 0))
        chosen = order[: min(count, self.most)]
        for _, label in chosen:
            self.dealt[label] = self.dealt.get(label, 0) + 1
        self._last += [label for _, label in chosen]
        return [value for value, _ in chosen]

    def taken(self) -> frozenset[Label]:
        """Return what was dealt since the last call."""
        taken, self._last = frozenset(self._last), []
        return taken

    def tell(self, labels: frozenset[Label], accepted: bool) -> None:
        """Learn whether the model accepted a draw with these landmarks."""
        for label in labels:
            if accepted:
                self.accepted.add(label)
            else:
                self.refused[label] = self.refused.get(label, 0) + 1
        self.most = 2 * self.most if accepted else max(1, min(self.most, len(labels)) // 4)


@dataclass(frozen=True)
class Aims:
    """What the draws of one input hit on purpose, beside the ends of its ranges.

    ``near`` are the numbers at which the models decide about this input, ``others`` are all small
    constants, and ``words`` are the strings of the models. ``also`` are the constraints of the
    second model. ``turn`` is the place of the input among all, so that inputs of one element do not
    get the same value in the same draw.
    """

    near: tuple[Number, ...] = ()
    others: tuple[Number, ...] = ()
    words: tuple[str, ...] = ()
    also: IndexConstraints = field(default_factory=dict)
    turn: int = 0
    dealer: Dealer = field(default_factory=Dealer)

    @cached_property
    def integers(self) -> tuple[Landmark, ...]:
        """The integers at and beside the numbers, those that decide first."""
        return tuple(constants((*self.near, *self.others)))
