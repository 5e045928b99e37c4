"""A small array of terms as one term over its coordinates.

Exporters write indices element by element: ``[[0, p[0]], [1, p[1]]]``. Its columns are lines:
``x0`` and ``p[x0]``. An array fits if its elements differ only in numbers, and those are a table
(or a line) over the coordinates.
"""

from __future__ import annotations

import numpy as np

from onnx_scatterx.optimizer.symbolic.polynomial import Term
from onnx_scatterx.optimizer.symbolic.symbols import Symbol, coord, lookup

_WIDE = 1 << 62


def fitted(terms: np.ndarray) -> Term | None:
    """Return an array of terms as one term over ``x0, x1, ...``, or None.

    >>> from onnx_scatterx.optimizer.symbolic.terms import element, term
    >>> p = [element("p", [i], name="p") for i in range(3)]
    >>> fitted(np.array(p, dtype=object)), fitted(np.array([term(1), term(3)], dtype=object))
    (p[x0], 2*x0 + 1)
    """
    if not terms.size:
        return None
    flat: list[Term] = list(terms.ravel())
    if all(t is flat[0] for t in flat):
        return flat[0]
    numbers = [t.offset for t in flat]
    if any(abs(n) >= _WIDE for n in numbers):
        return None
    offset = lookup(
        np.array(numbers, np.int64).reshape(terms.shape), [coord(d) for d in range(terms.ndim)]
    )
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
    if len(t.items) != 1 or len(t.items[0][0]) != 1:
        return None, 0
    (atom,), factor = t.items[0]
    return (atom if isinstance(atom, Symbol) else None), factor


def _alike(a: Symbol, b: Symbol) -> bool:
    """Return whether two leaves are elements of one tensor."""
    return (
        a.serial is b.serial and len(a.parts) == len(b.parts) and (a.low, a.high) == (b.low, b.high)
    )
