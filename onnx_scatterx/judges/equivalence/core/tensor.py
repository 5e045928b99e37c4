"""Tensors as functions: from coordinates to the term of the element there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from onnx_scatterx.judges.equivalence.core import lookups
from onnx_scatterx.judges.equivalence.core.arithmetic import ZERO, integer, multiply, number
from onnx_scatterx.judges.equivalence.core.logic import at_most, choose
from onnx_scatterx.judges.equivalence.core.terms import Term, UnsupportedError, step, variable

Coordinates = tuple[Term, ...]

ELEMENT = 20  # steps for an element


@dataclass(eq=False)
class Tensor:
    """A tensor: its type, its dims as integers (None if the rank is not known), its elements.

    ``define`` returns the element at coordinates within the dims; its result for others is
    meaningless. ``array`` is the contents of a constant. ``watchers`` are called with each element
    that is read. ``stored`` says whether a model has it as a constant.
    """

    dtype: str
    dims: tuple[Term, ...] | None
    define: Callable[[Coordinates], Term]
    array: np.ndarray | None = None
    watchers: list[Callable[[Coordinates, Term], None]] = field(default_factory=list)
    stored: bool = False
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
        found = self._known.get(key)
        if found is None:
            step(ELEMENT)
            found = self.define(key)
            self._known[key] = found
            for watcher in self.watchers:
                watcher(key, found)
        return found

    def watch(self, watcher: Callable[[Coordinates, Term], None]) -> None:
        """Call a function with each element that was and will be read."""
        self.watchers.append(watcher)
        for key, found in list(self._known.items()):
            watcher(key, found)

    def elements(self) -> list[Term]:
        """Return all elements of a vector of known size."""
        length = number(self.shape[0]) if self.rank == 1 else None
        if length is None or length > 4096:
            raise UnsupportedError("a shape of unknown rank")
        return [self.at((integer(i),)) for i in range(length)]

    def points(self, name: str) -> Coordinates:
        """Return coordinates that represent all of them."""
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
    return Tensor(dtype, dims, lambda at: lookups.element(array, dtype, at), array)


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
