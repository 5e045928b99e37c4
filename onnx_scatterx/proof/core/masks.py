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

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from onnx_scatterx.proof.core.arithmetic import (
    ONE,
    ZERO,
    divide,
    integer,
    modulo,
    multiply,
    number,
)
from onnx_scatterx.proof.core.logic import (
    TRUE,
    at_most,
    both,
    equal,
    from_condition,
    implies,
    inside,
    within,
)
from onnx_scatterx.proof.core.solver import ALL
from onnx_scatterx.proof.core.tensor import (
    Coordinates,
    Tensor,
    flattened,
    remapped,
    unflattened,
)
from onnx_scatterx.proof.core.terms import LARGEST_SIZE, Term, apply, substitute, walk
from onnx_scatterx.proof.core.witnesses import Definition

if TYPE_CHECKING:
    from onnx_scatterx.proof.core.world import World


_MOST_ROUNDS = 8
_BEHIND = 2**64  # more than a tensor has elements


def _as_it_is(at: Coordinates) -> Coordinates:
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


def _points(extents: Sequence[int | None]) -> list[tuple[int, ...]]:
    """Return all points of a box in row-major order; none if an extent is unknown or too large."""
    known = [n for n in extents if n is not None]
    if len(known) < len(extents) or math.prod(known) > _MOST_ROUNDS:
        return []
    return list(np.ndindex(*known))


class Match(NamedTuple):
    """A known mask, maps of coordinates to its own and back, and the condition that it is equal."""

    mask: Mask
    outward: Callable[[Coordinates], Coordinates]
    inward: Callable[[Coordinates], Coordinates]
    question: Term


@dataclass
class Masks:
    """The masks of both models."""

    world: World
    known: list[Mask] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    _lengths: dict[str, Term] = field(default_factory=dict)  # of the axes that places point along
    _in_vain: int = 0  # Z3's work for questions without an answer

    def view(self, dims: tuple[Term, ...], at: Callable[[Coordinates], Term]) -> View:
        """Return a tensor as a mask; if a known mask is equal, as this mask."""
        cut = self._cut(dims, at)
        outer, inner = dims[:cut], dims[cut:]

        def own(c: Coordinates) -> Term:
            return at((*c, *(ZERO for _ in inner)))

        matches = [one for mask in self.known if (one := self._match(mask, outer, own))]
        matches.sort(key=lambda m: m.question is not TRUE)  # a mask of equal terms comes first
        for match in matches:
            if self._follows(match.question):
                view = View(match.mask, dims, inner, match.outward, match.inward)
                break
        else:
            reshaped = self._reshaped(dims, at)
            if reshaped is not None:
                view = reshaped
            else:
                mask = Mask(str(len(self.known)), outer, own)
                self.known.append(mask)
                self._define(mask)
                view = View(mask, dims, inner, _as_it_is, _as_it_is)
        self.views.append(view)
        return view

    def _reshaped(self, dims: Coordinates, at: Callable[[Coordinates], Term]) -> Reshaped | None:
        """Return a tensor as a known mask in another shape that does not change along axes."""
        same = self.world.same
        for view in self.views:
            if not view.inner or not same(multiply(*dims), multiply(*view.dims)):
                continue
            outward, inward = remapped(dims, view.dims, same), remapped(view.dims, dims, same)
            points = Tensor("bool", dims, at).points("mask")
            if self._follows(equal(at(points), view.true(outward(points)))):
                return Reshaped(view.mask, dims, (), outward, inward, view)
        return None

    def placing(self, p: Term, columns: Mapping[int, Term], length: Term) -> Placing | None:
        """Return columns as the p-th place of a mask with ``length`` true elements, or None."""
        for view in reversed(self.views):
            places = view.places(p)
            axes = {k: q for k, q in enumerate(places) if q is not ZERO}
            among = {k: j for j, c in columns.items() for k, q in axes.items() if q is c}
            rounds = _points([number(view.dims[k]) for k in axes if k not in among])
            if among and rounds and self.world.same(length, view.count):
                left = [k for k in axes if k not in among]
                return Placing(view, among, [dict(zip(left, r, strict=True)) for r in rounds])
        return None

    def points_along(self, term: Term) -> Term | None:
        """Return the length of the axis along which a place of a mask points; None for others.

        The places of the true elements are below this length, as their definition says.
        """
        return self._lengths.get(term.data[0]) if term.op == "apply" else None

    def _cut(self, dims: tuple[Term, ...], at: Callable[[Coordinates], Term]) -> int:
        points = Tensor("bool", dims, at).points("mask")
        parts = set(walk([at(points)]))
        cut = len(dims)
        while cut > 1 and points[cut - 1] not in parts:
            cut -= 1
        return cut

    def _follows(self, question: Term) -> bool:
        """Return whether a question is known to be true; false if many questions were in vain."""
        solver = self.world.solver
        if question is not TRUE and self._in_vain > solver.effort * ALL / 4:
            return False
        before, follows = solver.spent, solver.follows(question)
        self._in_vain += 0 if follows else solver.spent - before
        return follows

    def _match(
        self, mask: Mask, dims: tuple[Term, ...], at: Callable[[Coordinates], Term]
    ) -> Match | None:
        """Return the question whether a tensor equals a known mask; None if their sizes differ."""
        same = self.world.same
        outward: Callable[[Coordinates], Coordinates] = _as_it_is
        inward = outward
        if len(dims) != len(mask.dims) or not all(map(same, dims, mask.dims)):
            if not same(multiply(*dims), multiply(*mask.dims)):
                return None
            outward, inward = remapped(dims, mask.dims, same), remapped(mask.dims, dims, same)
        points = Tensor("bool", dims, at).points("mask")
        return Match(mask, outward, inward, equal(at(points), mask.at(outward(points))))

    def _define(self, mask: Mask) -> None:
        define = self.world.witnesses.define
        define(f"count {mask.name}", Definition(mask.count_facts))
        beside = (mask.count,)
        define(f"rank {mask.name}", Definition(mask.rank_facts, beside=beside))
        for k in range(len(mask.dims)):
            define(f"place {mask.name} {k}", Definition(mask.place_facts, beside=beside))
            self._lengths[f"place {mask.name} {k}"] = mask.dims[k]
