"""Masks: the number of true elements, the place of the p-th one, and the rank of an element.

For a mask m of n elements in row-major order, with N of them true:

    place(p)    the p-th true element,        0 <= p < N:   m[place(p)] and rank(place(p)) = p
    rank(c)     how many are true before c,   m[c]:         rank(c) < N and place(rank(c)) = c

NonZero returns the places, the sum of the mask is N, its running sum is the rank. Masks that are
known to be equal share these functions, even if their shapes differ. If a mask does not change
along its last axes, it is treated as a mask without these axes, in which each true element counts
for all elements along them. Such a mask in another shape is a `Reshaped` view.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from onnx_scatterx.proof.core.arithmetic import (
    ONE,
    ZERO,
    divide,
    integer,
    modulo,
    multiply,
)
from onnx_scatterx.proof.core.logic import (
    at_most,
    both,
    equal,
    from_condition,
    implies,
    inside,
    within,
)
from onnx_scatterx.proof.core.tensor import (
    Coordinates,
    flattened,
    unflattened,
)
from onnx_scatterx.proof.core.terms import LARGEST_SIZE, Term, apply, substitute

_BEHIND = 2**64  # more than a tensor has elements


def as_it_is(at: Coordinates) -> Coordinates:
    """Return coordinates as they are."""
    return at


def most(d: Term) -> int:
    """Return the greatest coordinate of an axis."""
    return max(0, d.high - 1)


@dataclass(eq=False)
class Mask:
    """One mask, and the functions above."""

    name: str
    dims: tuple[Term, ...]
    at: Callable[[Coordinates], Term]

    @property
    def count(self) -> Term:
        """The number of true elements."""
        return apply(f"count {self.name}", (), "integer", 0, LARGEST_SIZE)

    def places(self, p: Term) -> Coordinates:
        """Return the coordinates of the p-th true element."""
        if p.op == "apply" and p.data == (self._own_rank,):
            return p.args
        return tuple(
            ZERO if d is ONE else apply(f"place {self.name} {k}", (p,), "integer", 0, most(d))
            for k, d in enumerate(self.dims)
        )

    def rank(self, at: Coordinates) -> Term:
        """Return how many elements before this one are true."""
        return apply(f"rank {self.name}", at, "integer", 0, LARGEST_SIZE)

    def own_rank(self, at: Coordinates) -> Term:
        """Return the rank of a true element, as a term r with ``place(r) = at``.

        If the element is not true, this is some number behind all ranks.
        """
        return apply(self._own_rank, at, "integer", 0, _BEHIND)

    @property
    def _own_rank(self) -> str:
        return f"own rank {self.name}"

    def count_facts(self, count: Term) -> list[Term]:
        """Return the facts about the count."""
        return [at_most(count, multiply(*self.dims))]

    def place_facts(self, place: Term) -> list[Term]:
        """Return the facts about a place."""
        (p,) = place.args
        at = self.places(p)
        known = both(inside(at, self.dims), self.at(at), equal(self.rank(at), p))
        return [implies(within(p, ZERO, self.count), known)]

    def rank_facts(self, rank: Term) -> list[Term]:
        """Return the facts about a rank."""
        at = rank.args
        there, true = inside(at, self.dims), self.at(at)
        through = rank + from_condition(true)
        back = (equal(q, c) for q, c in zip(self.places(rank), at, strict=True))
        return [
            implies(there, at_most(through, self.count)),
            implies(there, at_most(rank, flattened(at, self.dims))),
            implies(both(there, true), both(*back)),
        ]


@dataclass(frozen=True)
class View:
    """A tensor of shape ``dims`` as a mask.

    The tensor does not change along ``inner``, its last dims. ``outward`` maps coordinates on the
    other dims to coordinates of ``mask``, and ``inward`` maps them back.
    """

    mask: Mask
    dims: tuple[Term, ...]
    inner: tuple[Term, ...]
    outward: Callable[[Coordinates], Coordinates]
    inward: Callable[[Coordinates], Coordinates]

    def _outer(self, at: Coordinates) -> Coordinates:
        return self.outward(at[: len(self.dims) - len(self.inner)])

    @property
    def each(self) -> Term:
        """The number of elements for which one element of ``mask`` counts."""
        return multiply(*self.inner)

    @property
    def count(self) -> Term:
        """The number of true elements."""
        return self.mask.count * self.each

    def places(self, p: Term) -> Coordinates:
        """Return the coordinates of the p-th true element."""
        if not self.inner:
            return self.inward(self.mask.places(p))
        outer = self.inward(self.mask.places(divide(p, self.each)))
        return (*outer, *unflattened(modulo(p, self.each), self.inner))

    def rank(self, at: Coordinates) -> Term:
        """Return how many elements before this one are true."""
        cut = len(self.dims) - len(self.inner)
        before = self.mask.rank(self._outer(at)) * self.each
        return before + from_condition(self.true(at)) * flattened(at[cut:], self.inner)

    def true(self, at: Coordinates) -> Term:
        """Return whether an element is true."""
        return self.mask.at(self._outer(at))

    def back(self, at: Coordinates) -> dict[Term, Term]:
        """Return the equations ``place(rank(c)) = c`` for a true element, as replacements."""
        outer = self._outer(at)
        rank = self.mask.rank(outer)
        pairs = zip(self.mask.places(rank), outer, strict=True)
        places = {place: c for place, c in pairs if place is not ZERO}
        return {self.mask.own_rank(outer): rank, **places}

    def own_rank(self, at: Coordinates) -> Term:
        """Return the rank of a true element: `back` replaces parts of it by the rank."""
        outer = self._outer(at)
        return substitute(self.rank(at), {self.mask.rank(outer): self.mask.own_rank(outer)})


@dataclass(frozen=True)
class Reshaped(View):
    """A tensor of shape ``dims`` whose elements are those of another view in row-major order.

    ``outward`` maps coordinates to those of ``other``, and ``inward`` maps them back.
    """

    other: View

    @property
    def count(self) -> Term:
        """The number of true elements."""
        return self.other.count

    def places(self, p: Term) -> Coordinates:
        """Return the coordinates of the p-th true element."""
        return self.inward(self.other.places(p))

    def rank(self, at: Coordinates) -> Term:
        """Return how many elements before this one are true."""
        return self.other.rank(self.outward(at))

    def true(self, at: Coordinates) -> Term:
        """Return whether an element is true."""
        return self.other.true(self.outward(at))

    def back(self, at: Coordinates) -> dict[Term, Term]:
        """Return the equations ``place(rank(c)) = c`` for a true element, as replacements."""
        return self.other.back(self.outward(at))

    def own_rank(self, at: Coordinates) -> Term:
        """Return the rank of a true element: `back` replaces parts of it by the rank."""
        return self.other.own_rank(self.outward(at))


@dataclass(frozen=True)
class Placing:
    """Columns that are places of a mask: ``among`` maps axes of the mask to columns.

    Other axes of the mask that are longer than 1 have no column. ``rounds`` are the points on these
    axes, in order: for one value of the columns, the mask may be true at each of them.
    """

    view: View
    among: Mapping[int, int]
    rounds: Sequence[Mapping[int, int]]

    def at(self, c: Sequence[Term], round_: int) -> Coordinates:
        """Return the coordinates in the mask, given the values of the columns and a round."""
        fixed = self.rounds[round_]
        axes = range(len(self.view.dims))
        return tuple(
            c[self.among[k]] if k in self.among else integer(fixed.get(k, 0)) for k in axes
        )
