"""Terms as values of the graph: a size is read from a tensor's shape, and computed with.

Everything is a vector of one int64, the form in which Slice takes its bounds. A number that the
graph computes anyway is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import onnx_ir as ir

from onnx_scatterx.analysis.domain.overflow import stays
from onnx_scatterx.analysis.domain.scope import Scope
from onnx_scatterx.emit.available import AvailableValues
from onnx_scatterx.emit.existing_values import ExistingValues
from onnx_scatterx.emit.writer import Writer
from onnx_scatterx.symbolic.terms import (
    Atom,
    FloorDiv,
    Indicator,
    PositivePart,
    Term,
    as_term,
    polynomial,
)
from onnx_scatterx.text.reasons import Reason, RefusedError

_INT64 = ir.DataType.INT64

# Below these, sums and products with a tensor's sizes do not overflow int64.
_NUMBER = 2**62
_FACTOR = 2**31

_SHARED = 4  # nodes that flipping a maximum must save: other numbers may share it
_LATE = 4  # extra nodes for a read from a removable value


class _Turned(NamedTuple):
    """``rest + factor max(inner, 0)``, where terms hold ``max(-inner, 0) + inner``."""

    cost: int
    rest: Term
    factor: int
    inner: Term


class TermEmitter:
    """Writes terms as vectors of one int64."""

    def __init__(self, writer: Writer, scope: Scope, sources: AvailableValues) -> None:
        self.writer = writer
        self.scope = scope
        self.reader = ExistingValues(writer, scope, sources)
        # Results for the current anchor.
        self._anchor: ir.Node | None = None
        self._costs: dict[Term, int | RefusedError] = {}

    def is_available(self, value: ir.Value) -> bool:
        """Return whether a value is computed before the anchor."""
        return self.reader.is_available(value)

    def cost(self, t: Term) -> int:
        """Return how many nodes it takes to write a term as a value, or refuse."""
        if self.writer.insertion_point is not self._anchor:
            self._anchor = self.writer.insertion_point
            self._costs.clear()
        if t not in self._costs:
            try:
                self._costs[t] = self._early_or_late(t)
            except RefusedError as error:
                self._costs[t] = error
        found = self._costs[t]
        if isinstance(found, RefusedError):
            raise RefusedError(found.refusal.reason, found.refusal.detail)
        return found

    def _early_or_late(self, t: Term) -> int:
        self.reader.depends_on_removed = False
        try:
            return self._cost(t)
        except RefusedError:
            self.reader.depends_on_removed = True
        try:
            return self._cost(t) + _LATE
        finally:
            self.reader.depends_on_removed = False

    def _cost(self, t: Term) -> int:
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
        turned = self._turned(t)
        return self._sum_cost(t) if turned is None else turned.cost

    def _sum_cost(self, t: Term) -> int:
        total = 0
        for monomial, coefficient in t.items:
            total += sum(self._cost_of(a) for a in monomial)
            total += max(0, len(monomial) - 1) + (abs(coefficient) != 1 and bool(monomial))
        return total + max(0, len(t.items) - 1)

    def _turned(self, t: Term) -> _Turned | None:
        """Return a term with one ``max(-u, 0)`` flipped, if that is shorter and far fewer nodes."""
        best: _Turned | None = None
        for monomial, c in t.items:
            if len(monomial) != 1 or not isinstance(monomial[0], PositivePart):
                continue
            inner = monomial[0].parts[0]
            rest = t - c * as_term(monomial[0]) + c * inner
            if len(rest.items) >= len(t.items):
                continue
            try:
                cost = self._cost(rest) + self._max_cost(-inner)
            except RefusedError:
                continue
            cost += (abs(c) != 1) + bool(rest.items)
            if best is None or cost < best.cost:
                best = _Turned(cost, rest, c, -inner)
        if best is None:
            return None
        try:
            return best if best.cost + _SHARED <= self._sum_cost(t) else None
        except RefusedError:
            return best

    def _max_cost(self, t: Term) -> int:
        upper, lower = self._sides(t)
        if lower is None:
            return self._cost(upper) + (1 if self.writer.version >= 12 else 3)
        if self.writer.version < 12:
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        return self._cost(upper) + self._cost(lower) + 2

    def _cost_of(self, atom: Atom) -> int:
        read = self.reader.cost(as_term(atom))
        if read is not None:
            return read
        if isinstance(atom, PositivePart):
            return self._max_cost(atom.parts[0])
        if isinstance(atom, FloorDiv) and self._divides(atom):
            return self._cost(atom.parts[0]) + self._cost(atom.parts[1]) + 1
        if isinstance(atom, Indicator):
            upper, lower = self._sides(atom.parts[0])
            return self._cost(upper) + (0 if lower is None else self._cost(lower - 1)) + 2
        raise RefusedError(Reason.UNKNOWN_SIZE, atom)

    def _divides(self, atom: FloorDiv) -> bool:
        """Div rounds towards zero, which is down if nothing is negative."""
        facts = self.scope.facts
        return all(facts.is_nonnegative(p) and self.stays(p) for p in atom.parts)

    def stays(self, t: Term) -> bool:
        """Return whether a number does not overflow int64, even if its parts wrap."""
        return self.reader.cost(t) is not None or stays(t, self.scope.facts)

    def _sides(self, t: Term) -> tuple[Term, Term | None]:
        """Return a term to compare with 0, or two terms with that difference; none of them wraps.

        ``p - 1 >= 0`` is ``p >= 1``, even if p is the least int64.
        """
        twice = self.writer.version < 12  # see ``_atom``
        if self.stays(2 * t if twice else t):
            return t, None
        upper = polynomial({m: c for m, c in t.items if m and c > 0})
        lower = upper - t
        if not (self.stays(upper) and self.stays(lower) and self.stays(lower - 1)):
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        return upper, lower

    def vector(self, t: Term) -> ir.Value:
        """Return a term as a vector of one int64."""
        try:
            self._cost(t)
        except RefusedError:
            self.reader.depends_on_removed = True
        try:
            if self.reader.depends_on_removed:
                self._cost(t)  # or refuse
                self.writer.surcharge(_LATE)
            return self._vector(t)
        finally:
            self.reader.depends_on_removed = False

    def _vector(self, t: Term) -> ir.Value:
        w = self.writer
        if t.constant is not None:
            return w.constant([t.constant])
        read = self.reader.read(t)
        if read is not None:
            return read
        if t.offset and self.reader.cost(t - t.offset) is not None:
            more = w.constant([abs(t.offset)])
            return self._sum(self._vector(t - t.offset), more, t.offset)
        turned = self._turned(t)
        if turned is not None:
            rest = self._vector(turned.rest) if turned.rest.items else None
            part = self._times(self._max(turned.inner), abs(turned.factor))
            return self._sum(rest, part, turned.factor)
        total: ir.Value | None = None
        # Positive parts first: they need no negation.
        for monomial, coefficient in sorted(t.items, key=lambda item: (item[1] < 0, not item[0])):
            product: ir.Value | None = None
            for atom in monomial:
                factor = self._atom(atom)
                product = factor if product is None else w.node("Mul", [product, factor], _INT64)
            size = abs(coefficient)
            part = w.constant([size]) if product is None else self._times(product, size)
            total = self._sum(total, part, coefficient)
        assert total is not None
        return total

    def _sum(self, total: ir.Value | None, part: ir.Value, sign: int) -> ir.Value:
        w = self.writer
        if total is None:
            return part if sign > 0 else w.node("Neg", [part], _INT64)
        return w.node("Add" if sign > 0 else "Sub", [total, part], _INT64)

    def _times(self, part: ir.Value, factor: int) -> ir.Value:
        w = self.writer
        return part if factor == 1 else w.node("Mul", [part, w.constant([factor])], _INT64)

    def _max(self, t: Term) -> ir.Value:
        """Return ``max(t, 0)``."""
        w = self.writer
        upper, lower = self._sides(t)
        inner = self._vector(upper)
        if lower is not None:
            least = self._vector(lower)
            return w.node("Sub", [w.node("Max", [inner, least], _INT64), least], _INT64)
        if w.version >= 12:
            return w.node("Max", [inner, w.constant([0])], _INT64)
        twice = w.node("Add", [inner, w.node("Abs", [inner], _INT64)], _INT64)
        return w.node("Div", [twice, w.constant([2])], _INT64)

    def _atom(self, atom: Atom) -> ir.Value:
        w = self.writer
        if self.reader.cost(as_term(atom)) is not None:
            return self._vector(as_term(atom))
        if isinstance(atom, PositivePart):
            return self._max(atom.parts[0])
        if isinstance(atom, FloorDiv) and self._divides(atom):
            parts = [self._vector(p) for p in atom.parts]
            return w.node("Div", parts, _INT64)
        if isinstance(atom, Indicator):
            upper, lower = self._sides(atom.parts[0])
            inner = self._vector(upper)
            least = w.constant([-1]) if lower is None else self._vector(lower - 1)
            hit = w.node("Greater", [inner, least], ir.DataType.BOOL)
            return w.node("Cast", [hit], _INT64, to=_INT64.value)
        raise RefusedError(Reason.UNKNOWN_SIZE, atom)

    def shape(self, dims: Iterable[Term]) -> ir.Value:
        """Return a shape as a vector; if a tensor has it, it is read as a whole."""
        dims = list(dims)
        if all(d.constant is not None for d in dims):
            return self.writer.constant([d.constant or 0 for d in dims])
        value = self.reader.of_shape(dims)
        if value is not None:
            return self.writer.node("Shape", [value], _INT64)
        return self.writer.concat([self.vector(d) for d in dims], _INT64, 0)

    def shape_cost(self, dims: Iterable[Term]) -> int:
        """Return how many nodes ``shape`` takes, or refuse."""
        dims = list(dims)
        if all(d.constant is not None for d in dims):
            return 0
        if self.reader.of_shape(dims) is not None:
            return 1
        return 1 + sum(self.cost(d) for d in dims)
