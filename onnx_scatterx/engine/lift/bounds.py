"""What holds because a node has run: its bounds; and updates that collide, left open by ONNX.

ONNX Runtime checks every index of a scatter or a gather. So if the original model ran, each box
that is written or read lies within the data, unless the indices were empty. ``learn_bounds`` adds
that to the facts, once, before anything is planned. Planning asks the facts and adds none.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Knowledge, Scope
from onnx_scatterx.engine.budget.limits import LIMITS
from onnx_scatterx.engine.budget.spending import LimitError, budget
from onnx_scatterx.engine.lift.access import Access
from onnx_scatterx.engine.lift.footprint import AffineAxis, Piece, pieces
from onnx_scatterx.engine.lift.in_theory import InTheory
from onnx_scatterx.engine.lift.lift_scatter import (
    Gather,
    Scatter,
    is_gather,
    is_scatter,
    lift_gather,
    lift_scatter,
)
from onnx_scatterx.engine.lift.unflatten import unflattened
from onnx_scatterx.engine.terms.prove import Facts
from onnx_scatterx.engine.terms.terms import Term, maximum, minimum, term
from onnx_scatterx.graphs.traversal import live_nodes
from onnx_scatterx.text.reasons import Reason, Refusal, RefusedError, refuse_unless


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
        return Bounded(affine, count)  # clamped to the data afterwards
    start = _at_most(affine.start, size, facts)
    room, clamped = size - start, AffineAxis(start, 1, affine.dim)
    if checked:
        return Bounded(clamped, count, (room - count,))
    return Bounded(clamped, _at_most(count, room, facts))


def _at_most(t: Term, most: Term, facts: Facts) -> Term:
    """Return the lesser of two terms: the first one, if that is proven."""
    return t if facts.is_nonnegative(most - t) else minimum(t, most)


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


LAST_WINS = "onnx_scatterx.last_wins"  # in a node's `meta`: its overwritten updates were dropped
_TOLD = 64  # groups in plain data
_SHOWN = 4  # updates of one group that are listed


@dataclass(frozen=True)
class Duplicates:
    """Updates of a scatter may collide; ``groups`` are those that collide, by their indices.

    ``certain`` says that some collide. ``last_wins`` says that the last one was made to win.
    ``last`` says where the last one wins in any case.
    """

    certain: bool
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    last_wins: bool = False
    last: str = ""

    def __str__(self) -> str:
        if self.last_wins:
            return "if several updates go to the same element, the last one wins"
        open_ = "and ONNX does not say which one wins" + (
            f"; {self.last} the last" if self.last else ""
        )
        if not self.certain:
            return f"updates may go to the same element, {open_}"
        if not self.groups:
            return f"updates go to the same element, {open_}"
        updates = [str(index) for index in self.groups[0]]
        listed = f"{', '.join(updates[:-1])} and {updates[-1]}"
        if len(updates) > _SHOWN:
            listed = f"{', '.join(updates[:_SHOWN])} and {len(updates) - _SHOWN} more"
        elsewhere = len(self.groups) - 1
        others = f" (others to {elsewhere} more)" if elsewhere else ""
        return f"updates {listed} go to the same element{others}, {open_}"

    def to_dict(self) -> dict[str, Any]:
        """Return this as plain data; of many groups only the first ones."""
        groups = [[list(index) for index in group] for group in self.groups[:_TOLD]]
        return {"certain": self.certain, "updates": groups, "settled": self.last_wins}


def duplicates_of(node: ir.Node, in_theory: InTheory, unique: str, last: str) -> Duplicates | None:
    """Return the collisions, for which ONNX defines no order; None if no two updates collide.

    ``unique`` is the word of the report for uniqueness. ``last`` says where the last update wins.
    """
    if node.meta.get(LAST_WINS) and unique == "proven":
        return Duplicates(True, last_wins=True)
    scatter = in_theory.access
    if not isinstance(scatter, Scatter) or scatter.reduction != "none" or unique == "proven":
        return None
    groups: tuple[tuple[tuple[int, ...], ...], ...] = ()
    # If a node never runs, its targets may be out of bounds. Then they are not grouped.
    if in_theory.transformer is not None and in_theory.unique is False:
        groups = in_theory.transformer.collisions()
    return Duplicates(unique == "collides", groups, last=last)
