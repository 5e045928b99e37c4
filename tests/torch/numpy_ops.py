"""The operations that writes are made of, computed with NumPy; some sizes are not known before."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onnx_scatterx.torch.ops import Ops


class Value:
    """A tensor, or a number of the run."""

    def __init__(self, array: Any) -> None:
        self.array: NDArray[Any] = np.asarray(array)


class NumPy(Ops):
    """With ``dynamic``, no size is an int; with ``facts``, comparisons of sizes are known."""

    def __init__(self, dynamic: bool, facts: bool = True, fixed: bool = True) -> None:
        super().__init__()
        self.dynamic, self.facts, self.fixed = dynamic, facts, fixed
        self.learnt: set[tuple[Any, Any]] = set()
        self.operators: list[str] = []

    def made(self, name: str, array: Any) -> Any:
        self.operators.append(name)
        return Value(array)

    def size(self, x: Any, dim: int) -> Any:
        size = x.array.shape[dim]
        return Value(size) if self.dynamic else size

    def rank(self, x: Any) -> int:
        return int(x.array.ndim)

    def is_bool(self, x: Any) -> bool:
        return bool(x.array.dtype == np.bool_)

    def number(self, name: str, *args: Any) -> Any:
        functions: dict[str, Any] = {"max": max, "ite": lambda c, a, b: a if c else b}
        function = functions.get(name) or getattr(operator, name)
        return Value(function(*[number(arg) for arg in args]))

    def known(self, a: Any, b: Any) -> bool:
        return self.facts and number(a) <= number(b)

    def fits(self, new: Any, x: Any) -> bool:
        return bool(new.array.shape == x.array.shape)

    def slice(self, x: Any, dim: int, lo: Any, hi: Any, step: int = 1) -> Any:
        n = x.array.shape[dim]
        assert 0 <= number(lo) <= n, "a start is in the tensor"
        assert number(lo) <= number(hi) <= n or step > 1, "an end is after the start"
        at = (slice(None),) * dim + (slice(number(lo), number(hi), step),)
        return self.made("slice", x.array[at])

    def cat(self, parts: Sequence[Any], dim: int) -> Any:
        return self.made("cat", np.concatenate([part.array for part in parts], dim))

    def unsqueeze(self, x: Any, dim: int) -> Any:
        return self.made("unsqueeze", np.expand_dims(x.array, dim))

    def permute(self, x: Any, axes: Sequence[int]) -> Any:
        return self.made("permute", x.array.transpose(axes))

    def view(self, x: Any, sizes: Sequence[Any]) -> Any:
        return self.made("view", x.array.reshape([number(size) for size in sizes]))

    def expand(self, x: Any, sizes: Sequence[Any]) -> Any:
        return self.made("expand", np.broadcast_to(x.array, [number(size) for size in sizes]))

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        assert condition.array.dtype == np.bool_
        return self.made("where", np.where(condition.array, x.array, y.array))

    def arange(self, start: int, stop: Any, like: Any) -> Any:
        return self.made("arange", np.arange(start, number(stop)))

    def take(self, x: Any, dim: int, index: Any) -> Any:
        assert index.array.size == 0 or index.array.min() >= 0, "no index is negative"
        return self.made("take", x.array.take(index.array, dim))

    def calc(self, name: str, x: Any, y: Any) -> Any:
        names = {"sub": "subtract", "mul": "multiply", "min": "minimum", "eq": "equal"}
        names |= {"ge": "greater_equal", "lt": "less"}
        function = getattr(np, names.get(name, name))
        return self.made(name, function(x.array, y.array if isinstance(y, Value) else y))

    def cumsum(self, mask: Any) -> Any:
        return self.made("cumsum", np.cumsum(mask.array))

    def largest(self, x: Any) -> Any:
        return self.made("largest", x.array.max(-1))

    def cast(self, x: Any, like: Any) -> Any:
        return x if x.array.dtype == like.array.dtype else Value(x.array.astype(like.array.dtype))

    def same(self, x: Any) -> Any:
        return Value(x.array)

    def line(self, index: Any, dim: int) -> list[int] | None:
        if not self.fixed or not index.array.size:
            return None
        rows = np.moveaxis(index.array, dim, -1).reshape(-1, index.array.shape[dim])
        return [int(i) for i in rows[0]] if (rows == rows[0]).all() else None

    def full(self, number: float, like: Any) -> Any:
        return self.made("full", np.asarray(number, like.array.dtype))

    def constant(self, elements: list[int]) -> Any:
        return self.made("constant", np.array(elements, np.int64))


def number(value: Any) -> int:
    return value if isinstance(value, int) else int(value.array)
