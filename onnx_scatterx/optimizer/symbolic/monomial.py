"""Monomials: products of atoms, their order in a polynomial, and their text."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, TypeAlias

from onnx_scatterx.optimizer.symbolic.atom import Atom
from onnx_scatterx.optimizer.symbolic.budget import TooLargeError
from onnx_scatterx.optimizer.symbolic.limits import LIMITS

Monomial: TypeAlias = "tuple[Atom, ...]"
Items: TypeAlias = "tuple[tuple[Monomial, int], ...]"
"""The monomials of a polynomial with their coefficients."""

_LETTERS = 200  # of a polynomial as text, or a few more


def order(item: tuple[Monomial, int]) -> tuple[int, Any]:
    """Return the key that sorts the monomials of a polynomial: their degree, then their atoms."""
    monomial = item[0]
    if len(monomial) == 1:
        return 1, monomial[0].place
    return len(monomial), [a.place for a in monomial]


_place = attrgetter("place")


def product(m: Monomial, n: Monomial) -> Monomial:
    """Return the product of two monomials; of 0 or 1, every power is the number itself."""
    if not m or not n:
        return m or n
    if len(m) + len(n) > LIMITS.degree:
        raise TooLargeError(f"a product of {len(m) + len(n)} factors")
    return of_atoms((*m, *n))


def of_atoms(factors: Iterable[Atom]) -> Monomial:
    """Return the product of atoms in any order."""
    atoms = sorted(factors, key=_place)
    made = [
        a
        for i, a in enumerate(atoms)
        if not (i and a is atoms[i - 1] and a.idempotent)
        and (a.absorber is None or a.absorber not in atoms)
    ]
    if len(made) > LIMITS.degree:
        raise TooLargeError(f"a product of {len(made)} factors")
    return tuple(made)


def text_of(items: Items) -> str:
    """Return a polynomial as text of limited length."""
    if not items:
        return "0"
    text = ""
    for monomial, coefficient in sorted(items, key=lambda item: not item[0]):
        if len(text) > _LETTERS:
            return text + " ..."
        text += ("-" if coefficient < 0 else "") if not text else f" {'-+'[coefficient > 0]} "
        if abs(coefficient) != 1 or not monomial:
            text += str(abs(coefficient)) + "*" * bool(monomial)
        for i, atom in enumerate(monomial):
            if len(text) > _LETTERS:
                return text + "..."
            text += "*" * bool(i) + str(atom)
    return text
