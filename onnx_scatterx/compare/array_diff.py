"""Compares two arrays, bit for bit or with a tolerance; any NaN equals any NaN."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from onnx_scatterx.errors import VerifyError

Kind = Literal["values", "rounding", "zero sign", "shape", "dtype", "missing", "failed"]

# By bytes of an element: the tolerance (rtol, atol) within which a difference is "rounding".
_CLOSE = {8: (1e-12, 1e-14), 4: (1e-5, 1e-6), 2: (1e-2, 1e-3), 1: (0.0, 0.0)}


@dataclass(frozen=True)
class Tolerance:
    """How far a float may be off: by `atol + rtol * abs(before)`.

    Infinities, and elements of other types, are compared exactly. Raises VerifyError about a
    number that is negative or not finite.

    >>> str(Tolerance(rtol=1e-3))
    'rtol = 0.001, atol = 0'
    """

    rtol: float = 0.0
    atol: float = 0.0

    def __post_init__(self) -> None:
        for name, number in (("rtol", self.rtol), ("atol", self.atol)):
            if not 0 <= number < math.inf:
                raise VerifyError(f"{name} must be a finite number from 0 on, not {number:g}")

    def __str__(self) -> str:
        return f"rtol = {self.rtol:g}, atol = {self.atol:g}"

    def allows(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Return which elements of two arrays of floats of one shape are near enough.

        >>> Tolerance(atol=0.5).allows(np.array([1.0, np.inf]), np.array([1.5, 1.0])).tolist()
        [True, False]
        """
        one, other = _wide(before), _wide(after)
        with np.errstate(all="ignore"):
            near = np.abs(other - one) <= self.atol + self.rtol * np.abs(one)
        return np.asarray(near & np.isfinite(one) & np.isfinite(other))


@dataclass(frozen=True)
class ArrayDifference:
    """The difference of two arrays; the numbers are about the elements that differ."""

    kind: Kind
    before: object
    after: object
    index: tuple[int, ...] | None = None
    count: int = 0
    size: int = 0
    max_absolute: float | None = None
    max_relative: float | None = None


def compare(
    before: np.ndarray,
    after: np.ndarray,
    *,
    zeros: bool = False,
    tolerance: Tolerance | None = None,
) -> ArrayDifference | None:
    """Return the difference of two arrays; None if they are the same.

    With `zeros`, zeros of different signs are equal. With a `tolerance`, only elements that it
    does not allow are different.

    >>> compare(np.array([0.0, np.nan]), np.array([-0.0, np.nan]))
    ArrayDifference(kind='zero sign', before=0.0, after=-0.0, index=(0,), count=1, size=2,
                    max_absolute=0.0, max_relative=0.0)
    """
    if before.dtype != after.dtype:
        return ArrayDifference("dtype", str(before.dtype), str(after.dtype))
    if before.shape != after.shape:
        return ArrayDifference("shape", before.shape, after.shape)
    if before.dtype.name in ("int2", "int4", "uint2", "uint4"):  # NumPy knows them by name only
        before, after = before.astype(np.int8), after.astype(np.int8)
    if before.dtype.kind == "O" or before.dtype.kind in "iub":
        differ = np.asarray(before != after)
    else:
        differ = ~_same_bits(before, after)
        if zeros:
            differ &= ~_same_zeros(before, after)
        if tolerance is not None:
            differ &= ~tolerance.allows(before, after)
    if not differ.any():
        return None
    count = int(differ.sum())
    index = tuple(int(i) for i in np.unravel_index(int(differ.argmax()), differ.shape))
    kind: Kind = "values"
    largest = relative = None
    if before.dtype.kind != "O":
        one, other = _wide(before[differ]), _wide(after[differ])
        largest, relative = _distances(one, other)
        if before.dtype.kind not in "iub":
            kind = _kind(one, other, before.dtype.itemsize)
    return ArrayDifference(
        kind,
        _plain(before[index]),
        _plain(after[index]),
        index,
        count,
        before.size,
        largest,
        relative,
    )


def count_zero_signs(before: np.ndarray, after: np.ndarray) -> int:
    """Return how many elements are zeros of different signs in the two arrays.

    >>> count_zero_signs(np.array([0.0, 0.0, 1.0]), np.array([-0.0, 0.0, -1.0]))
    1
    """
    if before.shape != after.shape or before.dtype != after.dtype or before.dtype.kind in "iubO":
        return 0
    return int((_same_zeros(before, after) & ~_same_bits(before, after)).sum())


def _same_zeros(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    return np.asarray((before == 0) & (after == 0))


def _same_bits(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    size = before.dtype.itemsize
    if before.dtype.kind == "c":
        real = _same_bits(before.real, after.real)
        return np.asarray(real & _same_bits(before.imag, after.imag))
    bits = np.dtype(f"u{size}")
    one, other = np.ascontiguousarray(before), np.ascontiguousarray(after)
    equal = (one.view(bits) == other.view(bits)).reshape(before.shape)
    return np.asarray(equal | ((before != before) & (after != after)))


def _wide(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    if array.dtype.kind in "iu":
        return np.asarray(array.astype(object))  # exact: no int64 wraps
    return np.asarray(array.astype(np.float64))


def _distances(one: np.ndarray, other: np.ndarray) -> tuple[float | None, float | None]:
    """Return the largest absolute and relative distance of elements that are finite in both."""
    if one.dtype == object:
        gaps = [abs(int(p) - int(q)) for p, q in zip(one, other, strict=True)]
        return float(max(gaps)), float(
            max(g / max(1, abs(p)) for g, p in zip(gaps, one, strict=True))
        )
    finite = np.isfinite(one) & np.isfinite(other)
    if not finite.any():
        return None, None
    with np.errstate(all="ignore"):
        gaps = np.abs(one[finite] - other[finite])
        scale = np.maximum(np.abs(one[finite]), np.abs(other[finite]))
        return float(gaps.max()), float((gaps / np.where(scale == 0, 1, scale)).max())


def _kind(one: np.ndarray, other: np.ndarray, size: int) -> Kind:
    if ((one == 0) & (other == 0)).all():
        return "zero sign"
    rtol, atol = _CLOSE.get(size, _CLOSE[4])
    close = np.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True)
    zero_lost = ((one == 0) & (other == 0)).any()
    return "rounding" if close and not zero_lost else "values"


def _plain(value: object) -> object:
    """Return an element as a number or string of Python."""
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, (bool, int, float, str)) else str(value)
