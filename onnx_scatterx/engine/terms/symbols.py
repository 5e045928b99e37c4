"""Atoms that name something: coordinates, run-time numbers, constant arrays."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from onnx_scatterx.engine.budget import AXIS_LIMIT
from onnx_scatterx.engine.terms.algebra import Number, Term, interned, term
from onnx_scatterx.engine.terms.atom import Atom, Interval
from onnx_scatterx.engine.terms.blocks import digest, line_of, varies
from onnx_scatterx.engine.terms.symbol_ids import SymbolId, symbol_id

_FIRST_LEAF = 64  # orders below it are of coordinates


class IndexVar(Atom):
    """The coordinate ``x_dim`` of the present element; never negative."""

    __slots__ = ("dim",)
    dim: int

    def completed(self) -> None:
        self.coords = frozenset((self.dim,))

    def mark(self) -> int:
        return self.dim

    def interval(self, of: Callable[[Term], Interval]) -> Interval:
        return 0, math.inf

    def within_axes(self) -> Interval:
        return 0, AXIS_LIMIT - 1

    def value(self, parts: list[Any], leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        return coord(self.dim)

    def __str__(self) -> str:
        return f"x{self.dim}"


class Symbol(Atom):
    """A run-time number: ``origin[parts]``, or a size if there are no parts.

    ``low`` and ``high`` are bounds that hold in every run.
    """

    __slots__ = ("high", "low", "name", "origin", "serial")
    name: str
    origin: object
    serial: SymbolId
    low: float
    high: float

    def completed(self) -> None:
        self.leaves |= {self}

    @property
    def is_size(self) -> bool:
        """Whether it is a size or a position; other numbers are bounded by their type."""
        return (self.low, self.high) == (0, math.inf)

    def mark(self) -> int:
        return _FIRST_LEAF + self.serial.number

    def interval(self, of: Callable[[Term], Interval]) -> Interval:
        return self.low, self.high

    def within_axes(self) -> Interval:
        return (0, AXIS_LIMIT) if self.is_size else (self.low, self.high)

    def rebuild(self, parts: tuple[Term, ...]) -> Term:
        return _leaf(self.serial, self.origin, parts, self.name, self.low, self.high)

    def value(self, parts: list[Any], leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        return leaf(self, parts)

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.parts))}]" if self.parts else self.name


class Lookup(Atom):
    """The element of a constant integer array at the indices ``parts``.

    Outside the array nothing is read: a choice between pieces multiplies it by 0.
    """

    __slots__ = ("array", "bounds", "digest")
    array: np.ndarray
    digest: bytes
    bounds: Interval

    def mark(self) -> int:
        return int.from_bytes(self.digest)

    def interval(self, of: Callable[[Term], Interval]) -> Interval:
        return self.bounds

    def rebuild(self, parts: tuple[Term, ...]) -> Term:
        return lookup(self.array, parts)

    def of_rows(self, axis: int, rows: np.ndarray, index: Term) -> Term:
        """Return the element with an axis of the array cut to some rows, and its index there."""
        parts = (*self.parts[:axis], index, *self.parts[axis + 1 :])
        return lookup(self.array.take(rows, axis=axis), parts)

    def value(self, parts: list[Any], leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        inside = (np.clip(p, 0, n - 1) for p, n in zip(parts, self.array.shape, strict=True))
        elements = self.array[tuple([np.asarray(i, np.int64) for i in inside])]
        return int(elements) if elements.ndim == 0 else elements

    def __str__(self) -> str:
        return f"table[{', '.join(map(str, self.parts))}]"


@functools.cache
def coord(dim: int) -> Term:
    """Return the coordinate ``x_dim``."""
    return interned(IndexVar, (dim,), (), dim=dim)


def as_numbers(terms: Iterable[Term]) -> tuple[int, ...] | None:
    """Return the numbers that terms are, or None if one of them is not a number.

    >>> as_numbers([term(2), term(3)])
    (2, 3)
    """
    numbers = [t.constant for t in terms]
    return None if None in numbers else tuple(n for n in numbers if n is not None)


def size(name: str, origin: object = None) -> Term:
    """Return a size: a number that is never negative, identified by its origin (or its name)."""
    return element(origin if origin is not None else name, (), name=name, low=0)


def element(
    origin: object,
    index: Iterable[Number],
    *,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
) -> Term:
    """Return the element of an unknown tensor at an index, with bounds that always hold."""
    parts = tuple(map(term, index))
    return _leaf(symbol_id(origin), origin, parts, name, low, high)


def _leaf(
    serial: SymbolId, origin: object, parts: tuple[Term, ...], name: str, low: float, high: float
) -> Term:
    fields = {"serial": serial, "origin": origin, "name": name, "low": low, "high": high}
    return interned(Symbol, (serial,), parts, **fields)


def lookup(array: np.ndarray, index: Iterable[Number]) -> Term:
    """Return the element of a constant integer array, at indices that lie within it.

    Known indices are looked up, dims along which nothing changes are dropped, and an array that is
    affine in its indices becomes that affine term. The numbers must fit into int64.

    >>> lookup(np.array([[0, 3], [1, 5], [2, 7]]), (coord(0), 1))
    2*x0 + 3
    >>> lookup(np.array([4, 0, 1]), [coord(0)])
    table[x0]
    """
    parts = tuple(map(term, index))
    constants = [p.constant for p in parts]
    if array.size == 0:  # no element is ever looked at
        return term(0)
    if any(c is not None for c in constants):
        array = array[
            tuple(
                slice(None) if c is None else min(max(c, 0), n - 1)
                for c, n in zip(constants, array.shape, strict=True)
            )
        ]
        parts = tuple(p for p in parts if p.constant is None)
    array = np.asarray(array)
    line = line_of(array)
    if line is not None:
        first, steps = line
        return sum((s * p for s, p in zip(steps, parts, strict=True)), start=term(first))
    wanted = [varies(array, d) for d in range(array.ndim)]
    array = array[tuple(slice(None) if varied else 0 for varied in wanted)]
    array = array.astype(np.int64, copy=False)
    parts = tuple(itertools.compress(parts, wanted))
    known = digest(array)
    fields = {"array": array, "bounds": (int(array.min()), int(array.max())), "digest": known}
    return interned(Lookup, (known,), parts, **fields)
