"""Sums that might wrap, treated as sums: an index that the original accepts is small.

An int64 ``Add`` of a position that is known only at run time is not followed, as it may overflow.
Its result is the sum modulo 2**64. A valid index is smaller than its axis, so if the sum is well
within 2**64, it did not wrap.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.ir.graphs import made_by
from onnx_scatterx.optimizer.analysis.domain.broadcast_shapes import broadcast_coords
from onnx_scatterx.optimizer.analysis.domain.origins import ElementOf
from onnx_scatterx.optimizer.analysis.domain.overflow import AXIS_LIMIT, capped
from onnx_scatterx.optimizer.analysis.domain.scope import Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.terms import Atom, Interval, Symbol, Term, interval_of, term

_ROOM = (1 << 64) - 2 * AXIS_LIMIT
_SIGNS = {"Add": (1, 1), "Sub": (1, -1)}


def without_wraparound(index: Term, scope: Scope) -> Term:
    """Return an index of an axis with its sums written out.

    It is the same number, provided that a node has checked that it lies within its axis.
    """
    for _ in range(LIMITS.sums):
        larger = _written_out(index, scope)
        if larger is None:
            return index
        low, high = interval_of(larger, _within_64_bits)
        if not -_ROOM <= low <= high <= _ROOM:
            return index
        index = larger
    return index


def _within_64_bits(atom: Atom) -> Interval:
    low, high = capped(atom)
    return max(low, -(1 << 63)), min(high, 1 << 63)


def _written_out(index: Term, scope: Scope) -> Term | None:
    """Return a term with one of its leaves written out as a sum, or None."""
    for monomial, factor in index.items:
        leaf = monomial[0] if len(monomial) == 1 else None
        total = _sum(leaf, scope) if isinstance(leaf, Symbol) else None
        if leaf is not None and total is not None:
            _, rest = index.split(leaf)
            if leaf not in rest.all_atoms():
                return rest + factor * total
    return None


def _sum(leaf: Symbol, scope: Scope) -> Term | None:
    origin = leaf.origin
    if not isinstance(origin, ElementOf) or origin.visit is not scope.visit_id:
        return None
    node = made_by(origin.value, *_SIGNS)
    if node is None:
        return None
    whole = scope.values.get(node.outputs[0])
    parts = [None if v is None else scope.values.get(v) for v in node.inputs]
    if whole is None or whole.shape is None or whole.dtype != ir.DataType.INT64:
        return None
    found = [_at(part, whole, leaf, scope) for part in parts]
    signs = _SIGNS[node.op_type]
    if len(found) != 2 or any(t is None for t in found):
        return None
    return sum((s * t for s, t in zip(signs, found, strict=True) if t is not None), start=term(0))


def _at(part: TensorValue | None, whole: TensorValue, leaf: Symbol, scope: Scope) -> Term | None:
    """Return the element of an operand that the leaf was computed from."""
    if part is None or part.shape is None or part.index_map is None:
        return None
    own = part.index_map.at(broadcast_coords(part.shape, whole.dims, scope.facts))
    return own.at(dict(enumerate(leaf.parts)))
