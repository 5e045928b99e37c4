"""A term of one size is decided completely: by every number, or as a quasi-polynomial.

If the size has an upper bound that is small, every number is tried. Else the sign of the term is
known from some number on, and those before it are tried (``quasi_polynomial``).

Some facts relate the size to other leaves. Then each of these gets one number. If a size allows
these numbers, and the term is negative there, the term cannot be proven, so no proof is sought.
"""

from __future__ import annotations

import math

import numpy as np

from onnx_scatterx.optimizer.symbolic.budget import TooLargeError, budget
from onnx_scatterx.optimizer.symbolic.constraints import ConstraintSet
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.monomial import is_narrow
from onnx_scatterx.optimizer.symbolic.quasi_polynomial import at, never_negative
from onnx_scatterx.optimizer.symbolic.terms import Atom, Symbol, Term, size


class OneSize(ConstraintSet):
    """Facts that decide terms of one size."""

    def _prepare(self) -> None:
        super()._prepare()
        self._of_size: dict[Symbol, tuple[int, tuple[Term, ...], tuple[Term, ...] | None]] = {}

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
        alone, at_others = self._facts_of(leaf)
        decided = never_negative(t, leaf, int(low), alone) if alone else False
        if decided or at_others is alone:
            return decided
        if at_others is not None and never_negative(t, leaf, int(low), at_others) is False:
            return False
        return None

    def _facts_of(self, leaf: Symbol) -> tuple[tuple[Term, ...], tuple[Term, ...] | None]:
        """Return the facts about a size alone, and all facts at one number for each other leaf.

        The latter is None if no numbers are found at which all facts can hold.
        """
        when = self._learnt_below()
        if leaf not in self._of_size or self._of_size[leaf][0] != when:
            facts = [fact for layer in self._layers for fact in layer._by_leaf.get(leaf, ())]
            alone = tuple(f for f in facts if len(f.leaves()) == 1 and not f.coords)
            if len(alone) == len(facts):
                self._of_size[leaf] = when, alone, alone
            else:
                with budget().aside():
                    self._of_size[leaf] = when, alone, self._at_others(leaf)
        return self._of_size[leaf][1:]

    def _at_others(self, leaf: Symbol) -> tuple[Term, ...] | None:
        """Return all facts about a size, with the least value in the place of every other leaf.

        Facts about these leaves are included. The result is None if these values contradict a fact,
        or if something else than the size remains in one.
        """
        if self._passing:
            return None  # facts of one case: another search decides it
        numbers: dict[Atom, int] = {}
        found: dict[Term, None] = {}
        waiting = [leaf]
        while waiting:
            each = waiting.pop()
            for fact in (f for layer in self._layers for f in layer._by_leaf.get(each, ())):
                found[fact] = None
                new = [x for x in fact.leaves() if x is not leaf and x not in numbers]
                numbers.update({x: self._least(x) for x in new})
                waiting += new
        budget().work(len(found))
        if any(x in layer._residues for x in numbers for layer in self._layers):
            return None
        try:
            there = dict.fromkeys(fact.replace(numbers) for fact in found)
        except TooLargeError:
            return None
        rest = tuple(t for t in there if t.constant is None)
        if any((t.constant or 0) < 0 for t in there):
            return None
        return None if any(t.coords or t.leaves() != {leaf} for t in rest) else rest

    def _least(self, leaf: Symbol) -> int:
        low, high = self._atom_interval(leaf)
        return int(low if math.isfinite(low) else min(0, high))

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
