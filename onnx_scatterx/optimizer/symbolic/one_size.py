"""A term of one size is decided completely: by every number, or as a quasi-polynomial.

If the size has an upper bound that is small, every number is tried. Else the sign of the term is
known from some number on, and those before it are tried (``quasi_polynomial``).

If facts relate the size to other leaves, a term that is negative for some number is not decided.
"""

from __future__ import annotations

import math

import numpy as np

from onnx_scatterx.optimizer.symbolic.constraints import ConstraintSet
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.monomial import is_narrow
from onnx_scatterx.optimizer.symbolic.quasi_polynomial import at, never_negative
from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term, size


class OneSize(ConstraintSet):
    """Facts that decide terms of one size."""

    def _prepare(self) -> None:
        super()._prepare()
        self._of_size: dict[Symbol, tuple[int, tuple[Term, ...], bool]] = {}

    def by_one_size(self, t: Term) -> bool | None:
        """Return whether ``t >= 0`` at every size that the facts allow, or None if not decided."""
        leaves = t.leaves()
        if t.coords or len(leaves) != 1:
            return None
        (leaf,) = leaves
        low, high = self._atom_interval(leaf)
        if math.isinf(low) or leaf.parts:
            return None
        if not math.isinf(high):
            return self._by_all_numbers(t, leaf, int(low), int(high))
        for layer in self._layers:
            if leaf in layer._residues:
                modulus, residue = layer._residues[leaf]
                count = size(f"{leaf.name} // {modulus}", ("count", leaf, modulus))
                (atom,) = count.leaves()
                least = max(0, -((residue - int(low)) // modulus))
                counted = t.replace({leaf: modulus * count + residue})
                return never_negative(counted, atom, least) or None
        if never_negative(t, leaf, int(low)) is not False:
            return never_negative(t, leaf, int(low))
        # False for some number, but not for every number that the facts allow.
        alone, are_all = self._facts_of(leaf)
        decided = never_negative(t, leaf, int(low), alone) if alone else False
        return decided if decided or are_all else None

    def _facts_of(self, leaf: Symbol) -> tuple[tuple[Term, ...], bool]:
        """Return the facts about a size alone, and whether no others are about it."""
        when = self._learnt_below()
        if leaf not in self._of_size or self._of_size[leaf][0] != when:
            facts = [fact for layer in self._layers for fact in layer._by_leaf.get(leaf, ())]
            alone = tuple(f for f in facts if len(f.leaves()) == 1 and not f.coords)
            self._of_size[leaf] = when, alone, len(alone) == len(facts)
        return self._of_size[leaf][1:]

    def _by_all_numbers(self, t: Term, leaf: Symbol, low: int, high: int) -> bool | None:
        """Try every number that a size may be, if they are few."""
        if high - low >= LIMITS.listed_numbers:
            return None
        known = [
            fact
            for layer in self._layers
            for fact in layer._by_leaf.get(leaf, ())
            if len(fact.leaves()) == 1 and not fact.coords and is_narrow(fact, {leaf: (low, high)})
        ]
        if not is_narrow(t, {leaf: (low, high)}):
            return None
        numbers = np.arange(low, high + 1)
        for fact in known:
            numbers = numbers[at(fact, numbers) >= 0]
        return True if bool((at(t, numbers) >= 0).all()) else None
