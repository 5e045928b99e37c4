"""The operations that the rules of this folder write, for any kind of graph.

`fx.Fx` writes them into an ExportedProgram; the tests compute them with NumPy. A number is an int,
or a value of the graph that is known only at run time. Methods here add and compare numbers: they
write a node only if the result is not known. A rule chooses by a
comparison only if the comparison is known, so no guard is added.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from onnx_scatterx.torch.rows import Piece

Number = Any
Tensor = Any


class Ops(Protocol):
    """Writes operations; a tensor is a value of the graph."""

    sums: dict[Number, tuple[Number, Number]]
    rows: dict[Tensor, tuple[int, list[Piece]]]  # a written tensor's axis, and its parts along it

    def __init__(self) -> None:
        self.sums, self.rows = {}, {}

    def size(self, x: Tensor, dim: int) -> Number: ...
    def rank(self, x: Tensor) -> int: ...
    def is_bool(self, x: Tensor) -> bool: ...
    def number(self, name: str, *args: Number) -> Number:
        """Return "add", "sub", "mul", "max" or "lt" of two numbers, or "ite" of three."""

    def known(self, a: Number, b: Number) -> bool:
        """Return whether ``a <= b`` is known; at least one of the two is no int."""

    def fits(self, new: Tensor, x: Tensor) -> bool:
        """Return whether the shapes are known to be equal."""

    def learn(self, a: Number, b: Number) -> None:
        """Note that ``a <= b`` holds because the program runs; a graph with guards ignores it."""
        return

    # Tensors. `calc` is "add", "sub", "mul", "min", "fmod", "eq", "lt",
    # "ge" or "logical_and" of a tensor of integers or booleans, and such a tensor or a number.
    def slice(self, x: Tensor, dim: int, lo: Number, hi: Number, step: int = 1) -> Tensor: ...
    def cat(self, parts: Sequence[Tensor], dim: int) -> Tensor: ...
    def unsqueeze(self, x: Tensor, dim: int) -> Tensor: ...
    def permute(self, x: Tensor, axes: Sequence[int]) -> Tensor: ...
    def view(self, x: Tensor, sizes: Sequence[Number]) -> Tensor: ...
    def expand(self, x: Tensor, sizes: Sequence[Number]) -> Tensor | None:
        """Return the tensor broadcast to a shape; None if the tensor is not known to fit."""

    def where(self, condition: Tensor, x: Tensor, y: Tensor) -> Tensor: ...
    def arange(self, start: int, stop: Number, like: Tensor) -> Tensor: ...
    def take(self, x: Tensor, dim: int, index: Tensor) -> Tensor: ...
    def calc(self, name: str, x: Tensor, y: Tensor | Number) -> Tensor: ...
    def cumsum(self, mask: Tensor) -> Tensor: ...
    def largest(self, x: Tensor) -> Tensor:
        """Return the maxima over the last axis."""

    def cast(self, x: Tensor, like: Tensor) -> Tensor: ...
    def same(self, x: Tensor) -> Tensor:
        """Return the tensor; a graph that needs a new value for each result gets a new one."""

    def line(self, index: Tensor, dim: int) -> list[int] | None:
        """Return the elements along an axis of a constant; None if its rows differ."""
        return None

    def progression(self, index: Tensor) -> tuple[Number, int] | None:
        """Return start and step of an index that is an arange; None for any other index."""
        return None

    def constant(self, elements: list[int]) -> Tensor | None:
        """Return a vector."""
        return None

    def full(self, number: float, like: Tensor) -> Tensor:
        """Return a number as a tensor of rank 0."""
        raise AssertionError("asked only if numbers are known")

    def filled(self, x: Tensor) -> float | None:
        """Return the number that every element is; None if it is not known."""
        return None

    def pad(self, x: Tensor, dim: int, before: int, after: int, fill: float) -> Tensor:
        """Return a tensor with a number before and after it along an axis."""
        raise AssertionError("asked only if numbers are known")

    def unmasked(self, values: Tensor, mask: Tensor, x: Tensor) -> Tensor | None:
        """Return ``f(x)`` if the values are ``f(x[mask])``; otherwise None."""
        return None

    # Numbers.
    def holds(self, a: Number, b: Number) -> bool:
        """Return whether ``a <= b`` is known."""
        if isinstance(a, int) and isinstance(b, int):
            return a <= b
        return a is b or self.known(a, b)

    def add(self, a: Number, b: Number) -> Number:
        total = self._folded("add", operator.add, a, b)
        if not isinstance(total, int):
            self.sums[total] = (a, b)
        return total

    def sub(self, a: Number, b: Number) -> Number:
        left, right = self.sums.get(a, (None, None))
        if b is left or b is right:
            return right if b is left else left
        return 0 if a is b else self._folded("sub", operator.sub, a, b)

    def mul(self, a: Number, b: Number) -> Number:
        if isinstance(a, int) and not isinstance(b, int):
            a, b = b, a
        return a if isinstance(b, int) and b == 1 else self._folded("mul", operator.mul, a, b)

    def front(self, position: Number, n: Number) -> Number:
        """Return a position counted from the start: a negative one counts from the end."""
        if self.holds(0, position):
            return position
        from_end = self.add(n, position)
        if not self.holds(0, from_end):
            from_end = self.number("max", from_end, 0)
        if self.holds(position, -1):
            return from_end
        return self.number("ite", self.number("lt", position, 0), from_end, position)

    def sizes(self, x: Tensor) -> list[Number]:
        return [self.size(x, dim) for dim in range(self.rank(x))]

    def along(self, x: Tensor, dim: int, rank: int) -> Tensor:
        """Return a vector as a tensor of a rank that has the elements along an axis."""
        return x if dim == rank - 1 else self.view(x, [-1, *[1] * (rank - 1 - dim)])

    def _folded(self, name: str, compute: Any, a: Number, b: Number) -> Number:
        if isinstance(a, int) and isinstance(b, int):
            return compute(a, b)
        if isinstance(b, int) and b == 0 and name != "mul":
            return a
        if isinstance(a, int) and a == 0 and name == "add":
            return b
        return self.number(name, a, b)
