"""Random inputs that a model is likely to accept and that show differences.

Floats are plain in some draws, and mixed with NaN, infinities, both zeros and denormals in others:
a model with NaN everywhere tests nothing. Integers are in the range of their uses (`bounds`).
"""

import math
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions.assumption import NOTHING, Assumption
from onnx_scatterx.assumptions.expressions import evaluate
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.verification.arrays import floats, integers, mask
from onnx_scatterx.verification.interface import Input
from onnx_scatterx.verification.operand_constraints import Bound, Bounds, IndexConstraints
from onnx_scatterx.verification.sizes import FREE, Combination

MOST_ELEMENTS = 1 << 28
"""How many elements all inputs may have together, for any declared dims."""

MOST_DIMS = 32 if np.lib.NumpyVersion(np.__version__) < "2.0.0" else 64
"""How many dims an array of NumPy can have."""

_INT64 = np.iinfo(np.int64)
_SPAN = 4096  # numbers that are tried for some that are allowed
_WORDS = ("", "a", "b", "scatter", "Größe", "0")


def limit_name(input_name: str) -> str:
    """Return the name of the pseudo-symbol that limits an integer input."""
    return f"limit({input_name})"


def rank_name(input_name: str) -> str:
    """Return the name of the pseudo-symbol for the rank of an input without a declared rank."""
    return f"rank({input_name})"


