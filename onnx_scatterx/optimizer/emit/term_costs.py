"""What terms cost as values of the graph: how many nodes compute them from what is there.

A size is read from a tensor's shape, a number that the graph computes anyway is read, and the rest
is sums, products and maxima. ``TermEmitter`` writes what is counted here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.overflow import stays
from onnx_scatterx.optimizer.analysis.domain.scope import Scope
from onnx_scatterx.optimizer.emit.available import AvailableValues
from onnx_scatterx.optimizer.emit.existing_values import ExistingValues
from onnx_scatterx.optimizer.emit.writer import Writer
from onnx_scatterx.optimizer.symbolic.terms import (
    Atom,
    FloorDiv,
    Indicator,
    PositivePart,
    Term,
    as_term,
    polynomial,
)
from onnx_scatterx.text.reasons import Reason, RefusedError

# Below these, sums and products with a tensor's sizes do not overflow int64.
_NUMBER = 2**62
_FACTOR = 2**31

_SHARED = 4  # nodes that flipping a maximum must save: other numbers may share it
DEPENDENT = 4  # extra nodes for a read from a removable value


class Turned(NamedTuple):
    """``rest + factor max(inner, 0)``, where terms hold ``max(-inner, 0) + inner``."""

    cost: int
    rest: Term
    factor: int
    inner: Term


class TermCosts:
    """Counts the nodes of terms as vectors of one int64, or refuses."""

    def __init__(self, writer: Writer, scope: Scope, available: AvailableValues) -> None:
        self.writer = writer
        self.scope = scope
        self.reader = ExistingValues(writer, scope, available)
        # Results for the current insertion point.
        self._insertion_point: ir.Node | None = None
        self._costs: dict[Term, int | RefusedError] = {}
        self._plain: dict[tuple[Term, bool], int | RefusedError] = {}

    def is_available(self, value: ir.Value) -> bool:
        """Return whether a value is computed before the insertion point."""
        return self.reader.is_available(value)

    def cost(self, t: Term) -> int:
        """Return how many nodes it takes to write a term as a value, or refuse."""
        self._at_insertion_point()
        if t not in self._costs:
            try:
                self._costs[t] = self._early_or_late(t)
            except RefusedError as error:
                self._costs[t] = error
        found = self._costs[t]
        if isinstance(found, RefusedError):
            raise RefusedError(found.refusal.reason, found.refusal.detail)
        return found

    def _at_insertion_point(self) -> None:
        """Forget the results for another insertion point."""
        if self.writer.insertion_point is not self._insertion_point:
            self._insertion_point = self.writer.insertion_point
            self._costs.clear()
            self._plain.clear()

    def _early_or_late(self, t: Term) -> int:
        self.reader.depends_on_removed = False
        try:
            return self.plain_cost(t)
        except RefusedError:
            self.reader.depends_on_removed = True
        try:
            return self.plain_cost(t) + DEPENDENT
        finally:
            self.reader.depends_on_removed = False

    def plain_cost(self, t: Term) -> int:
        """Return the same, read from the values that the reader takes at this moment."""
        self._at_insertion_point()
        key = t, self.reader.depends_on_removed
        if key not in self._plain:
            try:
                self._plain[key] = self._counted(t)
            except RefusedError as error:
                self._plain[key] = error
        found = self._plain[key]
        if isinstance(found, RefusedError):
            raise RefusedError(found.refusal.reason, found.refusal.detail)
        return found

    def _counted(self, t: Term) -> int:
        if any(abs(c) >= (_FACTOR if monomial else _NUMBER) for monomial, c in t.items):
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        if t.constant is not None:
            return 0
        read = self.reader.cost(t)
        if read is not None:
            return read
        if t.offset:
            read = self.reader.cost(t - t.offset)
            if read is not None:
                return read + 1
        turned = self.turned(t)
        return self._sum_cost(t) if turned is None else turned.cost

    def _sum_cost(self, t: Term) -> int:
        total = 0
        for monomial, coefficient in t.items:
            total += sum(self._cost_of(a) for a in monomial)
            total += max(0, len(monomial) - 1) + (abs(coefficient) != 1 and bool(monomial))
        return total + max(0, len(t.items) - 1)

    def turned(self, t: Term) -> Turned | None:
        """Return a term with one ``max(-u, 0)`` flipped, if that is shorter and far fewer nodes."""
        best: Turned | None = None
        for monomial, c in t.items:
            if len(monomial) != 1 or not isinstance(monomial[0], PositivePart):
                continue
            inner = monomial[0].parts[0]
            rest = t - c * as_term(monomial[0]) + c * inner
            if len(rest.items) >= len(t.items):
                continue
            try:
                cost = self.plain_cost(rest) + self._max_cost(-inner)
            except RefusedError:
                continue
            cost += (abs(c) != 1) + bool(rest.items)
            if best is None or cost < best.cost:
                best = Turned(cost, rest, c, -inner)
        if best is None:
            return None
        try:
            return best if best.cost + _SHARED <= self._sum_cost(t) else None
        except RefusedError:
            return best

    def _max_cost(self, t: Term) -> int:
        upper, lower = self.sides(t)
        if lower is None:
            return self.plain_cost(upper) + (1 if self.writer.version >= 12 else 3)
        if self.writer.version < 12:
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        return self.plain_cost(upper) + self.plain_cost(lower) + 2

    def _cost_of(self, atom: Atom) -> int:
        read = self.reader.cost(as_term(atom))
        if read is not None:
            return read
        if isinstance(atom, PositivePart):
            return self._max_cost(atom.parts[0])
        if isinstance(atom, FloorDiv) and self.divides(atom):
            return self.plain_cost(atom.parts[0]) + self.plain_cost(atom.parts[1]) + 1
        if isinstance(atom, Indicator):
            upper, lower = self.sides(atom.parts[0])
            return self.plain_cost(upper) + (0 if lower is None else self.plain_cost(lower - 1)) + 2
        raise RefusedError(Reason.UNKNOWN_SIZE, atom)

    def divides(self, atom: FloorDiv) -> bool:
        """Div rounds towards zero, which is down if nothing is negative."""
        facts = self.scope.facts
        return all(facts.is_nonnegative(p) and self.stays(p) for p in atom.parts)

    def stays(self, t: Term) -> bool:
        """Return whether a number does not overflow int64, even if its parts wrap."""
        return self.reader.cost(t) is not None or stays(t, self.scope.facts)

    def sides(self, t: Term) -> tuple[Term, Term | None]:
        """Return a term to compare with 0, or two terms with that difference; none of them wraps.

        ``p - 1 >= 0`` is ``p >= 1``, even if p is the least int64.
        """
        twice = self.writer.version < 12  # as a maximum is written then
        if self.stays(2 * t if twice else t):
            return t, None
        upper = polynomial({m: c for m, c in t.items if m and c > 0})
        lower = upper - t
        if not (self.stays(upper) and self.stays(lower) and self.stays(lower - 1)):
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        return upper, lower

    def shape_cost(self, dims: Iterable[Term]) -> int:
        """Return how many nodes ``shape`` takes, or refuse."""
        dims = list(dims)
        if all(d.constant is not None for d in dims):
            return 0
        if self.reader.of_shape(dims) is not None:
            return 1
        return 1 + sum(self.cost(d) for d in dims)
