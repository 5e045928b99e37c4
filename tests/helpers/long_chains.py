"""Long chains of writes of mixed kinds to one tensor, as exporters write them.

``dynamo`` has initializers and few nodes for an index; TorchScript has a Constant node for each
number, and expands and reshapes the updates. If sizes are symbolic, both compute rows from a Range.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import onnx

from tests.helpers.builder import Dims
from tests.helpers.chains import Chain

KINDS = (
    "rows",
    "last",
    "strided",
    "row",
    "column",
    "box",
    "mask",
    "place",
    "sum",
    "added",
    "copied",
    "turn",
)
"""The kinds of writes: see the methods of these names."""

H, W = 24, 16


class LongChain(Chain):
    """A chain whose updates are computed from other inputs."""

    def __init__(self, seed: int, style: str, *, dynamic: bool) -> None:
        sizes: Dims = ("H", "W") if dynamic else (H, W)
        super().__init__(random.Random(seed), sizes, style)
        self.dynamic, self.turned_round = dynamic, False
        u, m = self.input("float32", sizes, "u"), self.input("bool", sizes, "m")
        self.sources = [(x, self.turned(x)) for x in (u, m)]

    @property
    def size(self) -> int:
        """How many rows the value has, if sizes are known."""
        return W if self.turned_round else H

    def source(self, number: int = 0) -> str:
        """Return what updates are computed from, or the mask, in the present order of axes."""
        return self.sources[number][self.turned_round]

    def fresh(self, part: str) -> str:
        """Return new elements that an elementwise operator computes."""
        return self.node(self.rng.choice(["Neg", "Sin", "Abs"]), part)

    def span(self, start: int, end: int, step: int = 1, axis: int = 0) -> str:
        """Return the positions of a slice of an axis: a constant, or a slice of a Range."""
        if self.dynamic:
            return self.slice(self.every(axis), 0, start, end, step)
        extent = self.size if axis == 0 else H + W - self.size
        return self.constant(range(extent)[start:end:step])

    def taken(self, at: object, axis: int = 0) -> str:
        return self.node("Gather", self.source(), self.constant(at), axis=axis)

    def scatter(self, indices: str, updates: str, reduction: str = "none") -> None:
        """Write, with the shape that TorchScript gives to updates."""
        if self.style == "torchscript":
            shape = self.node("Shape", updates)
            updates = self.node("Reshape", self.node("Expand", updates, shape), shape)
        super().scatter(indices, updates, reduction)

    def _slice(self, start: int, end: int, step: int = 1, reduction: str = "none") -> None:
        rows = self.upright(self.span(start, end, step))
        new = self.fresh(self.slice(self.source(), 0, start, end, step))
        self.scatter(rows, new, reduction)

    def rows(self) -> None:
        """``y[a:b] = u[a:b]``."""
        start = self.rng.randrange(10)
        self._slice(start, start + self.rng.randint(1, 5))

    def last(self) -> None:
        """``y[-a:-b] = u[-a:-b]``."""
        end = self.rng.randint(1, 5)
        self._slice(-end - self.rng.randint(1, 3), -end)

    def strided(self) -> None:
        """``y[a::2] = u[a::2]``."""
        self._slice(self.rng.randrange(2), 1 << 40, 2)

    def sum(self) -> None:
        """``y[a:b] += u[a:b]`` by a scatter that adds."""
        start = self.rng.randrange(10)
        self._slice(start, start + self.rng.randint(1, 4), reduction="add")

    def row(self) -> None:
        """``y[a] = u[b]``, also counted from the end."""
        row, other = self.rng.randrange(-4, 8), self.rng.randrange(8)
        new = self.fresh(self.taken([other]))
        self.scatter(self.constant([[row]]), new)

    def column(self) -> None:
        """``y[:, a] = u[:, b]`` by a ScatterElements."""
        column, other = self.rng.randrange(-4, 8), self.rng.randrange(8)
        new = self.fresh(self.taken([other], axis=1))
        indices = self.node("Expand", self.constant(column), self.node("Shape", new))
        self.scatter_elements(1, indices, new)

    def box(self) -> None:
        """``y[a:b, c:-d] = u[a:b, c:-d]``."""
        start, left, right = (self.rng.randrange(4) for _ in range(3))
        end = start + self.rng.randint(1, 5)
        bounds = (left, -right - 1)
        new = self.slice(self.slice(self.source(), 0, start, end), 1, *bounds)
        indices = self.pairs(self.span(start, end), self.span(*bounds, axis=1))
        self.scatter(indices, self.fresh(new))

    def mask(self) -> None:
        """``y[m] = number``."""
        mask = self.source(1)
        points = self.turned(self.node("NonZero", mask))
        flat = self.cast(self.node("Reshape", mask, self.constant([-1])), "int64")
        number = self.constant(self.rng.randint(1, 9), "float32")
        self.scatter(points, self.node("Expand", number, self.node("ReduceSum", flat)))

    def place(self) -> None:
        """``y[argmax(...)] = u[a]``."""
        column, row = self.rng.randrange(6), self.rng.randrange(6)
        place = self.node("ArgMax", self.taken(column, axis=1), axis=0, keepdims=1)
        self.scatter(self.upright(place), self.fresh(self.taken([row])))

    def added(self) -> None:
        """``y[a:b] += u[c:d]`` by a read, an Add and a write."""
        start, other = self.rng.randrange(8), self.rng.randrange(8)
        end = start + self.rng.randint(1, 3)
        part = self.slice(self.source(), 0, other, other + end - start)
        total = self.node("Add", self.slice(self.value, 0, start, end), part)
        rows = self.upright(self.span(start, end))
        self.scatter(rows, total)

    def copied(self) -> None:
        """``y[a:b] = y[c:d]``."""
        start, other = self.rng.randrange(8), self.rng.randrange(8)
        count = self.rng.randint(1, 3)
        part = self.slice(self.value, 0, other, other + count)
        rows = self.upright(self.span(start, start + count))
        self.scatter(rows, part)

    def turn(self) -> None:
        """Go on with the transposed tensor."""
        self.value = self.turned(self.value)
        self.turned_round = not self.turned_round
        self.rows()


def long_chain(
    count: int, seed: int, style: str, *, dynamic: bool, kinds: Iterable[str] = KINDS
) -> onnx.ModelProto:
    """Return a model with so many writes, of kinds that are drawn."""
    chain = LongChain(seed, style, dynamic=dynamic)
    among = list(kinds)
    for _ in range(count):
        write: Callable[[], None] = getattr(chain, chain.rng.choice(among))
        write()
    return chain.model()
