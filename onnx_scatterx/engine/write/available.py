"""The sizes and numbers that a graph has, and terms that are read from them.

    idx[0]   =   Slice(idx, 0, 1)               if there is an element
             =   Slice(Concat(idx, [0]), 0, 1)  if idx may be empty

If the element does not exist, only empty tensors depend on it: any number that the facts allow is
correct.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import ElementOf, Scope
from onnx_scatterx.engine.terms import Facts, Symbol, Term, as_numbers, term
from onnx_scatterx.engine.write.spelled import weight
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.grouping import grouped

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.outer_values import OuterValues, VisibleValues


@dataclass(frozen=True)
class ScalarLoad:
    """An element of a tensor in which only the last axis is longer than 1."""

    value: ir.Value
    dtype: ir.DataType
    rank: int
    index: int
    padded: bool

    @property
    def cost(self) -> int:
        """How many nodes ``write`` adds."""
        if self.rank == 0:
            return 1 + (self.dtype != _INT64)
        return 1 + (self.rank > 1) + self.padded + (self.dtype != _INT64)

    def write(self, w: Writer) -> ir.Value:
        """Write the element as a vector of one int64."""
        value, dtype = w.resolve(self.value), self.dtype
        if self.rank == 0:
            value = w.axes("Unsqueeze", value, dtype, [0])
        else:
            value = w.axes("Squeeze", value, dtype, list(range(self.rank - 1)))
            if self.padded:
                zero = w.constant(np.zeros(1, dtype.numpy()), dtype)
                value = w.concat([value, zero], dtype, 0)
            value = w.slice(value, dtype, [0], [self.index], [self.index + 1], [1])
        if dtype != _INT64:
            value = w.node("Cast", [value], _INT64, to=_INT64.value)
        return value


def scalar_load(leaf: Symbol, scope: Scope) -> ScalarLoad | None:
    """Return the tensor of an element, and the element's index, or None if that is not known."""
    value = ElementOf.read_by(leaf)
    tensor = None if value is None else scope.values.get(value)
    if value is None or tensor is None or tensor.shape is None or tensor.index_map is None:
        return None
    indices = as_numbers(leaf.parts)
    if tensor.dtype not in (_INT64, ir.DataType.INT32) or indices is None:
        return None
    if len(indices) != len(tensor.shape) or any(n.constant != 1 for n in tensor.shape[:-1]):
        return None
    if tensor.index_map.at(dict(enumerate(indices))) is not term(leaf):
        return None
    index = indices[-1] if indices else 0
    padded = bool(indices) and not scope.facts.is_nonnegative(tensor.shape[-1] - index - 1)
    if padded and (index != 0 or not _may_be_zero(leaf, tensor.shape[-1], scope.facts)):
        return None
    return ScalarLoad(value, tensor.dtype, len(indices), index, padded)


def _may_be_zero(leaf: Symbol, extent: Term, facts: Facts) -> bool:
    """Return whether 0 contradicts no fact about an element, if the element does not exist."""
    known: list[Term] = [fact for fact in facts.known() if leaf in fact.leaves()]
    elements = facts.of_elements(leaf)
    known += elements.of(term(leaf)) if elements is not None else []
    empty = facts.assuming(-extent)
    return all(empty.is_nonnegative(fact.replace({leaf: 0})) for fact in known)


_INT64 = ir.DataType.INT64

_FIRST = 8  # remembered values for a term: the earliest are readable most often
_DIMS = -1
_SIMILAR = 16  # numbers tried in place of another
_COUNTED = 16  # removable values from which a value is computed


class AvailableValues:
    """The values that hold a graph's sizes and numbers: tensors by dims, scalars by contents.

    ``order`` is every value's position in the graph: values before the insertion point can be read.
    The values in ``dependent`` depend on values that may be removed (``removed``), on how many of
    them up to a limit. They are read only if no other value holds the size. ``outer`` has the
    values of the graphs around a body; they are read if the graph has none.
    """

    def __init__(
        self,
        graph: ir.Graph,
        scope: Scope,
        removed: Iterable[ir.Value],
        outer: OuterValues | None = None,
    ) -> None:
        self._graph, self._outer = graph, outer
        self.order: dict[ir.Value, int] = {}
        self._alike: dict[frozenset[Symbol], list[Term]] | None = None
        self.dims: dict[Term, list[tuple[ir.Value, int]]] = {}
        self.scalars: dict[Term, list[ir.Value]] = {}
        removed = set(removed)
        values = [*graph.inputs, *graph.initializers.values()]
        self.order.update(dict.fromkeys(values, -1))
        for position, node in enumerate(graph):
            values.extend(node.outputs)
            self.order.update(dict.fromkeys(node.outputs, position))
        self.removed = removed
        self.dependent = descendants(graph, removed)
        self._counts: Counter[tuple[Term, int, bool]] = Counter()
        for value in values:
            if value not in removed:
                self._note(value, scope)

    @cached_property
    def outer(self) -> tuple[VisibleValues, ...]:
        """The values of the graphs around a body, the innermost first."""
        return () if self._outer is None else tuple(self._outer.around(self._graph))

    def similar(self, t: Term) -> list[Term]:
        """Return numbers that the graph computes of the same sizes as a term."""
        if self._alike is None:
            self._alike = grouped((number.leaves(), number) for number in self.scalars)
        others = (n for n in self._alike.get(t.leaves(), ()) if n is not t)
        return list(islice(others, _SIMILAR))

    def _note(self, value: ir.Value, scope: Scope) -> None:
        tensor = scope.values.get(value)
        if tensor is None or tensor.shape is None:
            return
        for axis, dim in enumerate(tensor.shape):
            if dim.constant is None and self._is_early(dim, value, _DIMS):
                self.dims.setdefault(dim, []).append((value, axis))
        if tensor.dtype == _INT64 and len(tensor.shape) <= 1:
            scalar = tensor.scalar
            if scalar is not None and self._is_early(scalar, value, len(tensor.shape)):
                self.scalars.setdefault(scalar, []).append(value)

    def _is_early(self, t: Term, value: ir.Value, kind: int) -> bool:
        """Return whether a value is among the first of its kind to hold a term."""
        if t.constant is not None:
            return False
        key = (t, kind, value in self.dependent)
        self._counts[key] += 1
        return self._counts[key] <= _FIRST


