"""Tensors as functions from coordinates to the term of the element there, and their reshapes.

To reshape, the dims of both shapes are matched in groups of equal products, from the left. Within a
group, an element has the same row-major position in both shapes: a single dim is a sum of products,
and several dims are quotients and remainders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from onnx_scatterx.proof.core.arithmetic import (
    ONE,
    ZERO,
    divide,
    exact_quotient,
    integer,
    modulo,
    multiply,
    number,
)
from onnx_scatterx.proof.core.logic import at_most, choose
from onnx_scatterx.proof.core.lookups import StoredArray
from onnx_scatterx.proof.core.terms import Term, UnsupportedError, step, variable

Coordinates = tuple[Term, ...]

ELEMENT = 20  # steps for each element that is read


@dataclass(eq=False)
class Tensor:
    """A tensor: its type, its dims as integers (None if the rank is not known), its elements.

    ``define`` returns the element at coordinates; outside of the dims, its result has no meaning.
    ``array`` has the elements of a constant. ``watchers`` are called with each element that is
    read.
    """

    dtype: str
    dims: tuple[Term, ...] | None
    define: Callable[[Coordinates], Term]
    array: np.ndarray | None = None
    watchers: list[Callable[[Coordinates, Term], None]] = field(default_factory=list)
    _known: dict[Coordinates, Term] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[Term, ...]:
        """The dims; UnsupportedError if the rank is not known."""
        if self.dims is None:
            raise UnsupportedError("a tensor of unknown rank")
        return self.dims

    @property
    def rank(self) -> int:
        """The rank; UnsupportedError if it is not known."""
        return len(self.shape)

    def at(self, coordinates: Sequence[Term]) -> Term:
        """Return the element at some coordinates."""
        key = tuple(coordinates)
        element = self._known.get(key)
        if element is None:
            step(ELEMENT)
            element = self.define(key)
            self._known[key] = element
            for watcher in self.watchers:
                watcher(key, element)
        return element

    @property
    def is_read(self) -> bool:
        """Whether an element was read."""
        return bool(self._known)

    def watch(self, watcher: Callable[[Coordinates, Term], None]) -> None:
        """Call a function with each element that was read, and later with each that is read."""
        self.watchers.append(watcher)
        for key, element in list(self._known.items()):
            watcher(key, element)

    def elements(self) -> list[Term]:
        """Return all elements of a vector of known size."""
        length = number(self.shape[0]) if self.rank == 1 else None
        if length is None or length > 4096:
            raise UnsupportedError("a shape of unknown rank")
        return [self.at((integer(i),)) for i in range(length)]

    def points(self, name: str) -> Coordinates:
        """Return coordinates that stand for all points of the tensor."""
        return tuple(
            ZERO if number(d) == 1 else variable(f"{name}{axis}", limit=d)
            for axis, d in enumerate(self.shape)
        )

    @property
    def size(self) -> Term:
        """The number of elements."""
        return multiply(*self.shape)


def constant(array: np.ndarray, dtype: str) -> Tensor:
    """Return a constant."""
    dims = tuple(integer(n) for n in array.shape)
    return Tensor(dtype, dims, StoredArray(array, dtype).at, array)


def tensor_of(dtype: str, terms: Sequence[Term]) -> Tensor:
    """Return the vector of some terms."""
    kept = list(terms)

    def define(at: Coordinates) -> Term:
        (position,) = at
        known = number(position)
        if known is not None:
            return kept[min(max(known, 0), len(kept) - 1)] if kept else ZERO
        made = kept[-1] if kept else ZERO
        for i in reversed(range(len(kept) - 1)):
            made = choose(at_most(position, integer(i)), kept[i], made)
        return made

    return Tensor(dtype, (integer(len(kept)),), define)


Dims = tuple[Term, ...]
Same = Callable[[Term, Term], bool]


def flattened(at: Sequence[Term], dims: Sequence[Term]) -> Term:
    """Return the position in row-major order."""
    position = ZERO
    for c, d in zip(at, dims, strict=True):
        position = position * d + c
    return position


def unflattened(position: Term, dims: Sequence[Term]) -> Dims:
    """Return the coordinates of a position in row-major order."""
    at: list[Term] = []
    for axis in reversed(range(len(dims))):
        if dims[axis] is ONE:
            at.append(ZERO)
        elif axis == 0:
            at.append(position)
        elif all(d is ONE for d in dims[:axis]):
            at.append(position)
            position = ZERO
        else:
            at.append(modulo(position, dims[axis]))
            position = divide(position, dims[axis])
    return tuple(reversed(at))


def remapped(dims: Dims, others: Dims, same: Same = lambda a, b: a is b) -> Callable[[Dims], Dims]:
    """Return the function from coordinates in ``dims`` to coordinates in ``others``."""
    groups = _groups(dims, others, same)

    def there(at: Dims) -> Dims:
        coordinates: list[Term] = []
        for (start, end), (low, high) in groups:
            position = flattened(at[start:end], dims[start:end])
            coordinates.extend(unflattened(position, others[low:high]))
        return tuple(coordinates)

    return there


def _groups(dims: Dims, others: Dims, same: Same) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return groups: ranges of dims of both shapes with equal products."""
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
    """Return whether a product looks smaller than the other. A wrong guess only costs time."""
    if exact_quotient(other, product) is not None:
        return True
    if exact_quotient(product, other) is not None:
        return False
    return product.high <= other.high
