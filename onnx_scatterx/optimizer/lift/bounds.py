"""The bounds of a box within the data, and the facts that hold because a node has run.

ONNX Runtime checks every index of a scatter or a gather. So if the original model ran, each box
that is written or read lies within the data, unless the indices were empty. ``learn_bounds`` adds
that to the facts, once, before anything is planned. Planning asks the facts and adds none.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.graphs import live_nodes
from onnx_scatterx.optimizer.analysis.domain.call import UnknownAttributeError
from onnx_scatterx.optimizer.analysis.domain.scope import Knowledge, Scope
from onnx_scatterx.optimizer.lift.access import Access
from onnx_scatterx.optimizer.lift.footprint import AffineAxis, Piece, pieces
from onnx_scatterx.optimizer.lift.lift_gather import Gather, is_gather, lift_gather
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter, is_scatter, lift_scatter
from onnx_scatterx.optimizer.lift.unflatten import unflattened
from onnx_scatterx.optimizer.symbolic.budget import LimitError, budget
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.symbolic.prove import Facts
from onnx_scatterx.optimizer.symbolic.terms import Term, maximum, minimum, term
from onnx_scatterx.text.reasons import Reason, Refusal, RefusedError


class Bounded(NamedTuple):
    """An axis that lies within the data, its number of positions, and facts of a run."""

    affine: AffineAxis
    positions: Term
    proven: tuple[Term, ...] = ()  # never negative


def learn_bounds(knowledge: Knowledge) -> None:
    """Add the facts that hold because the scatters and gathers of a model run, within limits."""
    for graph, scope in knowledge.own_graphs():
        live = live_nodes(graph)
        for node in graph:
            if not (is_scatter(node) or is_gather(node)) or node not in live:
                continue
            if not _is_of_numbers(node, scope):
                with suppress(LimitError), budget().of_part(LIMITS.scatter_steps):
                    for access in _accesses(node, scope):
                        _learn(access, scope.facts)


def _is_of_numbers(node: ir.Node, scope: Scope) -> bool:
    """Return whether a node's sizes and positions are numbers: then nothing is learnt from it."""
    data, indices = (None if v is None else scope.values.get(v) for v in node.inputs[:2])
    if data is None or indices is None or node.op_type == "TensorScatter":
        return False
    listed = isinstance(indices.content, np.ndarray) and indices.content.dtype != object
    return listed and data.static_shape is not None


def _accesses(node: ir.Node, scope: Scope) -> list[Access]:
    try:
        access = lift_scatter(node, scope) if is_scatter(node) else lift_gather(node, scope)
        if isinstance(access, Refusal):
            return []
        whole = unflattened(access, scope) if isinstance(access, Scatter) else None
        return [access] if whole is None else [access, whole]
    except (RefusedError, UnknownAttributeError, LookupError):
        return []


def _learn(access: Access, facts: Facts) -> None:
    bound = bounds_of_read if isinstance(access, Gather) else bounds_of_write
    try:
        for piece in pieces(access):
            for axis, affine in enumerate(piece.axes):
                facts.add(bound(access, piece, axis, affine, facts).proven)
    except RefusedError:
        return


def bounds_of_write(
    scatter: Access, piece: Piece, axis: int, affine: AffineAxis, facts: Facts
) -> Bounded:
    """Return an axis of a written box, limited so that it lies within the data, or refuse.

    There was an index to check unless a dim that the index tensor runs over is empty. If only the
    own dim of the axis may be empty, its start is clamped, and the check bounds its end. Else the
    count is reduced to the positions that fit.
    """
    size = scatter.data_shape[axis]
    count = term(1) if affine.dim is None else piece.counts[affine.dim]
    last = affine.start + (affine.step * (count - 1) if affine.step > 0 else 0)
    if facts.is_nonnegative(size - 1 - last) or (
        abs(affine.step) == 1 and facts.is_nonnegative(size - last - 1)
    ):
        return Bounded(affine, count)
    if facts.is_nonnegative(last - size) and facts.is_nonnegative(count - 1):
        raise RefusedError(Reason.INVALID, f"an index is out of bounds on axis {axis}")
    checked = _is_checked(scatter.index_dims, piece, affine, facts)
    if affine.dim is None:
        if not checked:
            raise RefusedError(Reason.UNKNOWN_BOUNDS, f"axis {axis}")
        return Bounded(affine, count, (size - 1 - affine.start,))
    if checked and facts.is_nonnegative(count - 1):
        return Bounded(affine, count, (size - 1 - last,))
    if affine.step != 1:
        return Bounded(affine, count)  # clamped to the data afterwards
    start = (
        affine.start if facts.is_nonnegative(size - affine.start) else minimum(affine.start, size)
    )
    room = size - start
    if checked:
        return Bounded(AffineAxis(start, 1, affine.dim), count, (room - count,))
    fits = facts.is_nonnegative(room - count)
    return Bounded(AffineAxis(start, 1, affine.dim), count if fits else minimum(count, room))


def bounds_of_read(
    gather: Access, piece: Piece, axis: int, affine: AffineAxis, facts: Facts
) -> Bounded:
    """Return an axis of a read box, limited so that it lies within the data, or refuse."""
    assert isinstance(gather, Gather)
    size, start = gather.data_shape[axis], affine.start
    count = term(1) if affine.dim is None else piece.counts[affine.dim]
    last = start + affine.step * (count - 1)
    low, high = (start, last) if affine.step >= 0 else (last, start)
    if facts.is_nonnegative(low) and facts.is_nonnegative(size - 1 - high):
        return Bounded(affine, count)
    if facts.is_nonnegative(high - size) or facts.is_nonnegative(-low - 1):
        raise RefusedError(Reason.INVALID, f"an index is out of bounds on axis {axis}")
    if not _is_checked(gather.checked_dims, piece, affine, facts):
        raise RefusedError(Reason.UNKNOWN_BOUNDS, f"axis {axis}")
    if facts.is_nonnegative(count - 1):
        return Bounded(affine, count, (low, size - 1 - high))
    if affine.step != 1:
        raise RefusedError(Reason.UNKNOWN_BOUNDS, f"axis {axis}")
    start = start if facts.is_nonnegative(start) else maximum(start, 0)
    start = start if facts.is_nonnegative(size - start) else minimum(start, size)
    return Bounded(AffineAxis(start, 1, affine.dim), count, (size - start - count,))


def _is_checked(dims: tuple[int, ...], piece: Piece, affine: AffineAxis, facts: Facts) -> bool:
    """Return whether there was an index to check, unless the own dim of the axis is empty."""
    return all(facts.is_nonnegative(piece.counts[d] - 1) for d in dims if d != affine.dim)
