"""Rows in any known order are one Gather.

    before   y = ScatterND(data, [[3], [0], [7]], updates)
    after    y = Gather(Concat(data, updates), table)

Holds if all positions on one axis are known, the cells are whole on all other axes, and they come
from a few sources whose shapes differ at most on that axis.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Cell,
    Plan,
    Planner,
    Refusal,
    Region,
    RegionRule,
    StridedInterval,
    Term,
    Traffic,
    View,
    attempt,
    cheapest,
    granted,
    only,
    refuse_unless,
    term,
)

_SOURCES = 3
_ROWS = 1 << 16
_WEIGHT = 6  # nodes that one Gather counts as: a few slices are better for most targets


class RowGatherRule(RegionRule):
    """Writes a region row by row from a few sources."""

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        refuse_unless(len(region.cells) >= 3)
        axes = range(region.rank)
        return cheapest(attempt(partial(self._along, region, axis, planner)) for axis in axes)

    def _along(self, region: Region, axis: int, planner: Planner) -> Plan | Refusal:
        count, low = granted(region.extent(axis).constant), granted(region.low[axis].constant)
        refuse_unless(0 < count <= _ROWS)
        sources: dict[object, tuple[Cell, Term, int]] = {}  # the last is how many rows are before
        table = np.full(count, -1, dtype=np.int64)
        for cell in region.cells:
            key, start, step, extent = _row_map(cell, region, axis, planner)
            if key not in sources:
                before = sum(e.constant or 0 for _, e, _ in sources.values())
                sources[key] = cell, extent, before
            refuse_unless(len(sources) <= _SOURCES and extent.constant is not None)
            first, span = sources[key][2] + granted(start.constant), cell.box[axis]
            q = np.arange(granted(span.low.constant), granted(span.high.constant))
            table[span.modulus * q + span.residue - low] = first + step * q
        refuse_unless((table >= 0).all())
        wholes = [_whole(cell, region, axis, extent) for cell, extent, _ in sources.values()]
        parts = [planner.require(whole) for whole in wholes]

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            w.surcharge(_WEIGHT - 1)
            rows = w.concat([p.write() for p in parts], dtype, axis)
            return w.node("Gather", [rows, w.constant(table)], dtype, axis=axis)

        traffic = [Traffic("Gather", region.extents, axis + 1)]
        if len(parts) > 1:
            traffic += [Traffic("Concat", whole.extents, axis) for whole in wholes]
        return planner.plan(self, write, *parts, traffic=traffic)


def _row_map(
    cell: Cell, region: Region, axis: int, planner: Planner
) -> tuple[object, Term, int, Term]:
    """Return (source without the axis, start, step, extent of the source's axis)."""
    source = _view(cell)
    refuse_unless(
        all(d == axis or region.spans(cell, d, planner.facts) for d in range(region.rank))
    )
    along = only([a for a, w in enumerate(source.axis_maps) if w.dim == axis])
    axis_map, extent = source.axis_maps[along], source.shape[along]
    others = tuple(w for a, w in enumerate(source.axis_maps) if a != along)
    key = (source.value, source.shape, along, others)
    return key, axis_map.start, axis_map.step, extent


def _whole(cell: Cell, region: Region, axis: int, extent: Term) -> Region:
    """Return the region of a source with all its rows."""
    zero = term(0)
    source = _view(cell).mapped(lambda w: w._replace(step=1, start=zero) if w.dim == axis else w)
    whole = cell.spanning(axis, StridedInterval.interval(zero, extent))._replace(source=source)
    return region.part(axis, zero, extent, [whole])


def _view(cell: Cell) -> View:
    """Return the source of a cell, or refuse if it is two sources under a reduction."""
    return granted(cell.source if isinstance(cell.source, View) else None)
