"""A term in numbers: its values over a grid of coordinates, if it has no size or element."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import numpy as np

from onnx_scatterx.optimizer.symbolic.atom import Atom, Interval
from onnx_scatterx.optimizer.symbolic.blocks import blocks
from onnx_scatterx.optimizer.symbolic.budget import budget
from onnx_scatterx.optimizer.symbolic.intervals import interval_of
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.polynomial import Term
from onnx_scatterx.optimizer.symbolic.prices import PRICES

_NARROW = 1 << 62


def tabulated(t: Term, extents: Mapping[int, int]) -> np.ndarray:
    """Return a term's values over coordinates of these extents, a dim for each, in their order.

    They are int64, and must not be written to. Raises OverflowError if a value overflows int64, or
    if an intermediate result does and the values are many; AssertionError if the term has a
    run-time number.

    >>> from onnx_scatterx.optimizer.symbolic.terms import coord, step
    >>> tabulated(3 * coord(0) + coord(1), {1: 2, 0: 3}).tolist()
    [[0, 3, 6], [1, 4, 7]]
    >>> tabulated(step(2**63 * coord(0) - 1), {0: 3}).tolist()
    [0, 1, 1]
    """
    shape = tuple(extents.values())
    steps = PRICES.table + t.weight + math.prod(shape) * t.weight // PRICES.tabulated
    budget().work(steps)
    if _is_narrow(t, extents):
        return np.broadcast_to(_in_blocks(t, tuple(extents), shape), shape)
    if math.prod(shape) > LIMITS.exact_values:
        raise OverflowError(f"{t} at {math.prod(shape)} places")
    found = np.empty(shape, np.int64)
    for index in np.ndindex(shape):  # Python's numbers do not wrap
        found[index] = t.evaluate(_no_leaf, dict(zip(extents, index, strict=True)).__getitem__)
    return found


def _in_blocks(t: Term, dims: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    """Return a term's values, with an extent of 1 along each coordinate that it does not have."""
    kept = tuple(n if d in t.coords else min(n, 1) for d, n in zip(dims, shape, strict=True))
    found = np.empty(kept, np.int64)
    for index in blocks(kept):
        grid = dict(zip(dims, np.ogrid[index], strict=True))
        found[index] = t.evaluate(_no_leaf, grid.__getitem__)
    return found


def _is_narrow(t: Term, extents: Mapping[int, int]) -> bool:
    """Return whether 64 bits hold all comparisons and divisions in the evaluation of a term."""

    @functools.cache
    def bounds(atom: Atom) -> Interval:
        low, high = atom.interval(lambda each: interval_of(each, bounds))
        return low, min(high, extents[atom.dim] - 1) if atom.dim in extents else high

    terms = [t, *(part for atom in t.all_atoms() for part in atom.parts)]
    return all(max(map(abs, interval_of(each, bounds))) < _NARROW for each in terms)


def _no_leaf(leaf: object, parts: object) -> int:
    raise AssertionError(f"{leaf} has no value")
