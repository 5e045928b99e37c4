"""Terms as values of the graph: a size is read from a tensor's shape, and computed with.

Everything is a vector of one int64, the form in which Slice takes its bounds. A number that the
graph computes anyway is read.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.term_costs import DEPENDENT, TermCosts
from onnx_scatterx.optimizer.symbolic.terms import (
    Atom,
    FloorDiv,
    Indicator,
    PositivePart,
    Term,
    as_term,
)
from onnx_scatterx.text.reasons import Reason, RefusedError

_INT64 = ir.DataType.INT64


class TermEmitter(TermCosts):
    """Writes terms as vectors of one int64."""

    def vector(self, t: Term) -> ir.Value:
        """Return a term as a vector of one int64."""
        try:
            self.plain_cost(t)
        except RefusedError:
            self.reader.depends_on_removed = True
        try:
            if self.reader.depends_on_removed:
                self.plain_cost(t)  # or refuse
                self.writer.surcharge(DEPENDENT)
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
        turned = self.turned(t)
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
        upper, lower = self.sides(t)
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
        if isinstance(atom, FloorDiv) and self.divides(atom):
            parts = [self._vector(p) for p in atom.parts]
            return w.node("Div", parts, _INT64)
        if isinstance(atom, Indicator):
            upper, lower = self.sides(atom.parts[0])
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
