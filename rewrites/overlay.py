"""A few boxes on an unchanged tensor are ScatterX nodes, which copy it once or not at all.

    before   y = ScatterND(data, [[2], [3], [4]], updates)
    after    y = ScatterX(data, [[2], [3], [4]], updates)

Holds if some cells of a region are a whole tensor, in place. The other cells are written over it,
one node each. On the axes that a cell does not span, f counts its positions,

    J = p( f(p1(I)) ++ p2(I) )      f(i, j) = (low + i, low' + j)

Slices and a Concat move all bytes twice. This moves them once, or only the new ones if ONNX Runtime
gives the output the tensor's memory. Only targets whose costs are times choose it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Cell,
    Encoding,
    Plan,
    Planner,
    Reason,
    Refusal,
    Region,
    RegionRule,
    StridedInterval,
    Term,
    Traffic,
    View,
    as_numbers,
    cheapest,
    refuse_unless,
)
from onnx_scatterx.rewrites.scatterx import RANK, has_kernel

_PATCHES = 6  # cells that are written over a tensor, at most
_ENTRIES = 1 << 22  # entries of a constant f


class OverlayRule(RegionRule):
    """Writes a region as a tensor with cells written over it."""

    writes_scatterx = True

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        refuse_unless(len(region.cells) >= 2 and has_kernel(planner.dtype, "none"))
        refuse_unless(region.rank <= RANK and planner.writer.has("ScatterND"))
        whole = (_base(c, region) for c in region.cells)
        bases = dict.fromkeys(value for value in whole if value is not None)
        return cheapest(self._over(base, region, planner) for base in bases)

    def _over(self, base: ir.Value, region: Region, planner: Planner) -> Plan | Refusal:
        cells = [c for c in region.cells if _base(c, region) is not base]
        refuse_unless(0 < len(cells) <= _PATCHES)
        patches = [_patch(cell, region, planner) for cell in cells]
        plans = [planner.require(patch.region) for patch in patches]
        traffic = (
            [] if _may_be_overwritten(base, planner) else [Traffic("ScatterX", region.extents, 0)]
        )
        traffic += [Traffic("ScatterX", p.region.extents, p.outer) for p in patches]

        def write() -> ir.Value:
            x = base
            for patch, plan in zip(patches, plans, strict=True):
                x = _write(x, plan.write(), patch, planner)
            return x

        return planner.plan(self, write, *plans, traffic=traffic)


def _base(cell: Cell, region: Region) -> ir.Value | None:
    """Return the whole tensor that a cell is a part of, at the same place."""
    view = cell.source
    if not isinstance(view, View) or view.is_reshaped or len(view.axis_maps) != region.rank:
        return None
    in_place = all(
        w.dim == d
        and w.step == s.modulus
        and w.start == s.residue
        and low.constant == 0
        and high is extent
        for d, (w, s, low, high, extent) in enumerate(
            zip(view.axis_maps, cell.box, region.low, region.high, view.shape, strict=True)
        )
    )
    return view.value if in_place else None


def _may_be_overwritten(base: ir.Value, planner: Planner) -> bool:
    """Return whether ONNX Runtime can reuse the tensor's memory for the output: no later reader."""
    here, producer = planner.writer.graph.insertion_point, base.producer()
    # Nor does a body own what it reads from outside.
    if producer is None or producer.graph is not here.graph or base.is_graph_output():
        return False
    return all(
        use.node is here or any(map(planner.numbers.is_available, use.node.outputs))
        for use in base.uses()
    )


@dataclass(frozen=True)
class _Patch:
    """A cell that is written over: the region of its elements, and its place on the partial axes.

    ``partial`` are the axes that it does not span, with its positions there; ``outer`` is the
    number of axes that the runs do not span.
    """

    region: Region
    partial: tuple[tuple[int, StridedInterval], ...]

    @property
    def outer(self) -> int:
        (*_, (axis, span)) = self.partial
        return axis + (span.modulus != 1)

    @cached_property
    def provision(self) -> np.ndarray | None:
        """The provision tensor f, if all positions are numbers."""
        axes = []
        for _, span in self.partial:
            ends = as_numbers((span.low, span.high))
            if ends is None:
                return None
            axes.append(span.modulus * np.arange(*ends) + span.residue)
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        # A dim of one position need not be counted.
        return grid.reshape(*(len(a) for a in axes if len(a) != 1), len(axes))

    @property
    def counted(self) -> tuple[int, ...]:
        """The dims that f runs over: p1."""
        known = self.provision is not None
        return tuple(a for a, span in self.partial if not known or span.length.constant != 1)


def _patch(cell: Cell, region: Region, planner: Planner) -> _Patch:
    facts = planner.facts
    partial = tuple((d, s) for d, s in enumerate(cell.box) if not region.spans(cell, d, facts))
    refuse_unless(partial)
    # In its own coordinates a strided cell is an interval.
    box = tuple(StridedInterval.interval(s.low, s.high) for s in cell.box)
    held = all(facts.is_nonnegative(s.length) for s in box)
    refuse_unless(held, Reason.UNKNOWN_BOUNDS, "the positions that are written")
    inner = Region((Cell(box, cell.source),), tuple(s.low for s in box), tuple(s.high for s in box))
    patch = _Patch(inner, partial)
    counts = [s.length.constant for _, s in partial]
    entries = math.prod(n for n in counts if n is not None) * len(partial)
    refuse_unless(entries <= _ENTRIES, Reason.TOO_COSTLY, "a table of positions")
    known = patch.provision is not None or len(partial) == 1
    refuse_unless(known, Reason.UNKNOWN_SIZE, "boxes of unknown size on several axes")
    return patch


def _write(data: ir.Value, updates: ir.Value, patch: _Patch, planner: Planner) -> ir.Value:
    w, axes = planner.writer, [axis for axis, _ in patch.partial]
    encoding = Encoding.at_positions(
        patch.region.rank,
        axes,
        patch.counted,
        w.version,
        lambda _: _written_provision(patch, planner),
    )
    return encoding.write(w, data, updates, planner.dtype, unique=True)


def _written_provision(patch: _Patch, planner: Planner) -> ir.Value:
    """Return f as a value: a constant, or a Range."""
    w, int64 = planner.writer, ir.DataType.INT64
    if patch.provision is not None:
        return w.constant(patch.provision, int64)
    ((_, span),) = patch.partial

    def scalar(t: Term) -> ir.Value:
        if t.constant is not None:
            return w.constant(np.array(t.constant), int64)
        return w.axes("Squeeze", planner.numbers.vector(t), int64, [0])

    first = span.modulus * span.low + span.residue
    end = span.modulus * span.high + span.residue
    step = w.constant(np.array(span.modulus), int64)
    positions = w.node("Range", [scalar(first), scalar(end), step], int64)
    return w.axes("Unsqueeze", positions, int64, [1])


OVERLAY = OverlayRule()
