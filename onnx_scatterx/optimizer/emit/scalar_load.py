"""Reading one element of an integer tensor, as a vector of one int64.

    idx[0]   =   Slice(idx, 0, 1)               if there is an element
             =   Slice(Concat(idx, [0]), 0, 1)  if idx may be empty

If the element does not exist, only empty tensors depend on it: any number that the facts allow is
correct.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.call import Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import read_value
from onnx_scatterx.optimizer.emit.writer import Writer
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term, as_term

_INT64 = ir.DataType.INT64


@dataclass(frozen=True)
class ScalarLoad:
    """An element of a tensor in which only the last axis is longer than 1."""

    value: ir.Value
    dtype: ir.DataType
    rank: int
    place: int
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
            value = w.slice(value, dtype, [0], [self.place], [self.place + 1], [1])
        if dtype != _INT64:
            value = w.node("Cast", [value], _INT64, to=_INT64.value)
        return value


def scalar_load(leaf: Symbol, scope: Scope) -> ScalarLoad | None:
    """Return the tensor of an element, and the element's place, or None if that is not known."""
    value = read_value(leaf)
    found = None if value is None else scope.values.get(value)
    if value is None or found is None or found.shape is None or found.index_map is None:
        return None
    places = [part.constant for part in leaf.parts]
    if found.dtype not in (_INT64, ir.DataType.INT32) or len(places) != len(found.shape):
        return None
    if found.index_map.at({d: p for d, p in enumerate(places) if p is not None}) is not as_term(
        leaf
    ):
        return None
    if any(n.constant != 1 for n in found.shape[:-1]) or None in places:
        return None
    place = places[-1] if places else 0
    assert place is not None
    padded = bool(places) and not scope.facts.is_nonnegative(found.shape[-1] - place - 1)
    if padded and (place != 0 or not _may_be_zero(leaf, found.shape[-1], scope.facts)):
        return None
    return ScalarLoad(value, found.dtype, len(places), place, padded)


def _may_be_zero(leaf: Symbol, extent: Term, facts: Facts) -> bool:
    """Return whether 0 contradicts no fact about an element, if the element does not exist."""
    known: list[Term] = [fact for fact in facts.known() if leaf in fact.leaves()]
    elements = facts.of_elements(leaf)
    known += elements.of(as_term(leaf)) if elements is not None else []
    empty = facts.assuming(-extent)
    return all(empty.is_nonnegative(fact.replace({leaf: 0})) for fact in known)
