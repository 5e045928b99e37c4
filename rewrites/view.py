"""A region of one tensor is that tensor, sliced, transposed and given the right axes.

    before   y = Scatter(data, all of it, updates)
    after    y = updates            (a full cover: nothing at all, or Slice, Transpose, ...)

Holds for a region of one cell whose elements all come from one source, if the bounds of the Slices
can be written (``cuts``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Cut,
    Plan,
    Planner,
    Reason,
    Refusal,
    Region,
    RegionRule,
    Traffic,
    View,
    refuse_unless,
    term,
)

_OF_CONSTANT = 1  # a part of a constant counts as one node more: Pad does not need it


class ViewRule(RegionRule):
    """Writes a region that is part of one tensor."""

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        view = region.only_source(View)
        refuse_unless(all(s.modulus == 1 for s in region.cells[0].box))
        return planner.with_other_views(
            lambda source: self._of(source, region, planner), view, region
        )

    def _of(self, view: View, region: Region, planner: Planner) -> Plan | Refusal:
        found = (_cut(view, axis, region, planner) for axis in range(len(view.axis_maps)))
        cuts = [each for each in found if each is not None]
        literal = [c for c in cuts if c.is_literal]
        computed = [c for c in cuts if not c.is_literal]
        layout = _layout(view, region)
        flipped = [c.axis for c in cuts if c.is_flipped]
        if layout.wide and layout.added == list(range(len(layout.added))):
            layout = replace(layout, added=[])  # Expand adds leading axes itself

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            x = view.value
            if planner.constants.splat(x) is not None:
                w.surcharge(_OF_CONSTANT)
            if view.is_reshaped:
                x = planner.numbers.reshape(x, dtype, None, view.shape, planner.facts)
            if literal:
                sized = all(_is_sized(view, c.axis) for c in literal)
                starts = [c.start for c in literal if isinstance(c.start, int)]
                ends = [c.end for c in literal if isinstance(c.end, int)]
                axes, steps = [c.axis for c in literal], [c.step for c in literal]
                x = w.slice(x, dtype, axes, starts, ends, steps, sized=sized)
            for c in computed:
                x = planner.numbers.slice(x, dtype, c.axis, c.start, c.end, c.step)
            if flipped:
                x = planner.numbers.flip(x, dtype, flipped)
            x = w.axes("Squeeze", x, dtype, layout.squeezed)
            x = w.transpose(x, dtype, layout.perm)
            x = w.axes("Unsqueeze", x, dtype, layout.added)
            if layout.wide:
                x = w.node("Expand", [x, planner.numbers.shape(region.extents)], dtype)
            return x

        return planner.plan(self, write, traffic=_traffic(view, cuts, layout, region))


def _cut(view: View, axis: int, region: Region, planner: Planner) -> Cut | None:
    """Return the Slice that selects the positions of an axis map, or None if the axis is whole."""
    axis_map, size, numbers = view.axis_maps[axis], view.shape[axis], planner.numbers
    if axis_map.dim is None:
        return Cut.of(numbers, axis, size, axis_map.start, term(1))
    # Steps are multiplied.
    first = planner.simplified(axis_map.start + axis_map.step * region.low[axis_map.dim])
    count = planner.simplified(region.extent(axis_map.dim))
    return Cut.of(numbers, axis, size, first, count, axis_map.step)


def _traffic(view: View, cuts: list[Cut], layout: _Layout, region: Region) -> list[Traffic]:
    """Return the traffic of the nodes of a view."""
    counts = tuple(term(1) if w.dim is None else region.extent(w.dim) for w in view.axis_maps)
    traffic = []
    steps = {c.axis: c.step for c in cuts if not c.is_flipped}
    one_by_one = [c.axis for c in cuts if not c.is_literal]
    literal = [c.axis for c in cuts if c.is_literal]
    for axes in ([literal] if literal else []) + [[a] for a in one_by_one]:
        last = max(axes)
        traffic.append(Traffic("Slice", counts, last + (steps.get(last, 1) != 1)))
    flipped = [c.axis for c in cuts if c.is_flipped]
    if flipped:
        traffic.append(Traffic("Slice", counts, max(flipped) + 1))
    if layout.perm != sorted(layout.perm):
        rank = len(layout.perm)
        moved = max(d for d in range(rank) if layout.perm[d] != d)
        kept = tuple(n for a, n in enumerate(counts) if a not in layout.squeezed)
        traffic.append(Traffic("Transpose", tuple(kept[d] for d in layout.perm), moved + 1))
    if layout.wide:
        traffic.append(Traffic("Pad", region.extents, max(layout.wide) + 1))
    return traffic


def _is_sized(view: View, axis: int) -> bool:
    """Return whether the size of an axis is declared."""
    declared = view.value.shape
    if view.is_reshaped or declared is None or len(declared) != len(view.shape):
        return False  # a declared size may be wrong
    return isinstance(declared[axis], int)


@dataclass(frozen=True)
class _Layout:
    """How the axes of a source are brought into the order of the region.

    ``wide`` are the axes of the region that are broadcast afterwards.
    """

    squeezed: list[int]
    perm: list[int]
    added: list[int]
    wide: list[int]


def _layout(view: View, region: Region) -> _Layout:
    """Match the axes of a source with those of the region.

    A source axis of one position matches a region axis of extent 1 that nothing runs over, or one
    that is broadcast, if no axis has to move for that. The other source axes are squeezed, and the
    other region axes are added.
    """
    runs = {w.dim: axis for axis, w in enumerate(view.axis_maps) if w.dim is not None}
    refuse_unless(len(runs) == sum(w.dim is not None for w in view.axis_maps), Reason.DIAGONAL)
    fixed = [axis for axis, w in enumerate(view.axis_maps) if w.dim is None]
    bare = [d for d in range(region.rank) if d not in runs]
    units = [d for d in bare if region.extent(d).constant == 1]
    for axis, d in zip(fixed, units, strict=False):
        runs[d] = axis
    wide = [d for d in bare if d not in units]
    served = {**runs, **dict(zip(wide, fixed[len(units) :], strict=False))}
    order = [served[d] for d in sorted(served)]
    if order == sorted(order):
        runs = served
    squeezed = [axis for axis in fixed if axis not in runs.values()]
    added = [d for d in bare if d not in runs]
    kept = [a for a in range(len(view.axis_maps)) if a not in squeezed]
    perm = [kept.index(runs[d]) for d in range(region.rank) if d in runs]
    return _Layout(squeezed, perm, added, wide)
