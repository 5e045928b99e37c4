"""The masks of both models: which of them are equal, and which columns are places of a mask."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from onnx_scatterx.proof.core.arithmetic import ZERO, multiply, number
from onnx_scatterx.proof.core.logic import TRUE, equal
from onnx_scatterx.proof.core.masks import Mask, Placing, Reshaped, View, as_it_is
from onnx_scatterx.proof.core.solver import ALL
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor, remapped
from onnx_scatterx.proof.core.terms import Term, walk
from onnx_scatterx.proof.core.witnesses import Definition

if TYPE_CHECKING:
    from onnx_scatterx.proof.core.world import World

_MOST_ROUNDS = 8


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
                view = View(mask, dims, inner, as_it_is, as_it_is)
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
        outward: Callable[[Coordinates], Coordinates] = as_it_is
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
