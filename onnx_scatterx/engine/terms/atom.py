"""Atoms: terms that are neither sums nor products, and the interface of all kinds of atoms.

Atoms are interned: equal ones are the same object. The parts of an atom are terms (``polynomial``).

Atoms have one order, which determines the normal forms. It depends on an atom's content, not on
when it was created: so a model's result does not depend on what the process did before.
"""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakValueDictionary, ref

if TYPE_CHECKING:
    from onnx_scatterx.engine.terms.algebra import Term
    from onnx_scatterx.engine.terms.symbols import Symbol

Interval: TypeAlias = tuple[float, float]
"""Bounds: integers, or infinite."""

_DEPTH = 54  # bits of an atom's order below its depth


class Atom:
    """An indivisible factor. Interned: equal atoms are the same object."""

    __slots__ = ("__weakref__", "coords", "leaves", "order", "parts", "piecewise", "weight")
    coords: frozenset[int]
    """The coordinates that the atom depends on."""
    leaves: frozenset[Symbol]
    """The run-time numbers in it, itself included."""
    parts: tuple[Term, ...]
    piecewise: bool
    """Whether there are cases in it that facts may decide, at any depth."""
    weight: int
    """The number of monomials and atoms in the atom, counted with repetitions."""
    order: int
    """The number that atoms are sorted by, and the hash: inner atoms come before outer ones."""

    dim = -1
    """The coordinate that the atom is, if it is one."""
    idempotent = False
    """Whether the atom is its own square: it is 0 or 1."""
    absorber: Atom | None = None
    """An atom whose product with this atom is the same number as that atom alone."""
    decidable = False
    """Whether the atom itself has cases."""
    divides = False
    """Whether the atom is the quotient of its two parts, rounded down."""

    def __hash__(self) -> int:
        return self.order  # so that sets of atoms have one order in every run

    @property
    def depth(self) -> int:
        """How deep terms are nested in the atom."""
        return self.order >> _DEPTH

    def completed(self) -> None:
        """Add what the atom itself contributes to ``coords`` and ``leaves``."""

    def mark(self) -> int:
        """Return a number for the atom's content besides its kind and parts."""
        return 0

    def interval(self, of: Callable[[Term], Interval]) -> Interval:
        """Return bounds of the atom, given bounds of the terms in it."""
        raise NotImplementedError

    def within_axes(self) -> Interval:
        """Return bounds of the atom, given that no axis is longer than ``AXIS_LIMIT``."""
        return self.interval(lambda t: t.within_axes())

    def rebuild(self, parts: tuple[Term, ...]) -> Term:
        """Return the atom as a term, with other terms in it."""
        raise NotImplementedError

    def value(self, parts: list[Any], leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        """Return the atom's value (a number or an array), given the values of its terms."""
        raise NotImplementedError


_atoms: WeakValueDictionary[tuple[Any, ...], Atom] = WeakValueDictionary()
# The references themselves: ``get`` of the dictionary is a method of Python.
_known: dict[tuple[Any, ...], ref[Atom]] = _atoms.data  # type: ignore[attr-defined]
_lock = threading.Lock()  # on what two threads may make at once


def one_atom(
    kind: type[Atom], key: tuple[Any, ...], parts: tuple[Term, ...], fields: Mapping[str, Any]
) -> Atom:
    """Return the one atom of a kind that has this key and these parts."""
    reference = _known.get((kind, key, parts))
    atom = None if reference is None else reference()
    if atom is None:
        atom = object.__new__(kind)
        atom.parts = parts
        atom.coords = union(p.coords for p in parts)
        atom.leaves = union(p.leaves() for p in parts)
        atom.weight = 1 + sum([p.weight for p in parts])
        atom.piecewise = kind.decidable or any(p.piecewise for p in parts)
        for name, value in fields.items():
            setattr(atom, name, value)
        atom.order = _order(atom)
        atom.completed()
        with _lock:
            atom = _atoms.setdefault((kind, key, parts), atom)
    return atom


def _order(atom: Atom) -> int:
    if not atom.parts:
        return atom.mark()
    # Python's hash of natural numbers is the same in every process, and of -1 and -2 the same.
    shape: list[int] = [zlib.crc32(type(atom).__name__.encode()), atom.mark()]
    depth = 0
    for part in atom.parts:
        for monomial, c in part.items:
            for inner in monomial:
                shape.append(inner.order)
                depth = max(depth, inner.order >> _DEPTH)
            shape += (len(monomial), 2 * c if c >= 0 else -2 * c - 1)
        shape.append(len(part.items))
    return (depth + 1) << _DEPTH | hash(tuple(shape)) % (1 << _DEPTH)


def union(sets: Iterable[frozenset[Any]]) -> frozenset[Any]:
    """Return the union; if one set holds all others, it is that set."""
    result: frozenset[Any] = frozenset()
    for one in sets:
        if not one <= result:
            result = result | one if result else one
    return result
