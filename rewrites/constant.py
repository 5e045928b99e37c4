"""A region of constants is a constant.

    before   y = ScatterND(zeros, [[2]], [5.0])
    after    y = the array

Holds if all sources are constants of the graph, all sizes are known, and the result is not much
larger than its sources. A small constant that is only read may be stored a second time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.lowering.planner import Planner
from onnx_scatterx.optimizer.lowering.rule import Plan, Region, RegionRule
from onnx_scatterx.optimizer.mosaic.cells import Cell
from onnx_scatterx.optimizer.mosaic.strided_interval import View
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.text.reasons import Reason, Refusal

_FREE = 4096  # bytes of a new constant, from any sources


class ConstantRule(RegionRule):
    """Writes a region of known numbers."""

    name = "constant"

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        if not region.cells or planner.dtype == ir.DataType.STRING:
            return Refusal(Reason.NO_RULE)
        extents = [n.constant for n in region.extents]
        sources: dict[ir.Value, np.ndarray] = {}
        for cell in region.cells:
            if (
                not isinstance(cell.source, View)
                or cell.source.is_reshaped
                or any(n is None for n in extents)
            ):
                return Refusal(Reason.NO_RULE)
            array = planner.constants.array(cell.source.value)
            if array is None:
                return Refusal(Reason.NO_RULE)
            sources[cell.source.value] = array
        if len(region.cells) == 1 and _is_whole(region, planner):
            return Refusal(Reason.NO_RULE)  # it is there already
        numbers = [n for n in extents if n is not None]
        stored = sum(
            a.nbytes for v, a in sources.items() if planner.constants.tensor(v) is not None
        )
        size = math.prod(numbers) * max(planner.dtype.itemsize, 1)
        if size > max(_FREE, stored if planner.copies else 0):
            return Refusal(Reason.NO_RULE)
        result = np.empty(numbers, next(iter(sources.values())).dtype)
        for cell in region.cells:
            assert isinstance(cell.source, View)
            if not _copy(result, cell, sources[cell.source.value], region):
                return Refusal(Reason.NO_RULE)

        def write() -> ir.Value:
            return planner.writer.constant(result, planner.dtype)

        return planner.plan(self, write)


def _is_whole(region: Region, planner: Planner) -> bool:
    source = region.cells[0].source
    assert isinstance(source, View)
    return (
        planner.constants.tensor(source.value) is not None
        and all(
            w.dim == d and w.step == 1 and w.start.constant == 0 and region.extent(d) is n
            for d, (w, n) in enumerate(zip(source.axis_maps, source.shape, strict=True))
        )
        and len(source.axis_maps) == region.rank
    )


def _copy(result: np.ndarray, cell: Cell, source: np.ndarray, region: Region) -> bool:
    """Copy a cell's elements; False where a bound is not a number, or not within the source."""
    assert isinstance(cell.source, View)
    bounds = _numbers([t for s in cell.box for t in (s.low, s.high)])
    lows, starts = _numbers(region.low), _numbers([w.start for w in cell.source.axis_maps])
    if bounds is None or lows is None or starts is None:
        return False
    q = [np.arange(low, high) for low, high in zip(bounds[::2], bounds[1::2], strict=True)]
    into = [
        s.modulus * positions + s.residue - low
        for s, positions, low in zip(cell.box, q, lows, strict=True)
    ]
    grids = np.ix_(*q) if q else ()
    picked = tuple(
        start + (axis_map.step * grids[axis_map.dim] if axis_map.dim is not None else np.int64(0))
        for start, axis_map in zip(starts, cell.source.axis_maps, strict=True)
    )
    pairs = zip(picked, source.shape, strict=True)
    if any(((at < 0) | (at >= size)).any() for at, size in pairs):
        return False  # reads outside the source: the original fails if it runs this node
    values = np.broadcast_to(source[picked] if picked else source, [len(p) for p in q])
    result[np.ix_(*into) if into else ()] = values
    return True


def _numbers(terms: Sequence[Term]) -> list[int] | None:
    constants = [t.constant for t in terms]
    return None if None in constants else [c for c in constants if c is not None]


constant = ConstantRule()
