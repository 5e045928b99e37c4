"""What holds because a node has run: its bounds.

ONNX Runtime checks every index of a scatter or a gather. So if the original model ran, each box
that is written or read lies within the data, unless the indices were empty. ``learn_bounds`` adds
that to the facts, once, before anything is planned. Planning asks the facts and adds none. What
follows from shapes, or from indices that are numbers, follows from ``analysis.preconditions``.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, Scope
from onnx_scatterx.engine.budget import LIMITS, LimitError, budget
from onnx_scatterx.engine.lift.access import Access
from onnx_scatterx.engine.lift.affine import AffineAxis
from onnx_scatterx.engine.lift.footprint import Piece, pieces
from onnx_scatterx.engine.lift.lifting import (
    Gather,
    Scatter,
    is_gather,
    is_scatter,
    lift_gather,
    lift_scatter,
)
from onnx_scatterx.engine.lift.unflatten import unflattened
from onnx_scatterx.engine.terms import Facts, Term, maximum, minimum, term
from onnx_scatterx.text import Reason, Refusal, RefusedError, refuse_unless


class Bounded(NamedTuple):
    """An axis that lies within the data, its number of positions, and facts of a run."""

    affine: AffineAxis
    positions: Term
    proven: tuple[Term, ...] = ()  # never negative


def learn_bounds(knowledge: Knowledge) -> None:
    """Add the facts that hold because the scatters and gathers of a model run, within limits."""
    for graph, scope in knowledge.own_graphs():
        for node in graph:
            if not (is_scatter(node) or is_gather(node)) or node not in scope.running:
                continue
            if not _is_of_numbers(node, scope):
                with suppress(LimitError), budget().of_part(LIMITS.scatter_steps):
                    for access in _accesses(node, scope):
                        _learn(access, scope.facts)


def _is_of_numbers(node: ir.Node, scope: Scope) -> bool:
    """Return whether a node's sizes and positions are numbers: then nothing is learnt from it."""
    data, indices = map(scope.of, node.inputs[:2])
    listed = isinstance(indices.content, np.ndarray) and indices.content.dtype != object
    return listed and data.static_shape is not None and node.op_type != "TensorScatter"


def _accesses(node: ir.Node, scope: Scope) -> list[Access]:
    try:
        access = lift_scatter(node, scope) if is_scatter(node) else lift_gather(node, scope)
        if isinstance(access, Refusal):
            return []
        whole = unflattened(access, scope) if isinstance(access, Scatter) else None
        return [access] if whole is None else [access, whole]
    except (RefusedError, LookupError):
        return []


def _learn(access: Access, facts: Facts) -> None:
    try:
        for piece in pieces(access):
            for axis, affine in enumerate(piece.axes):
                facts.add(bounded(access, piece, axis, affine, facts).proven)
    except RefusedError:
        return


def bounded(access: Access, piece: Piece, axis: int, affine: AffineAxis, facts: Facts) -> Bounded:
    """Return an axis of a box, limited so that it lies within the data, or refuse."""
    bound = _bounds_of_read if isinstance(access, Gather) else _bounds_of_write
    return bound(access, piece, axis, affine, facts)


def _bounds_of_write(
    scatter: Access, piece: Piece, axis: int, affine: AffineAxis, facts: Facts
) -> Bounded:
    """Return an axis of a written box.

    There was an index to check unless a dim that the index tensor runs over is empty. If only the
    own dim of the axis may be empty, its start is clamped, and the check bounds its end. Else what
    is written is cut at the end of the data.
    """
    size = scatter.data_shape[axis]
    count = term(1) if affine.dim is None else piece.counts[affine.dim]
    last = affine.start + (affine.step * (count - 1) if affine.step > 0 else 0)
    if facts.is_nonnegative(size - 1 - last):
        return Bounded(affine, count)
    outside = facts.is_nonnegative(last - size) and facts.is_nonnegative(count - 1)
    refuse_unless(not outside, Reason.INVALID, f"an index is out of bounds on axis {axis}")
    checked = _is_checked(scatter.index_dims, piece, affine, facts)
    if affine.dim is None:
        refuse_unless(checked, Reason.UNKNOWN_BOUNDS, f"axis {axis}")
        return Bounded(affine, count, (size - 1 - affine.start,))
    if checked and facts.is_nonnegative(count - 1):
        return Bounded(affine, count, (size - 1 - last,))
    if affine.step != 1:
        return Bounded(affine, count)
    start = _at_most(affine.start, size, facts)
    proven = (size - start - count,) if checked else ()
    return Bounded(AffineAxis(start, 1, affine.dim), count, proven)


def _at_most(t: Term, most: Term, facts: Facts) -> Term:
    """Return the lesser of two terms: the first one, if that is proven."""
    return t if facts.is_nonnegative(most - t) else minimum(t, most)


def _bounds_of_read(
    gather: Access, piece: Piece, axis: int, affine: AffineAxis, facts: Facts
) -> Bounded:
    """Return an axis of a read box."""
    assert isinstance(gather, Gather)
    size, start = gather.data_shape[axis], affine.start
    count = term(1) if affine.dim is None else piece.counts[affine.dim]
    last = start + affine.step * (count - 1)
    low, high = (start, last) if affine.step >= 0 else (last, start)
    if facts.is_nonnegative(low) and facts.is_nonnegative(size - 1 - high):
        return Bounded(affine, count)
    outside = facts.is_nonnegative(high - size) or facts.is_nonnegative(-low - 1)
    refuse_unless(not outside, Reason.INVALID, f"an index is out of bounds on axis {axis}")
    checked = _is_checked(gather.checked_dims, piece, affine, facts)
    refuse_unless(checked, Reason.UNKNOWN_BOUNDS, f"axis {axis}")
    if facts.is_nonnegative(count - 1):
        return Bounded(affine, count, (low, size - 1 - high))
    refuse_unless(affine.step == 1, Reason.UNKNOWN_BOUNDS, f"axis {axis}")
    start = start if facts.is_nonnegative(start) else maximum(start, 0)
    start = _at_most(start, size, facts)
    return Bounded(AffineAxis(start, 1, affine.dim), count, (size - start - count,))


def _is_checked(dims: tuple[int, ...], piece: Piece, affine: AffineAxis, facts: Facts) -> bool:
    """Return whether there was an index to check, unless the own dim of the axis is empty."""
    return all(facts.is_nonnegative(piece.counts[d] - 1) for d in dims if d != affine.dim)
