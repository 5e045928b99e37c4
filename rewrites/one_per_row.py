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

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    only,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.search import Positions, positions


class OnePerRowRule(ScatterRule):
    """Rewrites writes of one position per row."""

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        (axis, index), rank = _positions(scatter, context), len(scatter.data_shape)
        size = scatter.data_shape[axis]
        refuse_unless(size.constant != 0)
        w, numbers, dtype = context.writer, context.numbers, scatter.dtype
        signed = not scatter.nonnegative[axis]
        added = index.added(rank)
        # If the updates lack a dim for the axis, they broadcast along it.
        missing = [axis] if len(scatter.shape) < rank else []
        dims = [c - len(missing) * (c > axis) for c in index.axes if c != axis]
        checked = scatter.is_checked(dims)

        def write() -> ir.Value:
            at = w.axes("Unsqueeze", index.write(), index.dtype, added)
            hit = numbers.hits(at, index.dtype, size, axis, rank, signed=signed, checked=checked)
            new = w.axes("Unsqueeze", scatter.updates, dtype, missing)
            return Reducer(w, scatter.reduction, dtype).where(hit, scatter.data, new)

        return Plan(write)


def _positions(scatter: Scatter, context: Context) -> tuple[int, Positions]:
    """Return the one axis that is not written in full, with its indices."""
    along: dict[int, int] = {}  # dim of the updates -> axis of the data
    rest = []
    for axis, target, size in scatter.by_axis():
        dim = scatter.full_dim(axis)
        if dim is not None and dim not in along:
            along[dim] = axis
        elif size.constant != 1 or target.constant != 0:
            rest.append(axis)
    axis = only(rest)
    refuse_unless(_aligned(scatter, along, axis))
    return axis, positions(scatter.index_exprs[axis], axis, along, scatter, context)


def _aligned(scatter: Scatter, along: dict[int, int], axis: int) -> bool:
    """Return whether each dim of the updates is at its axis, once the searched axis is inserted."""
    shape, data_shape = scatter.shape, scatter.data_shape
    missing = len(data_shape) - len(shape)
    axes = [(d, d + missing * (d >= axis)) for d in range(len(shape))]
    # No dim of extent 1 runs along an axis: if all others are in place, this one is too.
    return missing in (0, 1) and all(
        along.get(d) == at
        or (shape[d].constant == 1 and (not missing or data_shape[at].constant == 1))
        for d, at in axes
    )
