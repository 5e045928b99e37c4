"""Overlapping frames are added block by block, each block of all frames in one piece.

    before   y = ScatterElements<reduction="add">(x, h * i + j, u)     i < T frames of j < k
    after    y = x,  then  y[c : c + h T] += u[:, c : c + h]           for c = k - h, ..., h, 0

Holds if frames are h apart on one axis, h divides k, every other axis is written in full, and all
frames lie within the axis. Block c of frame i has the same target as block c - h of frame i + 1.
The last blocks of the frames are added first, so sums keep the order of the frames. Frames may be a
dim of the updates, or lie one after another in one dim (then i is x // k and j is x mod k).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    FloorDiv,
    Plan,
    Reducer,
    Refusal,
    Scatter,
    ScatterRule,
    Shape,
    Term,
    coord,
    granted,
    only,
    refuse_unless,
    term,
)

_BLOCKS = 8  # of one frame


@dataclass(frozen=True)
class Frames:
    """Frames on an axis of the data: frame i is ``start + hop * i``, ``length`` positions from it.

    ``dims`` are those of the updates that count frames and positions, or one for both; ``others``
    are the dims for the other axes, in the order of these.
    """

    axis: int
    dims: tuple[int, ...]
    count: Term
    length: int
    hop: int
    start: Term
    others: tuple[int, ...] = ()

    @property
    def order(self) -> list[int]:
        """The dims of the updates in the order of the data's axes."""
        return [*self.others[: self.axis], *self.dims, *self.others[self.axis :]]


class OverlapAddRule(ScatterRule):
    """Rewrites reductions of overlapping frames."""

    def plan(self, scatter: Scatter, context: Context) -> Plan | Refusal:
        refuse_unless(scatter.reduction != "none")
        frames = frames_of(scatter)
        w, numbers, dtype = context.writer, context.numbers, scatter.dtype
        order = frames.order
        sizes = tuple(scatter.shape[d] for d in order)
        framed, flat = _shapes(scatter, frames)
        facts = scatter.facts
        blocks = frames.length // frames.hop

        def write() -> ir.Value:
            u = w.transpose(scatter.updates, dtype, order)
            u = numbers.reshape(u, dtype, sizes, framed, facts)
            x = scatter.data
            for block in reversed(range(blocks)):
                first, axis = block * frames.hop, frames.axis + 1
                part = w.slice(u, dtype, [axis], [first], [first + frames.hop], [1])
                part = numbers.reshape(part, dtype, *flat, facts)
                x = _written(scatter, frames, x, part, frames.start + first, context)
            return x

        return Plan(write)


def frames_of(scatter: Scatter) -> Frames:
    """Return the frames that a scatter writes, or refuse if it writes none."""
    others = scatter.in_full()
    axis, target, size = only([each for each in scatter.by_axis() if each[0] not in others])
    frames = _merged(scatter, axis, target) or _apart(scatter, axis, target)
    refuse_unless(not frames.start.coords and 0 < frames.hop < frames.length)
    refuse_unless(frames.length % frames.hop == 0 and frames.length // frames.hop <= _BLOCKS)
    refuse_unless(sorted([*others.values(), *frames.dims]) == list(range(len(scatter.shape))))
    end = frames.start + frames.hop * (frames.count - 1) + frames.length
    refuse_unless(all(map(scatter.facts.is_nonnegative, (frames.start, size - end))))
    return replace(frames, others=tuple(others.values()))


def _merged(scatter: Scatter, axis: int, target: Term) -> Frames | None:
    """Return frames that lie one after the other in one dim."""
    for atom in target.atoms:
        if not isinstance(atom, FloorDiv):
            continue
        dim, length = atom.parts[0].dim, atom.parts[1].constant
        slope, rest = target.split(atom)
        if dim is None or length is None or slope.constant is None:
            continue
        count = scatter.shape[dim] // length
        if count * length is scatter.shape[dim]:
            hop = slope.constant + length
            return Frames(axis, (dim,), count, length, hop, rest - coord(dim))
    return None


def _apart(scatter: Scatter, axis: int, target: Term) -> Frames:
    """Return frames along one dim of the updates, with their positions along a later dim."""
    refuse_unless(len(target.coords) == 2)
    first, last = sorted(target.coords)
    hop = granted((target.at({first: 1}) - target.at({first: 0})).constant)
    start, length = target.at({first: 0, last: 0}), granted(scatter.shape[last].constant)
    refuse_unless(target is start + hop * coord(first) + coord(last))
    return Frames(axis, (first, last), scatter.shape[first], length, hop, start)


def _shapes(scatter: Scatter, frames: Frames) -> tuple[Shape, tuple[Shape, Shape]]:
    """Return the shapes of the frames on their axis, of one block, and of the block in line."""
    before, after = (scatter.data_shape[: frames.axis], scatter.data_shape[frames.axis + 1 :])
    length, hop = term(frames.length), term(frames.hop)
    framed = (*before, frames.count, length, *after)
    block = (*before, frames.count, hop, *after)
    return framed, (block, (*before, frames.count * frames.hop, *after))


def _written(
    scatter: Scatter,
    frames: Frames,
    x: ir.Value,
    part: ir.Value,
    start: Term,
    context: Context,
) -> ir.Value:
    """Write one block of all frames."""
    w, numbers, dtype, axis = context.writer, context.numbers, scatter.dtype, frames.axis
    end, parts = start + frames.count * frames.hop, []
    if start.constant != 0:
        parts.append(numbers.slice(x, dtype, axis, 0, start))
    old = numbers.slice(x, dtype, axis, start, end)
    parts.append(Reducer(w, scatter.reduction, dtype).combined(old, part))
    if not scatter.facts.equal(scatter.data_shape[axis], end):
        parts.append(numbers.slice(x, dtype, axis, end))
    return w.concat(parts, dtype, axis)
