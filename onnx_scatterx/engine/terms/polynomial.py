"""What a polynomial consists of: monomials, atoms at every depth, its text and its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from onnx_scatterx.engine.terms.atom import Atom, Interval, union
from onnx_scatterx.engine.terms.monomial import Monomial, text_of

if TYPE_CHECKING:
    from onnx_scatterx.engine.terms.algebra import Term
    from onnx_scatterx.engine.terms.symbols import Symbol


class Polynomial:
    """A polynomial: ``items`` are its monomials with their coefficients, in one order."""

    __slots__ = (
        "__weakref__",
        "_interval",
        "_leaves",
        "constant",
        "coords",
        "items",
        "never_negative_from",
        "offset",
        "piecewise",
        "weight",
    )
    items: tuple[tuple[Monomial, int], ...]
    constant: int | None
    """The number that the term is, or None if it is not a constant."""
    offset: int
    """The polynomial's constant coefficient."""
    coords: frozenset[int]
    piecewise: bool
    never_negative_from: dict[tuple[int, tuple[Term, ...]], tuple[bool | None, int]] | None
    """The answer of ``one_size``, and how many steps it took."""
    weight: int
    """The number of monomials and atoms at every depth, counted with repetitions."""
    _interval: Interval | None
    _leaves: frozenset[Symbol] | None

    @property
    def multiple(self) -> tuple[Atom | None, int]:
        """An atom and a number whose product the term is; (None, 0) if there are none.

        >>> from onnx_scatterx.engine.terms.symbols import size
        >>> print(*(3 * size("n")).multiple, *(size("n") + 1).multiple)
        n 3 None 0
        """
        monomial, factor = self.items[0] if len(self.items) == 1 else ((), 0)
        return (monomial[0], factor) if len(monomial) == 1 else (None, 0)

    @property
    def symbol(self) -> Symbol | None:
        """The symbol that the term is, if it is one."""
        atom, factor = self.multiple
        return atom if factor == 1 and atom in self.leaves() else None

    @property
    def dim(self) -> int | None:
        """The dim of the coordinate that the term is, if it is one.

        >>> from onnx_scatterx.engine.terms.symbols import coord
        >>> coord(2).dim, (coord(2) + 1).dim
        (2, None)
        """
        atom, factor = self.multiple
        return atom.dim if atom is not None and factor == 1 and atom.dim >= 0 else None

    @property
    def atoms(self) -> set[Atom]:
        """The atoms of the polynomial itself, not inside other atoms."""
        return {a for m, _ in self.items for a in m}

    def all_atoms(self) -> set[Atom]:
        """Return the atoms at every depth."""
        atoms: set[Atom] = set()
        stack = [self]
        while stack:
            for monomial, _ in stack.pop().items:
                for atom in monomial:
                    if atom not in atoms:
                        atoms.add(atom)
                        stack.extend(atom.parts)
        return atoms

    def leaves(self) -> frozenset[Symbol]:
        """Return the run-time numbers, at every depth."""
        if self._leaves is None:
            self._leaves = union(a.leaves for m, _ in self.items for a in m)
        return self._leaves

    def evaluate(self, leaf: Callable[..., Any], coord: Callable[[int], Any]) -> Any:
        """Return the value; ``leaf(leaf, parts)`` and ``coord(dim)`` give numbers or arrays."""
        total: Any = None  # the first product needs no sum: arrays can be long
        for monomial, coefficient in self.items:
            product: Any = None if coefficient == 1 and monomial else coefficient
            for atom in monomial:
                parts = [p.evaluate(leaf, coord) for p in atom.parts]
                value = atom.value(parts, leaf, coord)
                product = value if product is None else product * value
            total = product if total is None else total + product
        return 0 if total is None else total

    def __str__(self) -> str:
        """Return the term as text of limited length: its parts can be long, too."""
        return text_of(self.items)

    __repr__ = __str__
