"""Random arguments of a framework's call, the same on every machine and with every NumPy.

The golden vectors hold only what the framework answers; what it was asked is drawn again.
"""

from collections.abc import Sequence
from typing import Any, TypeVar
from zlib import crc32

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
T = TypeVar("T")

FLOATS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.5, 3.0, -7.0, 6e4, np.nan, np.inf, -np.inf]
FINITE = FLOATS[:9]  # their sums and products are exact in every float type, for a few factors
# The golden files hold places in this table: it grows at its end.
BY_NAME: dict[str, np.dtype[Any]] = {
    **{
        name: np.dtype(name)
        for name in (
            *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
            *("float16", "float32", "float64", "complex64"),
        )
    },
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}


class Draws:
    """The choices of one case. The stream of ``RandomState`` is frozen by NumPy.

    >>> d = Draws("scatter", 7)
    >>> d.shape(2, 3), d.integer(0, 9), d.values((2,), "int8")
    ((2, 1), 2, array([0, 2], dtype=int8))
    """

    def __init__(self, call: str, number: int) -> None:
        self.random = np.random.RandomState(crc32(f"{call} {number}".encode()))

    def integer(self, low: int, high: int) -> int:
        """Draw from low to high, both included."""
        return int(self.random.randint(low, high + 1, dtype=np.int64))

    def chance(self, one_in: int) -> bool:
        return self.integer(1, one_in) == 1

    def choice(self, choices: Sequence[T]) -> T:
        return choices[self.integer(0, len(choices) - 1)]

    def shape(self, low: int, high: int, largest: int = 4) -> tuple[int, ...]:
        """Draw a shape of a rank from low to high; about one extent in ten is 0."""
        return tuple(self.extent(largest) for _ in range(self.integer(low, high)))

    def extent(self, largest: int = 4) -> int:
        return 0 if self.chance(12) else self.integer(1, largest)

    def other(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Draw a shape that is a little wrong: one extent more or less, one dim more or less."""
        wrong = list(shape)
        match self.integer(0, 3) if wrong else 0:
            case 0:
                wrong.insert(self.integer(0, len(wrong)), self.integer(1, 2))
            case 1:
                del wrong[self.integer(0, len(wrong) - 1)]
            case _:
                wrong[self.integer(0, len(wrong) - 1)] += 1
        return tuple(wrong)

    def axis(self, rank: int) -> int:
        """Draw an axis, counted from either end; now and then one that there is not."""
        if self.chance(12):
            return self.choice([rank, -rank - 1])
        return self.integer(-rank, rank - 1) if rank else self.choice([0, -1])

    def values(
        self, shape: Sequence[int], dtype: str, pool: Sequence[float] | None = None
    ) -> Array:
        """Draw numbers of a dtype, from a pool if one is given.

        Otherwise small integers, bools, and floats with the values that make trouble in half of the
        arrays.
        """
        kind, count = BY_NAME[dtype], int(np.prod(shape, dtype=np.int64))
        if pool is None and kind.kind in "fcV":
            pool = self.choice([FLOATS, FINITE])
        if pool is not None:
            picked = [pool[i] for i in self.random.randint(0, len(pool), count, np.int64)]
            return np.array(picked, np.float64).astype(kind).reshape(tuple(shape))
        low, high = (0, 1) if dtype == "bool" else (0 if kind.kind == "u" else -4, 5)
        return (
            self.random.randint(low, high + 1, count, np.int64).astype(kind).reshape(tuple(shape))
        )

    def indices(
        self,
        shape: Sequence[int],
        sizes: Any,
        dtype: str = "int64",
        *,
        negative: bool = False,
        wrong: int = 10,
    ) -> Array:
        """Draw indices of axes of these sizes, which broadcast to the shape.

        ``negative`` counts some of them from the end. In one array of ``wrong`` (never, if 0) one
        index is just outside; where a size is 0, all are.
        """
        count = int(np.prod(shape, dtype=np.int64))
        most = np.broadcast_to(np.asarray(sizes, np.int64), tuple(shape)).reshape(-1)
        raw = self.random.randint(0, 2**31 - 1, count, np.int64)
        indices = raw % np.maximum(most, 1)
        if negative:
            indices -= np.where(self.random.randint(0, 3, count, np.int64) == 0, most, 0)
        if count and wrong and self.chance(wrong):
            at = self.integer(0, count - 1)
            indices[at] = self.choice([most[at], -most[at] - 1, -1, most[at] + 3])
        return indices.astype(BY_NAME[dtype]).reshape(tuple(shape))

    def distinct(self, shape: Sequence[int], axis: int, size: int) -> Array:
        """Draw int64 indices below size that do not repeat along an axis; size must suffice."""
        order = self.random.rand(*shape[:axis], size, *shape[axis + 1 :]).argsort(axis=axis)
        taken = order[(slice(None),) * axis + (slice(shape[axis]),)]
        return np.ascontiguousarray(taken.astype(np.int64))