def descendants(graph: ir.Graph, values: set[ir.Value]) -> dict[ir.Value, int]:
    """Return the values of a graph that are computed from some of these, and from how many.

    Up to a limit, they are counted.
    """
    roots_of: dict[ir.Value, frozenset[ir.Value]] = {}
    for node in graph:
        roots: frozenset[ir.Value] = frozenset()
        for value in node.inputs:
            if value is None:
                continue
            if value in values:
                roots |= {value}
            more = roots_of.get(value)
            if more is not None and len(roots) <= _COUNTED:
                roots = roots | more if roots and len(more) <= _COUNTED else more
        if roots:
            roots_of.update(dict.fromkeys(node.outputs, roots))
    return {v: min(len(roots), _COUNTED) for v, roots in roots_of.items() if v not in values}


class ExistingValues:
    """Reads values before the writer's insertion point, as vectors of one int64.

    If it ``depends_on_removed``, it also reads values that depend on values that may be removed.
    """

    def __init__(self, writer: Writer, scope: Scope, available: AvailableValues) -> None:
        self.writer = writer
        self.scope = scope
        self.available = available
        self.depends_on_removed = False
        # Results for the current insertion point.
        self._insertion_point: ir.Node | None = None
        self._position = -1
        self._scalars: dict[tuple[Term, bool], ir.Value | None] = {}

    def _at_insertion_point(self) -> None:
        """Forget the results for another insertion point."""
        point = self.writer.graph.insertion_point
        if point is not self._insertion_point:
            self._insertion_point = point
            self._position = self.available.order.get(point.outputs[0], -1)
            self._scalars.clear()

    def is_available(self, value: ir.Value) -> bool:
        """Return whether a value is computed before the insertion point."""
        self._at_insertion_point()
        position = self.available.order.get(value)
        if position is not None:
            return position < self._position
        return any(visible.has(value) for visible in self.available.outer)

    def _can_read(self, value: ir.Value) -> bool:
        if value in self.available.dependent and not self.depends_on_removed:
            return False
        return self.is_available(value)

    def cost(self, t: Term) -> int | None:
        """Return how many nodes it takes to read a term, or None if the graph does not have it."""
        scalar = self._scalar(t)
        if scalar is not None:
            return 0 if self._rank(scalar) == 1 else 1
        dim = self._dim(t)
        if dim is not None:
            value, axis = dim
            return weight(self.writer, "Shape", value, start=axis, end=axis + 1)
        element = self._element(t)
        return None if element is None else element.cost

    def read(self, t: Term) -> ir.Value | None:
        """Return a term of the graph as a vector, or None if the graph does not have it."""
        w = self.writer
        scalar = self._scalar(t)
        if scalar is not None:
            return scalar if self._rank(scalar) == 1 else w.axes("Unsqueeze", scalar, _INT64, [0])
        dim = self._dim(t)
        if dim is not None:
            value, axis = dim
            return w.node("Shape", [value], _INT64, start=axis, end=axis + 1)
        element = self._element(t)
        return None if element is None else element.write(w)

    def of_shape(self, dims: Sequence[Term]) -> ir.Value | None:
        """Return a tensor that has a shape, which is not all numbers, or None."""
        for value, axis in self._held(next(d for d in dims if d.constant is None)):
            shape = self.scope.values[value].shape
            if axis < len(dims) and shape == tuple(dims) and self._can_read(value):
                return value
        return None

    def _held(self, dim: Term) -> Iterator[tuple[ir.Value, int]]:
        """Yield the values with a dim, and its axis: those of the graph, then those around it."""
        yield from self.available.dims.get(dim, ())
        for visible in self.available.outer:
            yield from visible.values.dims.get(dim, ())

    def _rank(self, value: ir.Value) -> int:
        return len(self.scope.values[value].shape or ())

    def _scalar(self, t: Term) -> ir.Value | None:
        """Return a value that holds a term: the first vector, else the first scalar.

        A value that keeps fewer removable values alive is preferred to both.
        """
        self._at_insertion_point()
        key = t, self.depends_on_removed
        if key not in self._scalars:
            self._scalars[key] = self._first_scalar(t)
        return self._scalars[key]

    def _first_scalar(self, t: Term) -> ir.Value | None:
        def badness(value: ir.Value) -> tuple[int, bool]:
            return self.available.dependent.get(value, 0), self._rank(value) != 1

        # If a value is not available, later ones are not either.
        early = takewhile(self.is_available, self.available.scalars.get(t, ()))
        best = min(filter(self._can_read, early), key=badness, default=None)
        if best is not None:
            return best
        held = (v for visible in self.available.outer for v in visible.values.scalars.get(t, ()))
        return min(filter(self._can_read, held), key=badness, default=None)

    def _dim(self, t: Term) -> tuple[ir.Value, int] | None:
        return next((dim for dim in self._held(t) if self._can_read(dim[0])), None)

    def _element(self, t: Term) -> ScalarLoad | None:
        """Return how to read a term that is an element of a tensor, or None."""
        atom = t.symbol
        load = None if atom is None else scalar_load(atom, self.scope)
        if load is None or load.value in self.available.removed:
            return None
        return load if self._can_read(load.value) else None
