"""Where the tensors of a node come from: its own, or those of a chain (``chains.py``)."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

EXTENTS = (0, 0, 1, 1, 2, 3)
INTEGERS = ("int64", "int32", "uint8", "int8", "int16", "uint16", "uint32", "uint64")
ANY = (*INTEGERS, "bool", "float32")
WRAPPING = ("int64", "int32")


@dataclass
class OneNode:
    """A node with its inputs; None is an input that is left out.

    The inputs at the places ``constant`` are constants; others are by chance.
    """

    inputs: list[np.ndarray | None]
    attributes: dict[str, Any] = field(default_factory=dict)
    outputs: int = 1
    constant: tuple[int, ...] = ()


Draw = Callable[["Draws"], OneNode]


class Draws:
    """A source of shapes and tensors for one node of an operator set.

    Here extents are 0 and 1 more often than not. A chain overrides what has a tensor of its own
    for: ``data`` and the methods behind it.
    """

    def __init__(self, rng: random.Random, opset: int, extents: Sequence[int] = EXTENTS) -> None:
        self.rng, self.opset, self.extents = rng, opset, extents

    def flag(self, chance: float = 0.5) -> bool:
        return self.rng.random() < chance

    def pick(self, *items: Any) -> Any:
        return self.rng.choice(items)

    def extent(self) -> int:
        return self.rng.choice(self.extents)

    def some(self) -> int:
        """Return an extent that is not 0."""
        return self.rng.choice([n for n in self.extents if n])

    def shape(self, low: int = 0, high: int = 4) -> list[int]:
        return [self.extent() for _ in range(self.rng.randint(low, high))]

    def axis(self, rank: int) -> int:
        return self.rng.randint(-rank, rank - 1) if rank else 0

    def some_axes(self, rank: int, low: int = 0) -> list[int]:
        count = self.rng.randint(min(low, rank), rank)
        return [d - self.pick(0, rank) for d in self.rng.sample(range(rank), count)]

    def floats(self, shape: list[int], dtype: str = "float32") -> np.ndarray:
        return self.ints(shape, -4, 4, dtype)

    def ints(
        self, shape: list[int], low: int = -2, high: int = 3, dtype: str = "int64"
    ) -> np.ndarray:
        count = int(np.prod(shape, dtype=int))
        numbers = np.array([self.rng.randint(low, high) for _ in range(count)], np.int64)
        return numbers.reshape(shape).astype(dtype)

    def any(self, shape: list[int], *dtypes: str) -> np.ndarray:
        dtype = self.pick(*(dtypes or ANY))
        return self.ints(shape, 0, 3, dtype) if dtype[0] in "ub" else self.ints(shape, dtype=dtype)

    def beside(self, shape: Sequence[int]) -> list[int]:
        """Return a shape that may be broadcast against another."""
        cut = list(shape[self.rng.randint(0, len(shape)) :] if self.flag(0.4) else shape)
        found = [self.pick(1, n, n) for n in cut]
        if self.flag(0.15):
            found = [self.extent() for _ in found]
        return [self.extent()] * self.flag(0.15) + found

    def data(self, *dtypes: str, low: int = 0, high: int = 4) -> np.ndarray:
        """Return a tensor of so many dims, of one of these types."""
        return self.any(self.shape(low, high), *dtypes)

    def second(self, x: np.ndarray, dtype: str = "") -> np.ndarray:
        """Return a tensor that may be broadcast against another, by default of its type."""
        return self.any(self.beside(x.shape), dtype or x.dtype.name)

    def beneath(self, x: np.ndarray, axis: int) -> np.ndarray:
        """Return a tensor that may be joined to another along an axis."""
        shape = list(x.shape)
        shape[axis] = self.extent()
        if self.flag(0.1):
            shape[self.axis(x.ndim)] = self.extent()
        return self.any(shape, x.dtype.name)

    def numbers(self, values: ArrayLike, dtype: str = "int64") -> np.ndarray:
        """Return sizes, bounds or one number, of this shape: these, or those of a chain."""
        return np.asarray(values).astype(dtype)

    def index(self, shape: list[int], low: int, high: int) -> np.ndarray:
        """Return indices of this shape, or of this many dims."""
        return self.ints(shape, low, high)

    def image(self, shape: list[int], dtype: str = "float32") -> np.ndarray:
        """Return an image of this shape, or one of a chain."""
        return self.any(shape, dtype)


def i64(values: ArrayLike) -> np.ndarray:
    return np.asarray(values, np.int64)


def f32(values: ArrayLike) -> np.ndarray:
    return np.asarray(values, np.float32)


def one(*dtypes: str, low: int = 0, outputs: int = 1, **attributes: Any) -> Draw:
    def draw(d: Draws) -> OneNode:
        return OneNode([d.data(*dtypes, low=low)], attributes, outputs)

    return draw


def with_axis(*dtypes: str, low: int = 1, outputs: int = 1) -> Draw:
    def draw(d: Draws) -> OneNode:
        x = d.data(*dtypes, low=low)
        return OneNode([x], {"axis": d.axis(x.ndim)} if d.flag(0.8) else {}, outputs)

    return draw
