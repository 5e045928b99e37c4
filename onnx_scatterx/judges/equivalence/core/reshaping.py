"""Reshape: from coordinates in one shape to those of the same element in another.

The dims of both shapes are matched in groups of equal products, from the left. Within a group, an
element's place in row-major order is the same in both: a single dim on one side is a sum of
products on the other, and several are quotients and remainders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx_scatterx.judges.equivalence.core.arithmetic import (
    ONE,
    ZERO,
    divide,
    exact_quotient,
    modulo,
)
from onnx_scatterx.judges.equivalence.core.terms import Term

Dims = tuple[Term, ...]
Same = Callable[[Term, Term], bool]


def flattened(at: Sequence[Term], dims: Sequence[Term]) -> Term:
    """Return the place in row-major order."""
    place = ZERO
    for c, d in zip(at, dims, strict=True):
        place = place * d + c
    return place


def unflattened(place: Term, dims: Sequence[Term]) -> Dims:
    """Return the coordinates of a place in row-major order."""
    found: list[Term] = []
    for axis in reversed(range(len(dims))):
        if dims[axis] is ONE:
            found.append(ZERO)
        elif axis == 0:
            found.append(place)
        elif all(d is ONE for d in dims[:axis]):
            found.append(place)
            place = ZERO
        else:
            found.append(modulo(place, dims[axis]))
            place = divide(place, dims[axis])
    return tuple(reversed(found))


def remapped(dims: Dims, others: Dims, same: Same = lambda a, b: a is b) -> Callable[[Dims], Dims]:
    """Return the function from coordinates in ``dims`` to coordinates in ``others``."""
    groups = _groups(dims, others, same)

    def there(at: Dims) -> Dims:
        found: list[Term] = []
        for (start, end), (low, high) in groups:
            place = flattened(at[start:end], dims[start:end])
            found.extend(unflattened(place, others[low:high]))
        return tuple(found)

    return there


def _groups(dims: Dims, others: Dims, same: Same) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return which dims of one shape make up which of the other."""
    groups = []
    i = j = 0
    while i < len(dims) or j < len(others):
        start, low = i, j
        product, other = ONE, ONE
        closed = False
        # Take dims, one by one, on the side that seems the smaller, until the products agree.
        while not closed and (i < len(dims) or j < len(others)):
            if i < len(dims) and dims[i] is ONE and product is other:
                i += 1
            elif j < len(others) and others[j] is ONE and product is other:
                j += 1
            elif i == start:
                if i == len(dims):
                    j = len(others)
                    break
                product, i = product * dims[i], i + 1
            elif j == low:
                if j == len(others):
                    i = len(dims)
                    break
                other, j = other * others[j], j + 1
            elif i < len(dims) and (j == len(others) or _smaller(product, other)):
                product, i = product * dims[i], i + 1
            elif j < len(others):
                other, j = other * others[j], j + 1
            closed = i > start and j > low and (product is other or same(product, other))
        groups.append(((start, i), (low, j)))
    return groups


def _smaller(product: Term, other: Term) -> bool:
    """Return whether a product looks like a part of the other: a guess that only costs."""
    if exact_quotient(other, product) is not None:
        return True
    if exact_quotient(product, other) is not None:
        return False
    return product.high <= other.high
