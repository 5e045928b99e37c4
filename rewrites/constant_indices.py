"""A write to known positions in any order is one Gather.

    before   y = ScatterND(x, [[0, 0], [1, 0], [1, 1]], u)
    after    y = Reshape(Gather(Concat(Reshape(x, [4]), u), [4, 1, 5, 6]))

Holds if all positions are known, except on axes that a dim of the updates runs along unchanged. If
there is a reduction, updates that collide are combined in order, one Gather for each round. Without
a reduction ONNX does not define which one wins: the scatter is kept, unless all are one number.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Plan,
    Reason,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    as_numbers,
    granted,
    refuse_unless,
    rounds,
    tabulated,
)
from onnx_scatterx.rewrites.helpers.arrangement import Arrangement, arranged

_MOST = 1 << 16  # positions, and updates, that are listed
_ROUNDS = 8  # updates of one element
_FREE = 2048  # entries of tables, for any number of updates
_SPARSE = 16  # entries of tables for one update: more, and the model grows


class ConstantIndicesRule(ScatterRule):
    """Rewrites writes to constant positions."""

    reads_all_data = True

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        layout = arranged(scatter, apart=True)
        offsets, count = _offsets(layout), layout.positions.constant or 0
        tables = _tables(offsets, count)
        if count * len(tables) > max(_FREE, _SPARSE * len(offsets)):
            return Refusal(Reason.TOO_COSTLY, f"tables of {count} positions")
        if scatter.reduction == "none":
            refuse_unless(len(tables) == 1 or context.constants.splat(scatter.updates) is not None)
            return _moved(layout, tables[0], context)
        if len(tables) > _ROUNDS:
            return Refusal(Reason.TOO_COSTLY, f"{len(tables)} updates to one element")
        return _combined(layout, tables, context)


def _offsets(layout: Arrangement) -> np.ndarray:
    """Return the position that each update is written to, or refuse if it is not known."""
    s = layout.scatter
    sizes = granted(as_numbers(s.data_shape[c] for c in layout.axes))
    shape = granted(as_numbers(s.shape[d] for d in layout.dims))
    targets = [s.index_exprs[c] for c in layout.axes]
    refuse_unless(not any(t.leaves() for t in targets))
    count, number = math.prod(sizes), math.prod(shape)
    refuse_unless(count and number and max(count, number) <= _MOST)
    offsets, extents = np.zeros(shape, np.int64), dict(zip(layout.dims, shape, strict=True))
    for target, size in zip(targets, sizes, strict=True):
        at = tabulated(target, extents)
        refuse_unless((at >= -size).all() and (at < size).all())  # else the original fails
        offsets = offsets * size + np.where(at < 0, at + size, at)
    return offsets.ravel()


def _tables(offsets: np.ndarray, count: int) -> list[np.ndarray]:
    """Return tables from positions to updates (-1: none): the first of each, the second, ..."""
    tables: list[np.ndarray] = []
    for now in rounds(offsets):
        tables.append(np.full(count, -1, np.int64))
        tables[-1][offsets[now]] = now
    return tables


def _moved(layout: Arrangement, table: np.ndarray, context: Context) -> Plan:
    """Take every element from the updates or from the data."""
    s, w = layout.scatter, context.writer
    everything = bool((table >= 0).all())
    rows = table if everything else np.where(table < 0, np.arange(len(table)), table + len(table))

    def write() -> ir.Value:
        source = layout.update(context)
        if not everything:
            source = w.concat([layout.data(context), source], s.dtype, layout.middle)
        x = w.node("Gather", [source, w.constant(rows)], s.dtype, axis=layout.middle)
        return layout.back(x, context)

    return Plan(write)


def _combined(layout: Arrangement, tables: list[np.ndarray], context: Context) -> Plan:
    """Combine the updates with the data, those of one element one after another."""
    s, w = layout.scatter, context.writer
    reduction, chosen = (Reducer(w, name, s.dtype) for name in (s.reduction, "none"))

    def write() -> ir.Value:
        x, u = layout.data(context), layout.update(context)
        for table in tables:
            rows = w.constant(np.maximum(table, 0))
            new = w.node("Gather", [u, rows], s.dtype, axis=layout.middle)
            new = reduction.combined(x, new)
            if (table < 0).any():
                shape = [-1 if d == layout.middle else 1 for d in range(layout.rank)]
                hit = w.constant((table >= 0).reshape(shape), ir.DataType.BOOL)
                new = chosen.where(hit, x, new)
            x = new
        return layout.back(x, context)

    return Plan(write)
