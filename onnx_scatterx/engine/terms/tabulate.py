"""A term in numbers over a grid of coordinates, and an array as one term over its coordinates.

Exporters write indices element by element: ``[[0, p[0]], [1, p[1]]]``. Its columns are lines:
``x0`` and ``p[x0]``. An array fits if its elements differ only in numbers, and those are a table
(or a line) over the coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from onnx_scatterx.engine.budget import LIMITS, NARROW, PRICES, budget
from onnx_scatterx.engine.terms.algebra import Term
from onnx_scatterx.engine.terms.blocks import blocks
from onnx_scatterx.engine.terms.monomial import is_narrow
from onnx_scatterx.engine.terms.symbols import Symbol, coord, lookup


def tabulated(t: Term, extents: Mapping[int, int]) -> np.ndarray:
    """Return a term's values over coordinates of these extents, a dim for each, in their order.

    They are int64, and must not be written to. Raises OverflowError if a value overflows int64, or
    if an intermediate result does and the values are many; AssertionError if the term has a
    run-time number.

    >>> from onnx_scatterx.engine.terms import coord, step
    >>> tabulated(3 * coord(0) + coord(1), {1: 2, 0: 3}).tolist()
    [[0, 3, 6], [1, 4, 7]]
    >>> tabulated(step(2**63 * coord(0) - 1), {0: 3}).tolist()
    [0, 1, 1]
    """
    shape = tuple(extents.values())
    steps = PRICES.table + t.weight + math.prod(shape) * t.weight // PRICES.tabulated
    budget().charge_part(steps)
    ranges = {a: (0, extents[a.dim] - 1) for a in t.all_atoms() if a.dim in extents}
    if is_narrow(t, ranges):
        return np.broadcast_to(_in_blocks(t, tuple(extents), shape), shape)
    if math.prod(shape) > LIMITS.exact_values:
        raise OverflowError(f"{t} at {math.prod(shape)} places")
    values = np.empty(shape, np.int64)
    for index in np.ndindex(shape):  # Python's numbers do not wrap
        values[index] = t.evaluate(no_leaf, dict(zip(extents, index, strict=True)).__getitem__)
    return values


def _in_blocks(t: Term, dims: tuple[int, ...], shape: tuple[int, ...]) -> np.ndarray:
    """Return a term's values, with an extent of 1 along each coordinate that it does not have."""
    kept = tuple(n if d in t.coords else min(n, 1) for d, n in zip(dims, shape, strict=True))
    values = np.empty(kept, np.int64)
    for index in blocks(kept):
        grid = dict(zip(dims, np.ogrid[index], strict=True))
        values[index] = t.evaluate(no_leaf, grid.__getitem__)
    return values


def no_leaf(leaf: object, *_: object) -> int:
    """Raise AssertionError: in the place of the numbers of leaves, where there are none."""
    raise AssertionError(f"{leaf} has no value")


def fitted(terms: np.ndarray) -> Term | None:
    """Return an array of terms or integers as one term over ``x0, x1, ...``, or None.

    Terms may fit no term, and integers beyond int64 none.

    >>> from onnx_scatterx.engine.terms import element, term
    >>> p = [element("p", [i], name="p") for i in range(3)]
    >>> fitted(np.array(p, dtype=object)), fitted(np.array([term(1), term(3)], dtype=object))
    (p[x0], 2*x0 + 1)
    """
    coords = [coord(d) for d in range(terms.ndim)]
    if terms.dtype != object:
        budget().charge_part(PRICES.of_array(terms.size))
        if terms.dtype == np.uint64 and terms.size and terms.max() >= 1 << 63:
            return None
        return lookup(terms, coords)
    if not terms.size:
        return None
    flat: list[Term] = terms.ravel().tolist()
    if all(t is flat[0] for t in flat):
        return flat[0]
    numbers = [t.offset for t in flat]
    if any(abs(n) >= NARROW for n in numbers):
        return None
    offset = lookup(np.array(numbers, np.int64).reshape(terms.shape), coords)
    rests = [t - n for t, n in zip(flat, numbers, strict=True)]
    if all(r is rests[0] for r in rests):
        return offset + rests[0]
    leaves = [_leaf(r) for r in rests]
    first, factor = leaves[0]
    if first is None:
        return None
    arrays = [np.empty(terms.shape, dtype=object) for _ in first.parts]
    for i, (leaf, times) in enumerate(leaves):
        if leaf is None or times != factor or not _alike(leaf, first):
            return None
        for array, part in zip(arrays, leaf.parts, strict=True):
            array.ravel()[i] = part
    parts = [fitted(array) for array in arrays]
    if any(p is None for p in parts):
        return None
    known = tuple([p for p in parts if p is not None])
    return offset + factor * first.rebuild(known)


def _leaf(t: Term) -> tuple[Symbol | None, int]:
    """Return (leaf, factor) if a term is a leaf times a number."""
    atom, factor = t.multiple
    return (atom if isinstance(atom, Symbol) else None), factor


def _alike(a: Symbol, b: Symbol) -> bool:
    """Return whether two leaves are elements of one tensor."""
    return (
        a.serial is b.serial and len(a.parts) == len(b.parts) and (a.low, a.high) == (b.low, b.high)
    )
