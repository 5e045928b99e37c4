"""A region of constants is a constant.

    before   y = ScatterND(zeros, [[2]], [5.0])
    after    y = the array

Holds if all sources are constants of the graph, all sizes are known, and the result is not much
larger than its sources. A small constant that is only read may be stored a second time.
"""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Cell,
    Plan,
    Planner,
    Refusal,
    Region,
    RegionRule,
    View,
    as_numbers,
    granted,
    refuse_unless,
)

_FREE = 4096  # bytes of a new constant, from any sources


class ConstantRule(RegionRule):
    """Writes a region of known numbers."""

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        refuse_unless(region.cells and planner.dtype != ir.DataType.STRING)
        extents = granted(as_numbers(region.extents))
        views = [cell.source for cell in region.cells if isinstance(cell.source, View)]
        refuse_unless(len(views) == len(region.cells) and not any(v.is_reshaped for v in views))
        sources = {v.value: granted(planner.constants.array(v.value)) for v in views}
        refuse_unless(len(views) > 1 or not _is_whole(views[0], region, planner))
        stored = sum(
            a.nbytes for v, a in sources.items() if planner.constants.tensor(v) is not None
        )
        size = math.prod(extents) * max(planner.dtype.itemsize, 1)
        refuse_unless(size <= max(_FREE, stored if planner.copies else 0))
        result = np.empty(extents, next(iter(sources.values())).dtype)
        for cell, view in zip(region.cells, views, strict=True):
            _copy(result, cell, view, sources[view.value], region)

        def write() -> ir.Value:
            return planner.writer.constant(result, planner.dtype)

        return planner.plan(self, write)


def _is_whole(source: View, region: Region, planner: Planner) -> bool:
    """Return whether a region is a stored constant: it is there already."""
    return (
        planner.constants.tensor(source.value) is not None
        and all(
            w.dim == d and w.step == 1 and w.start.constant == 0 and region.extent(d) is n
            for d, (w, n) in enumerate(zip(source.axis_maps, source.shape, strict=True))
        )
        and len(source.axis_maps) == region.rank
    )


def _copy(result: np.ndarray, cell: Cell, view: View, source: np.ndarray, region: Region) -> None:
    """Copy a cell's elements, or refuse: a bound is not a number, or not within the source."""
    bounds = granted(as_numbers(t for s in cell.box for t in (s.low, s.high)))
    lows = granted(as_numbers(region.low))
    starts = granted(as_numbers(w.start for w in view.axis_maps))
    q = [np.arange(low, high) for low, high in zip(bounds[::2], bounds[1::2], strict=True)]
    into = [
        s.modulus * positions + s.residue - low
        for s, positions, low in zip(cell.box, q, lows, strict=True)
    ]
    grids = np.ix_(*q) if q else ()
    picked = tuple(
        start + (axis_map.step * grids[axis_map.dim] if axis_map.dim is not None else np.int64(0))
        for start, axis_map in zip(starts, view.axis_maps, strict=True)
    )
    # If it reads outside the source, the original fails if it runs this node.
    pairs = zip(picked, source.shape, strict=True)
    refuse_unless(not any(((at < 0) | (at >= size)).any() for at, size in pairs))
    values = np.broadcast_to(source[picked] if picked else source, [len(p) for p in q])
    result[np.ix_(*into) if into else ()] = values
