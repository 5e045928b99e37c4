"""Positions on one axis, ``modulus * q + residue``, and the regions of tensors that they make.

An interval has modulus 1, and a strided interval keeps one residue class. So the classes of an axis
can be split first and clipped afterwards, which keeps symbolic bounds simple.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Shape
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.terms import Facts, Term, maximum, minimum, term
from onnx_scatterx.text import Reason, RefusedError


class StridedInterval(NamedTuple):
    """The positions ``modulus * q + residue``, ``low <= q < high`` (none if low >= high).

    >>> StridedInterval.interval(term(2), term(9)).refined(2, 1)
    1 + 2 * [1, 4)
    """

    modulus: int
    residue: int
    low: Term
    high: Term

    @classmethod
    def interval(cls, low: Term, high: Term) -> StridedInterval:
        """Return the positions from ``low`` up to ``high``."""
        return cls(1, 0, low, high)

    @property
    def length(self) -> Term:
        """How many positions there are (negative numbers mean none)."""
        return self.high - self.low

    @property
    def ends(self) -> tuple[Term, Term]:
        """The first position, and the one after the last."""
        m, r = self.modulus, self.residue
        if m == 1:
            return self.low, self.high
        return m * self.low + r, m * (self.high - 1) + r + 1

    def is_empty(self, facts: Facts) -> bool:
        """Return whether it is proven that the interval is empty."""
        return facts.is_nonnegative(self.low - self.high)

    def not_negative(self, facts: Facts) -> StridedInterval:
        """Return the same positions between bounds whose ``length`` is proven not to be negative.

        >>> from onnx_scatterx.engine.terms import size
        >>> StridedInterval.interval(size("n"), size("m")).not_negative(Facts()).length
        max(0, -n + m)
        """
        if facts.is_nonnegative(self.length):
            return self
        return self._replace(high=larger(self.low, self.high, facts))

    def refined(self, modulus: int, residue: int) -> StridedInterval:
        """Return the positions of one residue class of a multiple of the modulus."""
        if modulus == self.modulus:
            return self

        def ceil(q: Term) -> Term:  # ceil((m q + r - residue) / modulus)
            return (self.modulus * q + self.residue - residue + modulus - 1) // modulus

        return StridedInterval(modulus, residue, ceil(self.low), ceil(self.high))

    def meet(self, other: StridedInterval, facts: Facts) -> StridedInterval | None:
        """Return the positions that are in both spans, or None if no residue is shared."""
        return facts.memoised(("meet", self, other), lambda: self._meet(other, facts))

    def _meet(self, other: StridedInterval, facts: Facts) -> StridedInterval | None:
        shared = math.gcd(self.modulus, other.modulus)
        distance, rest = divmod(other.residue - self.residue, shared)
        if rest:
            return None
        # residue + m q = other.residue (mod other.m) has one solution q modulo other.m / shared.
        modulus, period = math.lcm(self.modulus, other.modulus), other.modulus // shared
        q = distance * pow(self.modulus // shared, -1, period) % period
        residue = self.residue + self.modulus * q
        a, b = self.refined(modulus, residue), other.refined(modulus, residue)
        return StridedInterval(
            modulus, residue, larger(a.low, b.low, facts), smaller(a.high, b.high, facts)
        )

    def without(self, other: StridedInterval, facts: Facts) -> list[StridedInterval]:
        """Return the positions that are not in another interval, as disjoint intervals, or refuse.

        Every other residue class is an interval of its own, so a long step needs too many.
        """
        return facts.memoised(("without", self, other), lambda: self._without(other, facts))

    def _without(self, other: StridedInterval, facts: Facts) -> list[StridedInterval]:
        modulus = math.lcm(self.modulus, other.modulus)
        if modulus // self.modulus > LIMITS.cells:
            raise RefusedError(Reason.TOO_COSTLY, f"a step of {other.modulus}")
        kept = []
        for residue in range(self.residue, modulus, self.modulus):
            part = self.refined(modulus, residue)
            if part.residue % other.modulus != other.residue:
                kept.append(part)
                continue
            hole = other.refined(modulus, part.residue)
            kept += [
                part._replace(high=smaller(part.high, hole.low, facts)),
                part._replace(low=larger(part.low, hole.high, facts)),
            ]
        return [k for k in kept if not k.is_empty(facts)]

    def moved(self, scale: int, offset: Term) -> tuple[StridedInterval, int, Term] | None:
        """Return the interval of ``scale * position + offset``, and its q by the old q.

        The result is (interval, sign, shift) with ``new q = sign * old q + shift``, or None if the
        offset's residue is not known.
        """
        modulus = abs(scale) * self.modulus
        base = offset + scale * self.residue
        residue = (base % modulus).constant
        if residue is None:
            return None
        shift = base // modulus
        if scale > 0:
            return StridedInterval(modulus, residue, self.low + shift, self.high + shift), 1, shift
        low, high = shift - self.high + 1, shift - self.low + 1
        return StridedInterval(modulus, residue, low, high), -1, shift

    def __repr__(self) -> str:
        text = f"[{self.low}, {self.high})"
        return text if self.modulus == 1 else f"{self.residue} + {self.modulus} * {text}"


def smaller(a: Term, b: Term, facts: Facts) -> Term:
    """Return the smaller of two terms, decided if the facts decide it."""
    if facts.is_nonnegative(b - a):
        return a
    return b if facts.is_nonnegative(a - b) else minimum(a, b)


def larger(a: Term, b: Term, facts: Facts) -> Term:
    """Return the larger of two terms, decided if the facts decide it."""
    if facts.is_nonnegative(a - b):
        return a
    return b if facts.is_nonnegative(b - a) else maximum(a, b)


ZERO, ONE = term(0), term(1)


class AxisMap(NamedTuple):
    """One axis of a source: position ``start + step * q``, with q the position in ``dim``'s span.

    ``dim`` is None if the position is ``start`` for the whole cell.
    """

    dim: int | None
    step: int
    start: Term


class View(NamedTuple):
    """A region of a tensor, one axis map for each axis of ``shape``.

    That is the tensor's own shape, or (``is_reshaped``) the shape in which it is viewed.
    """

    value: ir.Value
    shape: Shape
    axis_maps: tuple[AxisMap, ...]
    is_reshaped: bool = False

    def mapped(self, change: Callable[[AxisMap], AxisMap]) -> View:
        """Return the view with every axis map changed."""
        axis_maps = tuple([change(w) for w in self.axis_maps])
        return View(self.value, self.shape, axis_maps, self.is_reshaped)

    def values(self) -> Iterable[ir.Value]:
        """Yield the tensors that are read."""
        yield self.value

    def __repr__(self) -> str:
        def text(w: AxisMap) -> str:
            if w.dim is None:
                return f"={w.start}"
            return (
                f"{w.dim}"
                + (f"*{w.step}" if w.step != 1 else "")
                + (f"+{w.start}" if w.start.constant != 0 else "")
            )

        return f"{self.value.name}[{', '.join(map(text, self.axis_maps))}]"


class Reduced(NamedTuple):
    """Two sources, element by element, under a reduction: ``reduce(data, updates)``."""

    reduction: str
    data: Source
    updates: Source

    def mapped(self, change: Callable[[AxisMap], AxisMap]) -> Reduced:
        """Return the sources with every axis map changed."""
        return Reduced(self.reduction, self.data.mapped(change), self.updates.mapped(change))

    def values(self) -> Iterable[ir.Value]:
        """Yield the tensors that are read."""
        yield from self.data.values()
        yield from self.updates.values()


Source: TypeAlias = View | Reduced
