"""Strided cells that together fill a region are a Concat on a new axis and a Reshape.

    before   y = ScatterND(ScatterND(data, even, a), odd, b)
    after    y = Reshape(Concat(Unsqueeze(a), Unsqueeze(b)))

If the target cannot take one more dim, the surrounding dims are merged, except the first one, which
may be a batch: Reshape(Concat(Reshape(a, [n, rows, 1, rest]), Reshape(b, ...))).

On one axis, position ``K q + r`` is position q of class r. Classes of unequal length are padded to
one length, and the last Slice removes the padding.
"""

from __future__ import annotations

import math
from functools import partial

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
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
    refuse_unless,
    term,
)

_CLASSES = 16


class InterleaveRule(RegionRule):
    """Writes a region with strided cells class by class."""

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        axes = range(region.rank)
        return cheapest(attempt(partial(self._along, region, axis, planner)) for axis in axes)

    def _along(self, region: Region, axis: int, planner: Planner) -> Plan | Refusal:
        classes = math.lcm(*(c.box[axis].modulus for c in region.cells))
        refuse_unless(classes > 1)
        low = region.low[axis].constant
        if classes > _CLASSES or low is None or low % classes:
            return Refusal(Reason.NO_CUT, f"{classes} interleaved regions on axis {axis}")
        parts = [_class(region, axis, classes, r, planner) for r in range(classes)]
        plans = [planner.require(p) for p in parts]
        longest = parts[0].extent(axis)
        missing = [planner.simplified(longest - p.extent(axis)) for p in parts]
        even = all(planner.facts.equal(m, 0) for m in missing)
        rows = tuple(longest * classes if d == axis else n for d, n in enumerate(region.extents))
        stack = (*rows[:axis], longest, term(classes), *rows[axis + 1 :])
        part = (*rows[:axis], longest, *rows[axis + 1 :])
        merged = _merged(part, axis, planner)

        def write() -> ir.Value:
            w, dtype = planner.writer, planner.dtype
            values = [p.write() for p in plans]
            for i, m in enumerate(missing):
                if not planner.facts.equal(m, 0):
                    more = _head(values[0], axis, m, planner)
                    values[i] = w.concat([values[i], more], dtype, axis)
            if merged is None:
                stacked = [w.axes("Unsqueeze", v, dtype, [axis + 1]) for v in values]
                x = w.concat(stacked, dtype, axis + 1)
                x = planner.numbers.reshape(x, dtype, stack, rows, planner.facts)
            else:
                shape, at = merged
                numbers, facts = planner.numbers, planner.facts
                values = [numbers.reshape(v, dtype, part, shape, facts) for v in values]
                whole = (*shape[:at], term(classes), *shape[at + 1 :])
                x = w.concat(values, dtype, at)
                x = numbers.reshape(x, dtype, whole, rows, facts)
            return x if even else _head(x, axis, region.extent(axis), planner)

        traffic = [Traffic("Concat", p.extents, axis + 1) for p in parts]
        if not even:  # the ends are concatenated and removed again
            traffic += [
                Traffic("Slice", region.extents, axis),
                Traffic("Concat", region.extents, axis),
            ]
        return planner.plan(self, write, *plans, traffic=traffic)


def _merged(
    shape: tuple[Term, ...], axis: int, planner: Planner
) -> tuple[tuple[Term, ...], int] | None:
    """Return a part's shape with an axis of extent 1 behind this one, in few dims, and that axis.

    None if the target takes one dim more, or the sizes are not known.
    """
    most = planner.writer.target.max_rank
    sizes = [n.constant for n in shape]
    if most is None or len(shape) < most or None in sizes or 0 in sizes:
        return None
    known = [int(n) for n in sizes if n is not None]
    lead = known[:1] if axis else []
    rows = math.prod(known[len(lead) : axis + 1])
    rest = [math.prod(known[axis + 1 :])] if axis + 1 < len(known) else []
    return tuple(map(term, [*lead, rows, 1, *rest])), len(lead) + 1


def _class(region: Region, axis: int, classes: int, residue: int, planner: Planner) -> Region:
    """Return one residue class of a region as a region in its own coordinate q."""

    def q(position: Term) -> Term:
        return planner.simplified((position - residue + classes - 1) // classes)

    low, high = q(region.low[axis]), q(region.high[axis])
    cells = []
    for cell in region.cells:
        if residue % cell.box[axis].modulus != cell.box[axis].residue:
            continue
        part = cell.restricted(axis, cell.box[axis].refined(classes, residue))
        span = part.box[axis]
        plain = StridedInterval.interval(*map(planner.simplified, (span.low, span.high)))
        if not plain.is_empty(planner.facts):
            cells.append(part.spanning(axis, plain))
    return region.part(axis, low, high, cells)


def _head(x: ir.Value, axis: int, count: Term, planner: Planner) -> ir.Value:
    """Return the first elements along an axis."""
    dtype = planner.dtype
    if count.constant is not None:
        return planner.writer.slice(x, dtype, [axis], [0], [count.constant], [1], sized=False)
    return planner.numbers.slice(x, dtype, axis, 0, count)
