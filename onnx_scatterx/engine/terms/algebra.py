"""Terms: the arithmetic of polynomials with integer coefficients over atoms.

Terms are interned like atoms: equal ones are the same object, so ``is`` compares them and a term
can keep results about itself.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias
from weakref import WeakValueDictionary, ref

from onnx_scatterx.engine.budget import LIMITS, PRICES, TooLargeError, budget
from onnx_scatterx.engine.terms.atom import Atom, Interval, one_atom, union
from onnx_scatterx.engine.terms.monomial import (
    Monomial,
    interval_of,
    of_atoms,
    order,
)
from onnx_scatterx.engine.terms.monomial import product as monomial_product
from onnx_scatterx.engine.terms.polynomial import Polynomial
from onnx_scatterx.engine.terms.symbol_ids import results

Number: TypeAlias = "Term | int"


class Term(Polynomial):
    """A polynomial that is calculated with."""

    __slots__ = ()

    def __add__(self, other: Number) -> Term:
        return self._plus(other, 1)

    __radd__ = __add__

    def __neg__(self) -> Term:
        return _interned(tuple([(m, -c) for m, c in self.items]))

    def __sub__(self, other: Number) -> Term:
        return self._plus(other, -1)

    def __rsub__(self, other: Number) -> Term:
        return term(other)._plus(self, -1)

    def __floordiv__(self, divisor: Number) -> Term:
        """Return the quotient, rounded down; of a divisor 0 nothing is known."""
        from onnx_scatterx.engine.terms.cases import floor_div  # which is made of terms

        return floor_div(self, term(divisor))

    def __rfloordiv__(self, dividend: int) -> Term:
        return term(dividend) // self

    def __mod__(self, divisor: Number) -> Term:
        """Return the remainder, with the divisor's sign."""
        return self - divisor * (self // divisor)

    def __rmod__(self, dividend: int) -> Term:
        return term(dividend) % self

    def _plus(self, other: Number, sign: int) -> Term:
        number = other.constant if isinstance(other, Term) else int(other)
        if number is not None:
            if not number:
                return self
            total = self.offset + sign * number
            if self.constant is not None:
                return term(total)
            rest = self.items[1:] if self.offset else self.items
            return _interned((((), total), *rest) if total else rest)
        assert isinstance(other, Term)
        known = results()  # the same sizes meet again and again
        key = self, other, sign
        result: Term | None = known.get(key)
        if result is None:
            sums = dict(self.items)
            for monomial, coefficient in other.items:
                sums[monomial] = sums.get(monomial, 0) + sign * coefficient
            result = polynomial(sums)
            known[key] = result
        return result

    def __mul__(self, other: Number) -> Term:
        if not isinstance(other, Term):
            return self._times(int(other))
        if other.constant is not None:
            return self._times(other.constant)
        if self.constant is not None:
            return other._times(self.constant)
        count = len(self.items) * len(other.items)
        if count > LIMITS.product_monomials:
            raise TooLargeError(f"a product of {count} monomials")
        budget().charge_part(1 + count // PRICES.products)
        sums: dict[Monomial, int] = {}
        for (m, c), (n, d) in itertools.product(self.items, other.items):
            monomial = monomial_product(m, n)
            sums[monomial] = sums.get(monomial, 0) + c * d
        return polynomial(sums)

    __rmul__ = __mul__

    def _times(self, factor: int) -> Term:
        if factor == 1:
            return self
        if self.constant is not None:
            return term(self.constant * factor)
        return _interned(tuple([(m, c * factor) for m, c in self.items]) if factor else ())

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, int) and self.constant == other)

    __hash__ = object.__hash__

    @staticmethod
    def of(items: Mapping[Monomial, int]) -> Term:
        """Return the sum of monomials with coefficients."""
        return polynomial(items)

    @staticmethod
    def sum(terms: Iterable[Term]) -> Term:
        """Return the sum of many terms, with one visit of each monomial.

        >>> Term.sum([term(1), term(2)])
        3
        """
        sums: dict[Monomial, int] = {}
        for t in terms:
            for monomial, c in t.items:
                sums[monomial] = sums.get(monomial, 0) + c
        return polynomial(sums)

    def interval(self) -> Interval:
        """Return bounds that hold in every run and for every coordinate."""
        if self._interval is None:
            self._interval = interval_of(self, lambda a: a.interval(Term.interval))
        return self._interval

    def within_axes(self) -> Interval:
        """Return bounds, given that no axis is longer than ``AXIS_LIMIT``.

        >>> from onnx_scatterx.engine.terms.symbols import coord, size
        >>> (size("n") + coord(0)).within_axes() == (0, 2**32 - 3)
        True
        """
        return interval_of(self, lambda a: a.within_axes())

    def interval_within(self, bounds: Callable[[Atom], Interval]) -> Interval:
        """Return bounds, given those of the atoms."""
        return interval_of(self, bounds)

    def divided(self, divisor: Term) -> tuple[Term, Term]:
        """Return q and r with ``t = q divisor + r``.

        q has the monomials that a divisor of one monomial divides.
        """
        from onnx_scatterx.engine.terms.cases import divided

        return divided(self, divisor)

    def split(self, atom: Atom) -> tuple[Term, Term]:
        """Return (slope, rest) with ``t = slope atom + rest``; both may still hold the atom."""
        slope: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for monomial, coefficient in self.items:
            if atom in monomial:
                i = monomial.index(atom)
                slope[monomial[:i] + monomial[i + 1 :]] = coefficient
            else:
                rest[monomial] = coefficient
        return polynomial(slope), polynomial(rest)

    def replace(
        self, values: Mapping[Atom, Number], seen: dict[Atom, Term | None] | None = None
    ) -> Term:
        """Return the term with atoms replaced by other terms, at every depth.

        ``seen`` keeps the replacements of atoms, for terms in which the same atoms are replaced.
        """
        return _replace(self, values, {} if seen is None else seen)

    def at(self, coords: Mapping[int, Number]) -> Term:
        """Return the term with coordinates replaced, all at once."""
        if self.coords.isdisjoint(coords):
            return self
        return self.replace({a: coords[a.dim] for a in self.all_atoms() if a.dim in coords})


