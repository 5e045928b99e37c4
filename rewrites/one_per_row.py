"""A write of one position per row is a comparison with the positions and a Where.

    before   y = ScatterElements(x, idx, u, axis=1)       idx, u of shape [B, 1], x of [B, S]
    after    y = Where(idx == Range(S) or idx == Range(S) - S, u, x)

Holds if every axis but one is written in full, each along its own dim of the updates, and the
position on that one axis is an element of a tensor over those dims: a scalar that is known only at
run time, or one index per row. No two updates collide. The two comparisons cover both signs of the
index. The second is omitted if the index is known to count from the start.
"""

from __future__ import annotations

import onnx_ir as ir

from onnx_scatterx.optimizer.emit.reduce import reduced, reducers, select
from onnx_scatterx.optimizer.lift.lift_scatter import Scatter
from onnx_scatterx.optimizer.lowering.rule import Context, Plan, ScatterRule
from onnx_scatterx.optimizer.symbolic.terms import dim_of
from onnx_scatterx.rewrites.helpers.cuts import hits
from onnx_scatterx.rewrites.helpers.places import is_checked
from onnx_scatterx.rewrites.helpers.search import Positions, positions
from onnx_scatterx.text.reasons import Reason, Refusal


class OnePerRowRule(ScatterRule):
    """Rewrites writes of one position per row."""

    name = "one_per_row"
    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        found = _positions(scatter, context)
        if found is None:
            return Refusal(Reason.NO_RULE)
        (axis, index), rank = found, len(scatter.data_shape)
        size = scatter.data_shape[axis]
        if size.constant == 0:
            return Refusal(Reason.NO_RULE)
        w, dtype = context.writer, scatter.dtype
        ops = reducers(w, scatter.reduction, dtype)
        signed = not scatter.nonnegative[axis]
        added = index.added(rank)
        missing = _missing(scatter, axis)
        dropped = rank - len(scatter.shape)
        dims = [c - dropped * (c > axis) for c in index.places if c != axis]
        checked = is_checked(scatter, dims)

        def write() -> ir.Value:
            at = w.axes("Unsqueeze", index.write(), index.dtype, added)
            hit = hits(at, index.dtype, size, axis, rank, context, signed=signed, checked=checked)
            new = w.axes("Unsqueeze", scatter.updates, dtype, missing)
            new = reduced(w, ops, scatter.data, new, dtype)
            return select(w, hit, new, scatter.data, dtype)

        return Plan(write)


def _missing(scatter: Scatter, axis: int) -> list[int]:
    """Return the axis if the updates lack a dim for it, so that they broadcast along it."""
    return [axis] if len(scatter.shape) < len(scatter.data_shape) else []


def _positions(scatter: Scatter, context: Context) -> tuple[int, Positions] | None:
    """Return the one axis that is not written in full, with its indices."""
    facts = scatter.facts
    along: dict[int, int] = {}  # dim of the updates -> axis of the data
    rest = []
    for axis, (target, size) in enumerate(
        zip(scatter.index_exprs, scatter.data_shape, strict=True)
    ):
        dim = dim_of(target)
        if dim is not None and dim not in along and facts.equal(scatter.shape[dim], size):
            along[dim] = axis
            continue
        if size.constant == 1 and target.constant == 0:
            continue
        rest.append(axis)
    if len(rest) != 1:
        return None
    (axis,) = rest
    if not _aligned(scatter, along, axis):
        return None
    found = positions(scatter.index_exprs[axis], axis, along, scatter, context)
    return None if found is None else (axis, found)


def _aligned(scatter: Scatter, along: dict[int, int], axis: int) -> bool:
    """Return whether each dim of the updates is at its axis, once the searched axis is inserted."""
    rank, dims = len(scatter.data_shape), len(scatter.shape)
    if dims == rank:
        # No dim of extent 1 runs along an axis: if the other dims are in place, this one is too.
        return all(along.get(d) == d or scatter.shape[d].constant == 1 for d in range(dims))
    if dims != rank - 1:
        return False
    places = [d if d < axis else d + 1 for d in range(dims)]
    return all(
        along.get(d) == at or scatter.shape[d].constant == scatter.data_shape[at].constant == 1
        for d, at in enumerate(places)
    )


one_per_row = OnePerRowRule()
