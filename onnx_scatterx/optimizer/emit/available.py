"""The sizes and numbers that a graph has: tensors by their dims, scalars by their contents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import islice

import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.scope import Scope
from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term

_INT64 = ir.DataType.INT64

_FIRST = 8  # remembered values for a term: the earliest are readable most often
_DIMS = -1
_SIMILAR = 16  # numbers tried in place of another
_COUNTED = 16  # removable values from which a value is computed


class AvailableValues:
    """The values that hold a graph's sizes and numbers: tensors by dims, scalars by contents.

    ``order`` is every value's place in the graph: values before the insertion point can be read.
    The values in ``dependent`` depend on values that may be removed (``removed``), on how many of
    them up to a limit. They are read only if no other value holds the size.
    """

    def __init__(self, graph: ir.Graph, scope: Scope, removed: Iterable[ir.Value]) -> None:
        self.order: dict[ir.Value, int] = {}
        self._alike: dict[frozenset[Symbol], list[Term]] | None = None
        self.dims: dict[Term, list[tuple[ir.Value, int]]] = {}
        self.scalars: dict[Term, list[ir.Value]] = {}
        removed = set(removed)
        values = [*graph.inputs, *graph.initializers.values()]
        self.order.update(dict.fromkeys(values, -1))
        for place, node in enumerate(graph):
            values.extend(node.outputs)
            self.order.update(dict.fromkeys(node.outputs, place))
        self.removed = removed
        self.dependent = descendants(graph, removed)
        self._counts: Counter[tuple[Term, int, bool]] = Counter()
        for value in values:
            if value not in removed:
                self._note(value, scope)

    def similar(self, t: Term) -> list[Term]:
        """Return numbers that the graph computes of the same sizes as a term."""
        if self._alike is None:
            self._alike = {}
            for number in self.scalars:
                self._alike.setdefault(number.leaves(), []).append(number)
        found = (n for n in self._alike.get(t.leaves(), ()) if n is not t)
        return list(islice(found, _SIMILAR))

    def _note(self, value: ir.Value, scope: Scope) -> None:
        found = scope.values.get(value)
        if found is None or found.shape is None:
            return
        for axis, dim in enumerate(found.shape):
            if dim.constant is None and self._is_early(dim, value, _DIMS):
                self.dims.setdefault(dim, []).append((value, axis))
        if found.dtype == _INT64 and len(found.shape) <= 1:
            scalar = found.scalar
            if scalar is not None and self._is_early(scalar, value, len(found.shape)):
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
    found: dict[ir.Value, frozenset[ir.Value]] = {}
    for node in graph:
        roots: frozenset[ir.Value] = frozenset()
        for value in node.inputs:
            if value is None:
                continue
            if value in values:
                roots |= {value}
            more = found.get(value)
            if more is not None and len(roots) <= _COUNTED:
                roots = roots | more if roots and len(more) <= _COUNTED else more
        if roots:
            found.update(dict.fromkeys(node.outputs, roots))
    return {v: min(len(roots), _COUNTED) for v, roots in found.items() if v not in values}
