"""Terms as values of the graph: a size is read from a tensor's shape, and computed with.

Everything is a vector of one int64, the form in which Slice takes its bounds. A number that the
graph computes anyway is used as it is.
"""

from __future__ import annotations

from collections.abc import Iterable

import onnx_ir as ir

from onnx_scatterx.emit.elements import Element, element_of
from onnx_scatterx.emit.sources import Sources
from onnx_scatterx.emit.writer import Writer
from onnx_scatterx.indexing.scope import Scope
from onnx_scatterx.indexing.terms import Atom, FloorDiv, Leaf, Pos, Step, Term, as_term
from onnx_scatterx.reasons import Reason, RefusedError

_INT64 = ir.DataType.INT64

# Below these, sums and products with a tensor's sizes stay within int64.
_NUMBER = 2**62
_FACTOR = 2**31

_LATE = 4  # nodes that reading from a value that may go counts as


class Numbers:
    """Writes terms as vectors of one int64."""

    def __init__(self, writer: Writer, scope: Scope, sources: Sources) -> None:
        self.writer = writer
        self.scope = scope
        self.sources = sources
        self._reads_late = False
        # What was found for the anchor of the time.
        self._anchor: ir.Node | None = None
        self._place = -1
        self._costs: dict[Term, int | RefusedError] = {}
        self._scalars: dict[tuple[Term, bool], ir.Value | None] = {}

    def _at_anchor(self) -> None:
        """Forget what was found for another anchor."""
        anchor = self.writer.anchor
        if anchor is not self._anchor:
            assert anchor is not None
            self._anchor = anchor
            self._place = self.sources.order.get(anchor.outputs[0], -1)
            self._costs.clear()
            self._scalars.clear()

    def is_available(self, value: ir.Value) -> bool:
        """Return whether a value stands before the anchor."""
        self._at_anchor()
        return self.sources.order.get(value, self._place) < self._place

    def _can_read(self, value: ir.Value) -> bool:
        if value in self.sources.late and not self._reads_late:
            return False
        return self.is_available(value)

    def cost(self, t: Term) -> int:
        """Return how many nodes it takes to have a term as a value, or refuse."""
        self._at_anchor()
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
        self._reads_late = False
        try:
            return self._cost(t)
        except RefusedError:
            self._reads_late = True
        try:
            return self._cost(t) + _LATE
        finally:
            self._reads_late = False

    def _cost(self, t: Term) -> int:
        if any(abs(c) >= (_FACTOR if monomial else _NUMBER) for monomial, c in t.items):
            raise RefusedError(Reason.UNKNOWN_SIZE, str(t))
        if t.constant is not None:
            return 0
        read = self._reading_cost(t)
        if read is not None:
            return read
        if t.offset:
            read = self._reading_cost(t - t.offset)
            if read is not None:
                return read + 1
        total = 0
        for monomial, coefficient in t.items:
            total += sum(self._cost_of(a) for a in monomial)
            total += max(0, len(monomial) - 1) + (abs(coefficient) != 1 and bool(monomial))
        return total + max(0, len(t.items) - 1)

    def _reading_cost(self, t: Term) -> int | None:
        """Return the cost of a number that the graph has anyway, or None where it has not."""
        if self._scalar(t) is not None:
            return 0 if self._rank(self._scalar(t)) == 1 else 1
        if self._dim(t) is not None:
            return 1 if self.writer.version >= 15 else 2
        found = self._element(t)
        return None if found is None else found.cost

    def _cost_of(self, atom: Atom) -> int:
        read = self._reading_cost(as_term(atom))
        if read is not None:
            return read
        if isinstance(atom, Pos):
            return self._cost(atom.parts[0]) + (1 if self.writer.version >= 12 else 3)
        if isinstance(atom, FloorDiv) and self._divides(atom):
            return self._cost(atom.parts[0]) + self._cost(atom.parts[1]) + 1
        if isinstance(atom, Step):
            return self._cost(atom.parts[0]) + 2
        raise RefusedError(Reason.UNKNOWN_SIZE, str(atom))

    def _divides(self, atom: FloorDiv) -> bool:
        """Div rounds towards zero, which is down where nothing is negative."""
        facts = self.scope.facts
        return facts.proves(atom.parts[0]) and facts.proves(atom.parts[1])

    def _rank(self, value: ir.Value | None) -> int:
        assert value is not None
        return len(self.scope.values[value].shape or ())

    def _scalar(self, t: Term) -> ir.Value | None:
        """Return a value that holds a term: the first vector, else the first scalar."""
        self._at_anchor()
        key = t, self._reads_late
        if key not in self._scalars:
            self._scalars[key] = self._first_scalar(t)
        return self._scalars[key]

    def _first_scalar(self, t: Term) -> ir.Value | None:
        first: ir.Value | None = None
        for value in self.sources.scalars.get(t, ()):
            if self._can_read(value):
                if self._rank(value) == 1:
                    return value
                first = first or value
            if not self.is_available(value):
                break  # later ones are not either
        return first

    def _dim(self, t: Term) -> tuple[ir.Value, int] | None:
        for value, axis in self.sources.dims.get(t, ()):
            if self._can_read(value):
                return value, axis
        return None

    def _element(self, t: Term) -> Element | None:
        """Return how to read a term that is an element of a tensor, or None."""
        (atom,) = t.atoms if len(t.atoms) == 1 else (None,)
        if not isinstance(atom, Leaf) or t is not as_term(atom):
            return None
        found = element_of(atom, self.scope)
        if found is None or found.value in self.sources.spared:
            return None
        return found if self._can_read(found.value) else None

    def vector(self, t: Term) -> ir.Value:
        """Return a term as a vector of one int64."""
        try:
            self._cost(t)
        except RefusedError:
            self._reads_late = True
        try:
            return self._vector(t)
        finally:
            self._reads_late = False

    def _vector(self, t: Term) -> ir.Value:
        w = self.writer
        if t.constant is not None:
            return w.constant([t.constant])
        value = self._scalar(t)
        if value is not None:
            return value if self._rank(value) == 1 else w.axes("Unsqueeze", value, _INT64, [0])
        found = self._dim(t)
        if found is not None:
            return self._read(*found)
        element = self._element(t)
        if element is not None:
            return element.write(self.writer)
        if t.offset and self._reading_cost(t - t.offset) is not None:
            more = w.constant([abs(t.offset)])
            return self._sum(self._vector(t - t.offset), more, t.offset)
        total: ir.Value | None = None
        # Positive parts first: they need no negation.
        for monomial, coefficient in sorted(t.items, key=lambda item: (item[1] < 0, not item[0])):
            part: ir.Value | None = None
            for atom in monomial:
                factor = self._atom(atom)
                part = factor if part is None else w.node("Mul", [part, factor], _INT64)
            size = abs(coefficient)
            if part is None:
                total = self._sum(total, w.constant([size]), coefficient)
                continue
            if size != 1:
                part = w.node("Mul", [part, w.constant([size])], _INT64)
            total = self._sum(total, part, coefficient)
        assert total is not None
        return total

    def _sum(self, total: ir.Value | None, part: ir.Value, sign: int) -> ir.Value:
        w = self.writer
        if total is None:
            return part if sign > 0 else w.node("Neg", [part], _INT64)
        return w.node("Add" if sign > 0 else "Sub", [total, part], _INT64)

    def _atom(self, atom: Atom) -> ir.Value:
        w = self.writer
        if self._reading_cost(as_term(atom)) is not None:
            return self._vector(as_term(atom))
        if isinstance(atom, Pos):
            inner = self._vector(atom.parts[0])
            if w.version >= 12:
                return w.node("Max", [inner, w.constant([0])], _INT64)
            twice = w.node("Add", [inner, w.node("Abs", [inner], _INT64)], _INT64)
            return w.node("Div", [twice, w.constant([2])], _INT64)
        if isinstance(atom, FloorDiv) and self._divides(atom):
            parts = [self._vector(p) for p in atom.parts]
            return w.node("Div", parts, _INT64)
        if isinstance(atom, Step):
            inner = self._vector(atom.parts[0])
            hit = w.node("Greater", [inner, w.constant([-1])], ir.DataType.BOOL)
            return w.node("Cast", [hit], _INT64, to=_INT64.value)
        raise RefusedError(Reason.UNKNOWN_SIZE, str(atom))

    def _read(self, value: ir.Value, axis: int) -> ir.Value:
        w = self.writer
        if w.version >= 15:
            return w.node("Shape", [value], _INT64, start=axis, end=axis + 1)
        whole = w.node("Shape", [value], _INT64)
        return w.node("Gather", [whole, w.constant([axis])], _INT64, axis=0)

    def shape(self, dims: Iterable[Term]) -> ir.Value:
        """Return a shape as a vector: read whole where a tensor has it."""
        dims = list(dims)
        if all(d.constant is not None for d in dims):
            return self.writer.constant([d.constant or 0 for d in dims])
        for value, axis in self.sources.dims.get(next(d for d in dims if d.constant is None), ()):
            shape = self.scope.values[value].shape
            if axis < len(dims) and shape == tuple(dims) and self._can_read(value):
                return self.writer.node("Shape", [value], _INT64)
        return self.writer.concat([self.vector(d) for d in dims], _INT64, 0)

    def shape_cost(self, dims: Iterable[Term]) -> int:
        """Return how many nodes ``shape`` takes, or refuse."""
        dims = list(dims)
        if all(d.constant is not None for d in dims):
            return 0
        for value, axis in self.sources.dims.get(next(d for d in dims if d.constant is None), ()):
            shape = self.scope.values[value].shape
            if axis < len(dims) and shape == tuple(dims) and self._can_read(value):
                return 1
        return 1 + sum(self.cost(d) for d in dims)
