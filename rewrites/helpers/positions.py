"""A position that is known only at run time, as a tensor of the graph.

It is an element of a tensor, which is read directly (a scalar, one number per row), or one number
for all rows, which is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.origins import read_value
from onnx_scatterx.optimizer.lift.access import Access
from onnx_scatterx.optimizer.lowering.rule import Context
from onnx_scatterx.optimizer.symbolic.terms import Symbol, Term, dim_of, symbol_of

_INT64 = ir.DataType.INT64


@dataclass(frozen=True)
class Positions:
    """The tensor, with the axis of the data for each of its dims, ascending."""

    dtype: ir.DataType
    places: tuple[int, ...]
    write: Callable[[], ir.Value]

    def added(self, rank: int) -> list[int]:
        """Return the axes to add to the tensor: it then broadcasts to the data."""
        first = min(self.places, default=rank)
        return [d - first for d in range(first, rank) if d not in self.places]


def positions(
    target: Term, axis: int, along: Mapping[int, int], access: Access, context: Context
) -> Positions | None:
    """Return a target on an axis as a tensor, if dims of what is moved run ``along`` axes."""
    found = _looked_up(target, along, access, context)
    if found is None and target.offset and target.coords:
        found = _looked_up(target - target.offset, along, access, context)
        return None if found is None else _moved(found, target.offset, context)
    if found is None and not target.coords and target.constant is None:
        context.numbers.cost(target)  # or refuse
        return Positions(_INT64, (axis,), lambda: context.numbers.vector(target))
    return found


def _looked_up(
    target: Term, along: Mapping[int, int], access: Access, context: Context
) -> Positions | None:
    atom = symbol_of(target)
    value = read_value(atom)
    if atom is None or value is None or not context.numbers.is_available(value):
        return None
    found = context.provenance.abstract(value)
    if found.shape is None or found.dtype not in (ir.DataType.INT32, _INT64):
        return None
    places = _places(atom, along, found.shape, access)
    if places is None:
        return None
    return Positions(found.dtype, places, lambda: value)


def _moved(found: Positions, offset: int, context: Context) -> Positions:
    w = context.writer

    def write() -> ir.Value:
        at = found.write()
        if found.dtype != _INT64:
            at = w.node("Cast", [at], _INT64, to=_INT64.value)
        return w.node("Add", [at, w.constant(np.array(offset))], _INT64)

    return Positions(_INT64, found.places, write)


def _places(
    atom: Symbol, along: Mapping[int, int], shape: tuple[Term, ...], access: Access
) -> tuple[int, ...] | None:
    """Return the axis of the data for each dim of the index tensor, ascending, or None.

    A dim of extent 1 may belong to any axis: it takes the next one. The others must be read whole:
    the tensor may be longer than the part that the indices read.
    """
    rank = len(access.data_shape)
    places: list[int] = []
    for part, extent in zip(atom.parts, shape, strict=True):
        dim = dim_of(part)
        if dim is not None and access.facts.equal(extent, access.shape[dim]):
            places.append(along[dim])
        elif part.constant == 0 and extent.constant == 1:
            places.append(-1)
        else:
            return None
    for i in reversed(range(len(places))):
        if places[i] < 0:
            places[i] = (places[i + 1] if i + 1 < len(places) else rank) - 1
    if sorted(set(places)) != places or (places and places[0] < 0):
        return None
    return tuple(places)
