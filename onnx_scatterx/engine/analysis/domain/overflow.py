"""Whether a term fits the range of its tensor's type: terms never overflow, tensors do.

An int64 ``Add`` of a position that is known only at run time is not followed, as it may overflow.
Its result is the sum modulo 2**64. A valid index is smaller than its axis, so if the sum is well
within 2**64, it did not wrap.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.broadcast_shapes import broadcast_coords
from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.analysis.domain.tensor import ElementOf, TensorValue
from onnx_scatterx.engine.budget import AXIS_LIMIT, LIMITS
from onnx_scatterx.engine.terms import Atom, Facts, Symbol, Term, term
from onnx_scatterx.graphs import made_by


def fits(t: Term, dtype: ir.DataType, facts: Facts) -> bool:
    """Return whether a term cannot leave a type's range (``Facts.fits``)."""
    if dtype == ir.DataType.BOOL:
        return True
    limits = np.iinfo(dtype.numpy())
    return facts.fits(t, int(limits.min), int(limits.max))


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
        low, high = larger.interval_within(_within_64_bits)
        if not -_ROOM <= low <= high <= _ROOM:
            return index
        index = larger
    return index


def _within_64_bits(atom: Atom) -> tuple[float, float]:
    low, high = atom.within_axes()
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
    whole = scope.of(node.outputs[0])
    if whole.shape is None or whole.dtype != ir.DataType.INT64:
        return None
    terms = [_at(scope.of(v), whole, leaf, scope) for v in node.inputs]
    signs = _SIGNS[node.op_type]
    if len(terms) != 2 or any(t is None for t in terms):
        return None
    return sum((s * t for s, t in zip(signs, terms, strict=True) if t is not None), start=term(0))


def _at(part: TensorValue, whole: TensorValue, leaf: Symbol, scope: Scope) -> Term | None:
    """Return the element of an operand that the leaf was computed from."""
    if part.shape is None or part.index_map is None:
        return None
    own = part.index_map.at(broadcast_coords(part.shape, whole.dims, scope.facts))
    return own.at(dict(enumerate(leaf.parts)))
