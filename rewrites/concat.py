"""A region that can be cut across is the Concat of its parts.

    before   y = ScatterND(data, [[2], [3], [4]], updates)
    after    y = Concat(data[:2], updates, data[5:], axis=0)

A cut is a position that every cell lies wholly before or wholly behind, proven for all sizes. A box
of several axes is cut axis by axis, which takes a number of nodes linear in the axes.
"""

from __future__ import annotations

from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Cell,
    Facts,
    Plan,
    Planner,
    Reason,
    Refusal,
    Region,
    RegionRule,
    StridedInterval,
    Term,
    Traffic,
    attempt,
    cheapest,
    granted,
    refuse_unless,
)

_TRIED = 24  # cells up to which the best order of axes is searched


class ConcatRule(RegionRule):
    """Writes a region as parts side by side."""

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        refuse_unless(len(region.cells) >= 2)
        choices = []
        for axis in range(region.rank):
            cuts = axis_cuts(region, axis, planner)
            parts = split(region, axis, cuts, planner.facts) if cuts else None
            if parts is not None:
                choices.append((axis, parts))
        if not choices:
            choices.append(_cut_across(region, planner))
        if len(region.cells) > _TRIED:
            choices = [max(choices, key=lambda c: len(c[1]))]
        return cheapest(attempt(partial(self._along, *c, planner)) for c in choices)

    def _along(self, axis: int, parts: list[Region], planner: Planner) -> Plan | Refusal:
        plans = [planner.require(p) for p in parts]

        def write() -> ir.Value:
            return planner.writer.concat([p.write() for p in plans], planner.dtype, axis)

        traffic = [Traffic("Concat", p.extents, axis) for p in parts] if len(parts) > 1 else []
        return planner.plan(self, write, *plans, traffic=traffic)


def axis_cuts(region: Region, axis: int, planner: Planner) -> list[Term]:
    """Return the positions of an axis that no cell straddles, in their proven order."""
    facts = planner.facts
    spans = list(dict.fromkeys(c.box[axis].ends for c in region.cells))
    ends = (region.low[axis], region.high[axis])
    cuts: list[Term] = []
    for position in dict.fromkeys(p for pair in spans for p in pair):
        if any(position is e or facts.equal(position, e) for e in ends):
            continue
        if not is_between(position, *ends, facts):
            continue
        if any(position is c or facts.equal(position, c) for c in cuts):
            continue
        if not any(_cuts(position, span, facts) for span in spans):
            _insert(cuts, position, planner)
    return cuts


def is_between(position: Term, low: Term, high: Term, facts: Facts) -> bool:
    """Return whether ``low <= position <= high`` is proven."""
    return facts.is_nonnegative(position - low) and facts.is_nonnegative(high - position)


def _cuts(position: Term, span: tuple[Term, Term], facts: Facts) -> bool:
    """Return whether a cell may lie on both sides of a position."""
    low, high = span
    return not (facts.is_nonnegative(position - high) or facts.is_nonnegative(low - position))


def _cut_across(region: Region, planner: Planner) -> tuple[int, list[Region]]:
    """Cut a region in two, at the position that cuts the fewest cells, if no cut is clean.

    An example without a clean cut: four boxes lie around a fifth, and each reaches past the next.
    """
    facts = planner.facts
    best: tuple[int, int, Term] | None = None
    for axis in range(region.rank):
        low, high = region.low[axis], region.high[axis]
        spans = [c.box[axis].ends for c in region.cells]
        if any(c.box[axis].modulus != 1 for c in region.cells):
            continue
        for position in dict.fromkeys(p for pair in spans for p in pair):
            if not is_between(position, low + 1, high - 1, facts):
                continue
            cut = sum(_cuts(position, span, facts) for span in spans)
            if best is None or cut < best[0]:
                best = cut, axis, position
    _, axis, position = granted(best or Refusal(Reason.NO_CUT))
    halves = []
    for a, b in ((region.low[axis], position), (position, region.high[axis])):
        span = StridedInterval.interval(a, b)
        cells = []
        for cell in region.cells:
            common = cell.box[axis].meet(span, facts)
            if common is not None and not common.is_empty(facts):
                cells.append(cell.restricted(axis, common))
        halves.append(region.part(axis, a, b, cells))
    return axis, halves


def _insert(cuts: list[Term], position: Term, planner: Planner) -> None:
    """Put a position into a list in proven order, if its place is proven."""
    index = 0
    while index < len(cuts) and planner.facts.is_nonnegative(position - cuts[index]):
        index += 1
    if all(planner.facts.is_nonnegative(c - position) for c in cuts[index : index + 1]):
        cuts.insert(index, position)


def split(region: Region, axis: int, cuts: list[Term], facts: Facts) -> list[Region] | None:
    """Return the parts of a region between cuts of an axis, except the parts without cells.

    None if a part without cells is not proven to be empty, as nothing could be written there.
    """
    bounds = [region.low[axis], *cuts, region.high[axis]]
    groups: list[list[Cell]] = [[] for _ in bounds[1:]]
    for cell in region.cells:
        high = cell.box[axis].ends[1]
        index = 0
        while index < len(cuts) and not facts.is_nonnegative(cuts[index] - high):
            index += 1
        groups[index].append(cell)
    parts = []
    for i, cells in enumerate(groups):
        if cells:
            parts.append(region.part(axis, bounds[i], bounds[i + 1], cells))
        elif not facts.is_nonnegative(bounds[i] - bounds[i + 1]):
            return None
    return parts
