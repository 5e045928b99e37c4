"""A lifted scatter or gather in the terms of the theory: components, verdict, collisions.

If everything is a number, the theory's own transformer is used, which is exact. Else the components
are terms, a dim of unknown extent counts as 2 or more, and run-time values are a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.engine.lift.access import Access
from onnx_scatterx.engine.lift.affine import affine_along, modulus_of
from onnx_scatterx.engine.lift.footprint import Piece, pieces
from onnx_scatterx.engine.terms.prove import Facts
from onnx_scatterx.engine.terms.tabulate import tabulated
from onnx_scatterx.engine.terms.terms import (
    Symbol,
    Term,
    as_numbers,
    coord,
    term,
)
from onnx_scatterx.text.reasons import Reason, Refusal, attempt
from onnx_scatterx.theory.components import Affine, AffineModulo, Component, Constant, Lookup
from onnx_scatterx.theory.transformer import XTransformer
from onnx_scatterx.theory.verdict import Verdict, judge


@dataclass(frozen=True, eq=False)
class InTheory:
    """A scatter or gather as the paper sees it: what is known without running the model."""

    access: Access

    @cached_property
    def transformer(self) -> XTransformer | None:
        """The transformer, if sizes and indices are numbers and not too many."""
        s = self.access
        shape, data_shape = as_numbers(s.shape), as_numbers(s.data_shape)
        if shape is None or data_shape is None or any(t.leaves() for t in s.index_exprs):
            return None
        if math.prod(shape) * len(data_shape) > LIMITS.targets:
            return None
        provision = np.empty((*shape, len(data_shape)), np.int64)
        for axis, target in enumerate(s.index_exprs):
            try:
                provision[..., axis] = tabulated(target, dict(enumerate(shape)))
            except OverflowError:  # the original fails
                return None
        return XTransformer.from_provision(provision, data_shape)

    @cached_property
    def components(self) -> tuple[Component[Any], ...]:
        """Each coordinate of the target as a component: over ints, or over terms."""
        if self.transformer is not None:
            return self.transformer.components
        return tuple(map(component, self.access.index_exprs))

    @cached_property
    def verdict(self) -> Verdict:
        """The paper's verdict, with indices as proof if there are numbers."""
        if self.transformer is not None:
            return self.transformer.verdict()
        s = self.access
        wide = {d for d, n in enumerate(s.shape) if not s.facts.is_nonnegative(1 - n)}
        return judge(self.components, len(s.shape), wide)

    @cached_property
    def boxes(self) -> list[Piece] | Refusal:
        """The boxes that are written or read, or why they are not known."""
        return attempt(lambda: pieces(self.access))

    @cached_property
    def unique(self) -> bool | None:
        """Whether no two updates collide; None if that is not known."""
        if self.transformer is not None:
            try:
                return self.transformer.is_injective()
            except ValueError:  # out of bounds: the original fails
                return None
        if self._apart():
            return True
        if isinstance(self.boxes, Refusal):
            return False if self.boxes.reason is Reason.COLLIDES else None
        return True if len(self.boxes) < 2 else None

    def may_wrap(self, axis: int) -> bool:
        """Whether a component may be negative, as far as is known: then it counts from the end."""
        around = isinstance(self.components[axis], AffineModulo)
        target = self.access.index_exprs[axis]
        known = self.transformer is not None or self.access.nonnegative[axis]
        return not (known or around or modulus_of(target) is not None)

    def _apart(self) -> bool:
        """Whether every dim with several updates is one along which some coordinate differs.

        An element of a tensor without equal elements, read at the coordinates of some dims, differs
        along all of these dims.
        """
        s = self.access
        moving: set[int] = set()
        for axis, t in enumerate(self.components):
            if s.nonnegative[axis] and isinstance(t, Affine):
                moving.add(t.dim)
            elif s.nonnegative[axis]:
                moving |= _told_apart(s.index_exprs[axis], s.facts)
        return all(d in moving or s.facts.is_nonnegative(1 - n) for d, n in enumerate(s.shape))


def component(target: Term) -> Component[Any]:
    """Return a term over the coordinates of a point as a component.

    >>> component(2 * coord(1) + 3)
    Affine(start=3, step=2, dim=1)
    """
    if not target.coords:
        return Constant(_number(target))
    if (ring := modulus_of(target)) is not None:
        affine = component(ring[0])
        if isinstance(affine, Affine):
            return AffineModulo(affine.start, affine.step, affine.dim, _number(ring[1]))
    along = affine_along(target)
    if along is not None and along.dim is not None:
        return Affine(_number(along.start), along.step, along.dim)
    return Lookup(tuple(sorted(target.coords)), target)


def _told_apart(target: Term, facts: Facts) -> frozenset[int]:
    """Return the dims whose coordinates determine a target, an element of a tensor."""
    moving = [atom for atom in target.atoms if atom.coords]
    (atom,) = moving if len(moving) == 1 else (None,)
    if not isinstance(atom, Symbol) or (target - term(atom)).coords:
        return frozenset()
    known = facts.of_elements(atom)
    dims = [d for part in atom.parts for d in part.coords]
    plain = all(
        part.constant is not None or part is coord(d) for part in atom.parts for d in part.coords
    )
    if known is None or not known.distinct or not plain or len(set(dims)) < len(dims):
        return frozenset()
    return frozenset(dims)


def _number(t: Term) -> Term | int:
    return t if t.constant is None else t.constant