@dataclass(frozen=True)
class InputSampler:
    """Draws one input at given sizes."""

    source: Input
    demands: IndexConstraints
    compared_constants: tuple[int, ...] = ()
    """Numbers that the model compares with, such as the label -100."""
    assumption: Assumption = NOTHING
    independent: bool = False
    """Whether dims of the same name on different inputs may differ."""

    def __post_init__(self) -> None:
        if self.source.dtype is None or self.source.dtype in (
            ir.DataType.UNDEFINED,
            ir.DataType.COMPLEX64,
            ir.DataType.COMPLEX128,
        ):
            raise VerifyError(
                f"cannot draw input {self.source.name!r}: unsupported type "
                "(a sequence, an optional, a map or complex); give inputs with feeds="
            )
        dims = self.source.dims or ()
        if len(dims) > MOST_DIMS:
            raise VerifyError(
                f"input {self.source.name!r} has {len(dims)} dims, and {MOST_DIMS} are the most "
                "that NumPy can draw"
            )
        least = math.prod(dim for dim in dims if isinstance(dim, int))
        if least > MOST_ELEMENTS:
            raise VerifyError(
                f"input {self.source.name!r} of shape {list(dims)} has {least} elements or more, "
                f"and {MOST_ELEMENTS} are the most that are drawn; give inputs"
            )

    @property
    def symbols(self) -> tuple[str, ...]:
        """The dims of the input by name."""
        if self.source.dims is None:
            return tuple(f"{self.source.name}[{axis}]" for axis in range(4))
        names = self.source.symbols
        if not self.independent:
            return names
        mine = self.source.name
        return tuple(
            f"{name}@{mine}" if isinstance(dim, str) else name
            for name, dim in zip(names, self.source.dims, strict=True)
        )

    def own(self, sizes: Combination) -> Combination:
        """Return sizes by the names that the model has for them, as this input sees them."""
        if not self.independent:
            return sizes
        plain = {name.partition("@")[0]: n for name, n in sizes.items()}
        mine = {n: sizes[n] for n in self.symbols if n in sizes}
        return plain | {name.partition("@")[0]: n for name, n in mine.items()}

    @property
    def is_integer(self) -> bool:
        """Whether the input holds integers that may be used as indices."""
        dtype = self.source.dtype
        return dtype is not None and dtype.is_integer()

    def shape(self, sizes: Combination) -> tuple[int, ...] | None:
        """Return the input's shape; None if a declared dim would be negative."""
        if self.source.dims is None:
            return tuple(sizes[name] for name in self.symbols[: sizes[rank_name(self.source.name)]])
        shape = [
            dim if isinstance(dim, int) else evaluate(name, sizes)
            for dim, name in zip(self.source.dims, self.symbols, strict=True)
        ]
        if any(extent is None or extent < 0 for extent in shape):
            return None
        return tuple(extent or 0 for extent in shape)

    def draw(self, rng: np.random.Generator, sizes: Combination, flavour: str) -> np.ndarray:
        """Return an array for the input."""
        shape = self.shape(sizes)
        assert shape is not None
        dtype = self.source.dtype
        assert dtype is not None
        if dtype == ir.DataType.STRING:
            return np.asarray(rng.choice(np.array(_WORDS, dtype=object), size=shape), dtype=object)
        if dtype == ir.DataType.BOOL:
            return np.asarray(mask(rng, shape))
        if dtype.is_integer():
            return np.asarray(self._integers(rng, shape, sizes)).astype(dtype.numpy())
        with np.errstate(all="ignore"):
            return np.asarray(floats(rng, shape, flavour)).astype(dtype.numpy())

    def _integers(
        self, rng: np.random.Generator, shape: tuple[int, ...], sizes: Combination
    ) -> np.ndarray:
        common = self.demands.get(None, frozenset())
        columns = sorted(place for place in self.demands if place is not None)
        if not columns or not shape or shape[-1] <= columns[-1] or self.assumption.is_sorted:
            every = common.union(*self.demands.values())
            values = self._within(rng, shape, every, sizes)
            return np.sort(values, axis=-1) if shape and self.assumption.is_sorted else values
        asked = range(columns[-1] + 1)
        parts = [
            self._within(rng, shape[:-1], common | self.demands.get(j, frozenset()), sizes)
            for j in asked
        ]
        values = np.stack(parts, axis=-1)
        if shape[-1] > len(asked):
            rest = self._within(rng, (*shape[:-1], shape[-1] - len(asked)), common, sizes)
            values = np.concatenate([values, rest], axis=-1)
        return values

    def _within(
        self, rng: np.random.Generator, shape: tuple[int, ...], bounds: Bounds, sizes: Combination
    ) -> np.ndarray:
        low, high, known = self._range(rng, bounds, sizes)
        contiguous = "contiguous" in self.assumption.properties
        unique = contiguous or bool(self.assumption.properties & {"unique", "increasing"})
        length = shape[-1] if contiguous and shape else int(np.prod(shape))
        least, most = self.assumption.interval(self.own(sizes))
        if unique and not known:
            high = int(min(max(high, low + length), max(most, low)))
        if contiguous and shape:
            starts = rng.integers(low, max(low, high - length + 1), (*shape[:-1], 1), endpoint=True)
            return np.asarray(starts + np.arange(length))
        if unique and self.assumption.comparisons:
            return self._chosen(rng, shape, low, high, sizes)
        distinct = unique or any(bound.distinct for bound in bounds)
        values = integers(rng, shape, low, high, distinct)
        if any(bound.nonzero for bound in bounds):
            values = np.where(values == 0, 1, values)
        landmarks = [
            n for n in self.compared_constants if self.assumption.allows(n, self.own(sizes))
        ]
        if landmarks and not unique and rng.random() < (0.15 if known else 0.4):
            values = np.where(rng.random(shape) < 0.3, rng.choice(landmarks, shape), values)
        if self.assumption.comparisons and not unique:
            allowed = self._allowed(range(-64, 1025), sizes) or self._allowed(_around(least), sizes)
            allowed = allowed or self._allowed(_around(most), sizes) or [0]
            values = _nearest(values, np.array(allowed, np.int64))
        return values

    def _allowed(self, numbers: range, sizes: Combination) -> list[int]:
        own = self.own(sizes)
        return [n for n in numbers if n <= _INT64.max and self.assumption.allows(n, own)]

    def _chosen(
        self,
        rng: np.random.Generator,
        shape: tuple[int, ...],
        low: int,
        high: int,
        sizes: Combination,
    ) -> np.ndarray:
        """Return different numbers that are allowed, if there are enough."""
        count = int(np.prod(shape))
        numbers = self._allowed(range(low, min(high, low + _SPAN) + 1), sizes)
        if len(numbers) < count:
            numbers = self._allowed(range(low, low + _SPAN), sizes)
        if len(numbers) < count:
            return np.zeros(shape, np.int64)
        return rng.permutation(np.array(numbers, np.int64))[:count].reshape(shape)

    def _range(
        self, rng: np.random.Generator, bounds: Bounds, sizes: Combination
    ) -> tuple[int, int, bool]:
        """Return the least and the greatest integer to draw, and whether they are known."""
        ranges = [r for bound in bounds if (r := _bounded(bound, sizes)) is not None]
        limit = sizes.get(limit_name(self.source.name), FREE)
        if self.source.dtype is not None and self.source.dtype.bitwidth < 64:
            bits, signed = self.source.dtype.bitwidth, self.source.dtype.is_signed()
            span = 1 << bits
            low_bits, high_bits = (-(span // 2), span // 2 - 1) if signed else (0, span - 1)
        else:
            low_bits = _INT64.min if self.source.dtype != ir.DataType.UINT64 else 0
            high_bits = _INT64.max
        if ranges:
            low, high = max(r[0] for r in ranges), min(r[1] for r in ranges)
            if rng.random() < 0.75:
                low = max(low, min(0, high))
        else:
            high = int(rng.choice([1, 7, 7, 30, 255]))
            low = -2 if rng.random() < 0.1 else 0
        low, high = max(low, low_bits, -limit), min(high, high_bits, limit - 1)
        least, most = self.assumption.interval(self.own(sizes))
        low = int(min(max(low, least), high_bits))
        if most < high:
            high = int(max(most, low_bits))
            low = min(low, high)
        return low, max(low, high), bool(ranges)


def _nearest(values: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return for each value the nearest of some numbers in order, the lesser of two.

    >>> _nearest(np.array([-7, 4, 5, 9]), np.array([2, 6]))
    array([2, 2, 6, 6])
    """
    after = numbers.searchsorted(values).clip(max=numbers.size - 1)
    before = (after - 1).clip(min=0)
    nearer = np.abs(values - numbers[before]) <= np.abs(numbers[after] - values)
    return np.asarray(np.where(nearer, numbers[before], numbers[after]))


def _around(edge: float) -> range:
    """Return the numbers near a bound, if it is one."""
    if not _INT64.min < edge < _INT64.max:
        return range(0)
    return range(max(int(edge) - _SPAN, _INT64.min), min(int(edge) + _SPAN, _INT64.max))


def _bounded(bound: Bound, sizes: Combination) -> tuple[int, int] | None:
    size = evaluate(bound.size, sizes)
    if size is None:
        return None
    low = -size if bound.signed else 0
    return low - bound.offset, size + bound.slack - 1 - bound.offset
