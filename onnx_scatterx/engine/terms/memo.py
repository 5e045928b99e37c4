"""Results that are remembered, up to a limit that depends on nothing but their number."""

from __future__ import annotations

from typing import TypeVar

from onnx_scatterx.engine.budget import LIMITS

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V]):
    """A dict of at most ``LIMITS.remembered`` results: one more, and all others are forgotten.

    What is forgotten depends only on what was set before, and not on memory or time. A result that
    is computed anew is charged anew.

    >>> memo = Memo()
    >>> memo["a"] = 1
    >>> memo
    {'a': 1}
    """

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= LIMITS.remembered:
            self.clear()
        super().__setitem__(key, value)