_terms: WeakValueDictionary[tuple[tuple[Monomial, int], ...], Term] = WeakValueDictionary()
# The references themselves: ``get`` of the dictionary is a method of Python.
_known: dict[tuple[tuple[Monomial, int], ...], ref[Term]] = _terms.data  # type: ignore[attr-defined]
_lock = threading.Lock()  # on what two threads may make at once


def polynomial(sums: Mapping[Monomial, int]) -> Term:
    """Return the sum of monomials with coefficients."""
    items = [item for item in sums.items() if item[1]]
    if len(items) > 1:
        items.sort(key=order)
    return _interned(tuple(items))


def _interned(items: tuple[tuple[Monomial, int], ...]) -> Term:
    reference = _known.get(items)
    present = None if reference is None else reference()
    return _new_term(items) if present is None else present


def _new_term(items: tuple[tuple[Monomial, int], ...]) -> Term:
    made = object.__new__(Term)
    made.items = items
    made.offset = items[0][1] if items and not items[0][0] else 0
    made.constant = made.offset if len(items) == bool(made.offset) else None
    atoms = [a for m, _ in items for a in m]
    made.coords = union([a.coords for a in atoms])
    made.weight = len(items) + sum([a.weight for a in atoms])
    made.piecewise = any(a.piecewise for a in atoms)
    made.never_negative_from = made._leaves = None
    made._interval = None if made.constant is None else (made.constant, made.constant)
    with _lock:  # another thread may have been faster
        return _terms.setdefault(items, made)


def interned(
    kind: type[Atom], key: tuple[Any, ...], parts: tuple[Term, ...], **fields: Any
) -> Term:
    """Return the one atom of a kind that has this key and these parts, as a term."""
    return term(one_atom(kind, key, parts, fields))


def _replace(t: Term, values: Mapping[Atom, Number], seen: dict[Atom, Term | None]) -> Term:
    def other(atom: Atom) -> Term | None:
        """Return the replacement of an atom, or None if it is kept."""
        if atom in values:
            return term(values[atom])
        if not atom.parts:
            return None
        if atom not in seen:
            if only is not None and not (only.leaves <= atom.leaves and only.coords <= atom.coords):
                seen[atom] = None
                return None
            parts = tuple(_replace(p, values, seen) for p in atom.parts)
            kept = all(p is q for p, q in zip(parts, atom.parts, strict=True))
            seen[atom] = None if kept else atom.rebuild(parts)
        return seen[atom]

    only = next(iter(values)) if len(values) == 1 else None
    budget().charge_part(sum([(1 + len(m)) // 2 for m, _ in t.items]))
    sums: dict[Monomial, int] = {}
    changed = False
    for monomial, coefficient in t.items:
        replaced = [other(atom) for atom in monomial]
        if not any(replaced):  # every term is true
            sums[monomial] = sums.get(monomial, 0) + coefficient
            continue
        changed = True
        factors: list[Atom] = []
        product = _small[1]
        for atom, new in zip(monomial, replaced, strict=True):
            if new is None:
                factors.append(atom)
            elif len(new.items) == 1:  # many factors are sorted once
                ((more, c),) = new.items
                factors.extend(more)
                coefficient *= c
            else:
                product = product * new
        if len(sums) + len(product.items) > LIMITS.product_monomials:
            raise TooLargeError(f"a sum of {len(sums) + len(product.items)} monomials")
        rest = of_atoms(factors)
        for m, c in product.items:
            m = monomial_product(rest, m)
            sums[m] = sums.get(m, 0) + coefficient * c
    return polynomial(sums) if changed else t


def term(of: Number | Atom) -> Term:
    """Return a number or an atom as a term; a term is returned as it is."""
    if isinstance(of, Term):
        return of
    if isinstance(of, Atom):
        return _interned((((of,), 1),))
    number = int(of)
    small = _small.get(number)
    return _interned((((), number),)) if small is None else small


_small = {n: _interned((((), n),) if n else ()) for n in range(-16, 257)}
