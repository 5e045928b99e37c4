"""A term in numbers: its values over a grid of coordinates, where no size or element is in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from onnx_scatterx.indexing.polynomial import Term


def tabulated(t: Term, extents: Mapping[int, int]) -> np.ndarray:
    """Return a term's values over coordinates of these extents, a dim for each, in their order.

    The array cannot be written to. Raises AssertionError where only the run knows a number of it.

    >>> from onnx_scatterx.indexing.terms import coord
    >>> tabulated(3 * coord(0) + coord(1), {1: 2, 0: 3}).tolist()
    [[0, 3, 6], [1, 4, 7]]
    """
    shape = tuple(extents.values())
    grid = dict(zip(extents, np.indices(shape, np.int64, sparse=True), strict=True))
    return np.broadcast_to(t.evaluate(_no_leaf, lambda d: grid[d]), shape)


def _no_leaf(leaf: object, parts: object) -> int:
    raise AssertionError(f"{leaf} has no value")
