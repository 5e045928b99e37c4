"""Terms of constants and coordinates as arrays over a whole box, and the reverse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.judges.equivalence.core.terms import Term

_LONGEST, _LARGEST, _DEEPEST = 1 << 16, 1 << 20, 16


def tabulated(term: Term, grid: Mapping[Term, np.ndarray]) -> np.ndarray | None:
    """Return an integer on a grid of coordinates; None if it depends on anything else.

    The numbers are Python's, which do not wrap around.
    """
    if term in grid:
        return grid[term]
    match term.op:
        case "integer":
            return np.asarray(term.data, object)
        case "polynomial":
            atoms = {a: tabulated(a, grid) for a in term.args}
            total = np.asarray(0, object)
            for monomial, coefficient in term.data:
                product = np.asarray(coefficient, object)
                for atom in monomial:
                    value = atoms[atom]
                    if value is None:
                        return None
                    product = np.asarray(product * value, object)
                total = np.asarray(total + product, object)
            return total
        case "divide" | "modulo" if term.args[1].op == "integer" and term.args[1].data > 0:
            dividend, divisor = tabulated(term.args[0], grid), term.args[1].data
            if dividend is None:
                return None
            return np.asarray(
                dividend // divisor if term.op == "divide" else dividend % divisor, object
            )
        case "lookup":
            index = tabulated(term.args[0], grid)
            if index is None or term.sort != "integer":
                return None
            array = term.data.array
            inside = np.clip(index, 0, len(array) - 1).astype(np.int64)
            return np.asarray(array[inside].astype(object))
    return None


@dataclass(frozen=True)
class Inverse:
    """The places of a box whose columns of constants give some coordinates.

    ``last`` has the last place for each of the coordinates, which are below ``extents``, or -1 for
    no place. If coordinates have several places, ``layers`` has the first, the second and so on
    (nothing, if they are too many).
    """

    sizes: list[int]
    extents: list[int]
    last: np.ndarray
    layers: list[np.ndarray]
    unique: bool


def inverted(columns: Sequence[Term], box: Mapping[Term, int]) -> Inverse | None:
    """Return the inverse of columns; None if they are not constant, or the box is too large."""
    sizes = list(box.values())
    if not 0 < np.prod(sizes, dtype=object) <= _LONGEST:
        return None
    grid = dict(zip(box, np.indices(sizes).astype(object), strict=True))
    tables = [tabulated(column, grid) for column in columns]
    found = [np.broadcast_to(t, sizes).ravel() for t in tables if t is not None]
    if len(found) < len(columns) or any(f.min() < 0 for f in found):
        return None
    extents = [int(f.max()) + 1 for f in found]
    whole = int(np.prod(extents, dtype=object))
    if whole > _LARGEST:
        return None
    flat = np.ravel_multi_index([f.astype(np.int64) for f in found], extents)
    last = np.full(whole, -1, np.int64)
    last[flat] = np.arange(len(flat))
    unique = len(np.unique(flat)) == len(flat)
    return Inverse(sizes, extents, last, [] if unique else _layers(flat, whole), unique)


def _layers(flat: np.ndarray, size: int) -> list[np.ndarray]:
    """Return the first, second, ... position of each number, or -1 for no position."""
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    nth = np.arange(len(flat)) - np.searchsorted(ordered, ordered)
    deepest = int(nth.max()) + 1
    layers = []
    for layer in range(deepest if deepest <= _DEEPEST else 0):
        table = np.full(size, -1, np.int64)
        chosen = nth == layer
        table[ordered[chosen]] = order[chosen]
        layers.append(table)
    return layers
