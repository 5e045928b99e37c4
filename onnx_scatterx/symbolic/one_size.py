"""A term of one size is decided completely: by every number, or as a quasi-polynomial.

If the size has an upper bound that is small, every number is tried. Else the sign of the term is
known from some number on, and those before it are tried (``quasi_polynomial``).
"""

from __future__ import annotations

import math

import numpy as np

from onnx_scatterx.symbolic.constraints import ConstraintSet
from onnx_scatterx.symbolic.limits import LIMITS
from onnx_scatterx.symbolic.quasi_polynomial import at, never_negative
from onnx_scatterx.symbolic.terms import Symbol, Term, size


class OneSize(ConstraintSet):
    """Facts that decide terms of one size."""

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
        facts = [fact for layer in self._layers for fact in layer._by_leaf.get(leaf, ())]
        alone = [fact for fact in facts if len(fact.leaves()) == 1 and not fact.coords]
        decided = never_negative(t, leaf, int(low), tuple(alone)) if alone else False
        return None if len(alone) < len(facts) and not decided else decided

    def _by_all_numbers(self, t: Term, leaf: Symbol, low: int, high: int) -> bool | None:
        """Try every number that a size may be, if they are few."""
        if high - low >= LIMITS.listed_numbers:
            return None
        known = [
            fact
            for layer in self._layers
            for fact in layer._by_leaf.get(leaf, ())
            if len(fact.leaves()) == 1 and not fact.coords and self._is_narrow(fact)
        ]
        if not self._is_narrow(t):
            return None
        numbers = np.arange(low, high + 1)
        for fact in known:
            numbers = numbers[at(fact, numbers) >= 0]
        return True if bool((at(t, numbers) >= 0).all()) else None

    def _is_narrow(self, t: Term) -> bool:
        """Return whether 64 bits hold all sums and products in the evaluation of a term."""
        for each in (t, *(part for atom in t.all_atoms() for part in atom.parts)):
            total = 0.0
            for monomial, c in each.items:
                sizes = (max(map(abs, self._atom_interval(atom))) for atom in monomial)
                total += abs(c) * math.prod(sizes)
            if not total < 1 << 62:
                return False
        return True
