"""Terms as values of the graph: a size is read from a tensor's shape, and computed with.

Everything is a vector of one int64, the form in which Slice takes its bounds. A number that the
graph computes anyway is read, and the rest is sums, products and maxima. What a term costs is
counted by the code that writes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope
from onnx_scatterx.engine.terms import Atom, FloorDiv, Indicator, PositivePart, Symbol, Term, term
from onnx_scatterx.engine.write.available import AvailableValues, ExistingValues, scalar_load
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.graphs import INT64_MAX
from onnx_scatterx.text import Reason, RefusedError

_INT64 = ir.DataType.INT64

# Below these, sums and products with a tensor's sizes do not overflow int64.
_NUMBER = 2**62
_FACTOR = 2**31

_SHARED = 4  # nodes that flipping a maximum must save: other numbers may share it
_DEPENDENT = 4  # extra nodes for a read from a removable value


class Turned(NamedTuple):
    """``rest + factor max(inner, 0)``, where terms hold ``max(-inner, 0) + inner``."""

    rest: Term
    factor: int
    inner: Term


class _Count:
    """Counts nodes in the place of a writer, but no Neg: few terms have only negative parts."""

    counted = ir.Value()

    def __init__(self) -> None:
        self.nodes = 0

    def node(self, op: str, *_: object, **__: object) -> ir.Value:
        self.nodes += op != "Neg"
        return self.counted

    def constant(self, *_: object) -> ir.Value:
        return self.counted


_Sink: TypeAlias = Writer | _Count


class TermEmitter:
    """Writes terms as vectors of one int64, or refuses."""

    def __init__(self, writer: Writer, scope: Scope, available: AvailableValues) -> None:
        self.writer = writer
        self.scope = scope
        self.reader = ExistingValues(writer, scope, available)
        # Results for the current insertion point.
        self._insertion_point: ir.Node | None = None
        self._costs: dict[tuple[Term, bool], int | RefusedError] = {}

    def vector(self, t: Term) -> ir.Value:
        """Return a term as a vector of one int64."""
        with self._readable(t) as surcharge:
            self.writer.surcharge(surcharge)
            return self._written(t, self.writer)

    def cost(self, t: Term) -> int:
        """Return how many nodes it takes to write a term as a value, or refuse."""
        with self._readable(t) as surcharge:
            return self._cost(t) + surcharge

    def is_element(self, leaf: Symbol) -> bool:
        """Return whether a leaf of a term is a number that can be read from a tensor."""
        return scalar_load(leaf, self.scope) is not None

    @contextmanager
    def _readable(self, t: Term) -> Iterator[int]:
        """Let values be read that may be removed, if a term needs them; that costs more nodes."""
        try:
            try:
                self._cost(t)
            except RefusedError:
                self.reader.depends_on_removed = True
                self._cost(t)  # or refuse
            yield _DEPENDENT if self.reader.depends_on_removed else 0
        finally:
            self.reader.depends_on_removed = False

    def _cost(self, t: Term) -> int:
        """Return the cost of a term, read from the values that the reader takes at this moment."""
        if self.writer.graph.insertion_point is not self._insertion_point:
            self._insertion_point = self.writer.graph.insertion_point
            self._costs.clear()
        key = t, self.reader.depends_on_removed
        if key not in self._costs:
            try:
                self._costs[key] = _counted(partial(self._written, t))
            except RefusedError as error:
                self._costs[key] = error
        cost = self._costs[key]
        if isinstance(cost, RefusedError):
            raise RefusedError(cost.refusal.reason, cost.refusal.detail)
        return cost

    def _vector(self, t: Term, w: _Sink) -> ir.Value:
        """Write a part of a term; the count of a part is remembered."""
        if isinstance(w, Writer):
            return self._written(t, w)
        w.nodes += self._cost(t)
        return w.counted

    def _written(self, t: Term, w: _Sink) -> ir.Value:
        if any(abs(c) >= (_FACTOR if monomial else _NUMBER) for monomial, c in t.items):
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        if t.constant is not None:
            return w.constant([t.constant])
        read = self._read(t, w)
        if read is not None:
            return read
        if t.offset and self.reader.cost(t - t.offset) is not None:
            more = w.constant([abs(t.offset)])
            return _sum(w, self._vector(t - t.offset, w), more, t.offset)
        turned = self.turned(t)
        return self._monomials(t, w) if turned is None else self._flipped(turned, w)

    def _read(self, t: Term, w: _Sink) -> ir.Value | None:
        if isinstance(w, Writer):
            return self.reader.read(t)
        cost = self.reader.cost(t)
        w.nodes += cost or 0
        return None if cost is None else w.counted

    def _monomials(self, t: Term, w: _Sink) -> ir.Value:
        total: ir.Value | None = None
        # Positive parts first: they need no negation.
        for monomial, coefficient in sorted(t.items, key=lambda item: (item[1] < 0, not item[0])):
            product: ir.Value | None = None
            for atom in monomial:
                factor = self._atom(atom, w)
                product = factor if product is None else w.node("Mul", [product, factor], _INT64)
            size = abs(coefficient)
            part = w.constant([size]) if product is None else _times(w, product, size)
            total = _sum(w, total, part, coefficient)
        assert total is not None
        return total

    def turned(self, t: Term) -> Turned | None:
        """Return a term with one ``max(-u, 0)`` flipped, if that is shorter and far fewer nodes."""
        flipped = []
        for monomial, c in t.items:
            if len(monomial) == 1 and isinstance(monomial[0], PositivePart):
                inner = monomial[0].parts[0]
                turned = Turned(t - c * term(monomial[0]) + c * inner, c, -inner)
                if len(turned.rest.items) < len(t.items):
                    flipped.append((_count_if_written(partial(self._flipped, turned)), turned))
        cost, best = min(flipped, key=lambda pair: pair[0], default=(math.inf, None))
        if cost == math.inf:
            return None
        return best if cost + _SHARED <= _count_if_written(partial(self._monomials, t)) else None

    def _flipped(self, turned: Turned, w: _Sink) -> ir.Value:
        rest = self._vector(turned.rest, w) if turned.rest.items else None
        part = _times(w, self._max(turned.inner, w), abs(turned.factor))
        return _sum(w, rest, part, turned.factor)

    def _max(self, t: Term, w: _Sink) -> ir.Value:
        """Return ``max(t, 0)``."""
        upper, lower = self.sides(t)
        inner = self._vector(upper, w)
        if self.writer.runs("Max", _INT64):
            least = w.constant([0]) if lower is None else self._vector(lower, w)
            most = w.node("Max", [inner, least], _INT64)
            return most if lower is None else w.node("Sub", [most, least], _INT64)
        if lower is not None:
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        twice = w.node("Add", [inner, w.node("Abs", [inner], _INT64)], _INT64)
        return w.node("Div", [twice, w.constant([2])], _INT64)

    def _atom(self, atom: Atom, w: _Sink) -> ir.Value:
        read = self._read(term(atom), w)
        if read is not None:
            return read
        if isinstance(atom, PositivePart):
            return self._max(atom.parts[0], w)
        if isinstance(atom, FloorDiv) and self.divides(atom):
            over, by = atom.parts
            if over.constant == 1:  # ONNX Runtime makes c / b of (1 / b) * c
                fraction = w.node("Div", [w.constant([-1]), self._vector(by, w)], _INT64)
                return w.node("Neg", [fraction], _INT64)
            return w.node("Div", [self._vector(p, w) for p in (over, by)], _INT64)
        if isinstance(atom, Indicator):
            upper, lower = self.sides(atom.parts[0])
            inner = self._vector(upper, w)
            least = w.constant([-1]) if lower is None else self._vector(lower - 1, w)
            hit = w.node("Greater", [inner, least], ir.DataType.BOOL)
            return w.node("Cast", [hit], _INT64, to=_INT64.value)
        raise RefusedError(Reason.UNKNOWN_SIZE, atom)

    def divides(self, atom: FloorDiv) -> bool:
        """Div rounds towards zero, which is down if nothing is negative."""
        facts = self.scope.facts
        return all(facts.is_nonnegative(p) and self.stays(p) for p in atom.parts)

    def stays(self, t: Term) -> bool:
        """Return whether a number does not overflow int64, even if its parts wrap."""
        return self.reader.cost(t) is not None or self.scope.facts.stays_in_int64(t)

    def sides(self, t: Term) -> tuple[Term, Term | None]:
        """Return a term to compare with 0, or two terms with that difference; none of them wraps.

        ``p - 1 >= 0`` is ``p >= 1``, even if p is the least int64.
        """
        twice = not self.writer.runs("Max", _INT64)  # as a maximum is written then
        if self.stays(2 * t if twice else t):
            return t, None
        upper = Term.of({m: c for m, c in t.items if m and c > 0})
        lower = upper - t
        if not (self.stays(upper) and self.stays(lower) and self.stays(lower - 1)):
            raise RefusedError(Reason.UNKNOWN_SIZE, t)
        return upper, lower

    def slice(
        self,
        x: ir.Value,
        dtype: ir.DataType,
        axis: int,
        start: Term | int,
        end: Term | int = INT64_MAX,
        step: int = 1,
    ) -> ir.Value:
        """Return a Slice of one axis between bounds, some of which are computed; or to its end."""
        first, last = (
            self.vector(b) if isinstance(b, Term) else self.writer.constant([b])
            for b in (start, end)
        )
        return self.writer.slice_dynamic(x, dtype, axis, first, last, step)

    def shape(self, dims: Iterable[Term]) -> ir.Value:
        """Return a shape as a vector; if a tensor has it, it is read as a whole."""
        dims = list(dims)
        if all(d.constant is not None for d in dims):
            return self.writer.constant([d.constant or 0 for d in dims])
        value = self.reader.of_shape(dims)
        if value is not None:
            return self.writer.node("Shape", [value], _INT64)
        vector = self.writer.concat([self.vector(d) for d in dims], _INT64, 0)
        # ONNX Runtime fuses two Reshapes, even if the first one makes the shape of the second.
        is_fused = self.writer.fragment.operator_of(vector) == "Reshape"
        return self.writer.node("Abs", [vector], _INT64) if is_fused else vector


def _counted(write: Callable[[_Count], Any]) -> int:
    count = _Count()
    write(count)
    return count.nodes


def _count_if_written(write: Callable[[_Count], Any]) -> float:
    """Return how many nodes are written; refusals are infinitely many."""
    with suppress(RefusedError):
        return _counted(write)
    return math.inf


def _sum(w: _Sink, total: ir.Value | None, part: ir.Value, sign: int) -> ir.Value:
    if total is None:
        return part if sign > 0 else w.node("Neg", [part], _INT64)
    return w.node("Add" if sign > 0 else "Sub", [total, part], _INT64)


def _times(w: _Sink, part: ir.Value, factor: int) -> ir.Value:
    return part if factor == 1 else w.node("Mul", [part, w.constant([factor])], _INT64)
