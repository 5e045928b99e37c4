"""Other names of a source: values of the graph that are views of it, and nodes for it alone.

A mosaic names the deepest source of each element. If the model also has, for example, the
transposed source for other readers, a region is better cut from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Shape
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.mosaic.moves import MOVES
from onnx_scatterx.engine.mosaic.strided_interval import ZERO, AxisMap, View
from onnx_scatterx.engine.terms import Facts, Term
from onnx_scatterx.graphs import is_operator

if TYPE_CHECKING:
    from onnx_scatterx.engine.mosaic.provenance import Provenance


def existing_views(provenance: Provenance) -> ExistingViews:
    """Return the values of the graph that are views of others, by their source.

    A view that is kept for other readers costs nothing. Another costs the nodes that exist for it
    alone.
    """
    views: dict[ir.Value, list[ExistingView]] = {}
    kept: set[ir.Value] = set()
    for node in reversed(list(provenance.graph)):
        if not is_operator(node, MOVES):
            continue  # `_keeps` asks about the outputs of moves only
        for value in node.outputs:
            readers = [use.node for use in value.uses()]
            if value.is_graph_output() or any(_keeps(provenance, r, kept) for r in readers):
                kept.add(value)
            if value in provenance.absorbed:
                continue
            mosaic = provenance.mosaic(value)
            if mosaic is None or len(mosaic.cells) != 1:
                continue
            view = mosaic.cells[0].source
            if isinstance(view, View) and view.value is not value and not view.is_reshaped:
                cost = 0 if value in kept else _nodes_for(provenance, node)
                alias = ExistingView(value, mosaic.shape, view, cost)
                views.setdefault(view.value, []).append(alias)
    return ExistingViews(views)


def _nodes_for(provenance: Provenance, node: ir.Node) -> int:
    """Return how many nodes are removed when nothing reads a node any more (up to a limit)."""
    removed, stack = {node}, [node]
    while stack and len(removed) < LIMITS.chain:
        for value in stack.pop().inputs:
            producer = None if value is None else value.producer()
            if producer is None or producer in removed or producer.graph is not provenance.graph:
                continue
            readers = [u.node for v in producer.outputs for u in v.uses()]
            outputs = any(v.is_graph_output() for v in producer.outputs)
            if not outputs and all(r in removed or _is_removed(provenance, r) for r in readers):
                removed.add(producer)
                stack.append(producer)
    return len(removed)


def _is_removed(provenance: Provenance, reader: ir.Node) -> bool:
    return any(v in provenance.absorbed for v in reader.outputs)


def _keeps(provenance: Provenance, reader: ir.Node, kept: set[ir.Value]) -> bool:
    """Return whether a reader must be kept: it is not a removable move, and not its Shape."""
    if reader.graph is not provenance.graph:
        return True
    if _is_removed(provenance, reader) or is_operator(reader, ("Shape",)):
        return False
    return not is_operator(reader, MOVES) or any(v in kept for v in reader.outputs)


@dataclass(frozen=True)
class ExistingView:
    """A value that is a view of a whole source; ``cost`` nodes exist for it alone."""

    value: ir.Value
    shape: Shape
    view: View
    cost: int

    def seen(self, view: View, low: Shape, high: Shape, facts: Facts) -> View | None:
        """Return a view of the source as one of this value, for the positions of a region."""
        key = "seen", self.view.axis_maps, self.shape, view.axis_maps, low, high
        axis_maps = facts.memoised(key, lambda: self._axis_maps(view, low, high, facts))
        return None if axis_maps is None else View(self.value, self.shape, axis_maps)

    def _axis_maps(
        self, view: View, low: Shape, high: Shape, facts: Facts
    ) -> tuple[AxisMap, ...] | None:
        axis_maps = [AxisMap(None, 0, ZERO) for _ in self.shape]
        for own, wanted in zip(self.view.axis_maps, view.axis_maps, strict=True):
            if own.dim is None:
                if wanted.dim is not None or not facts.equal(own.start, wanted.start):
                    return None
                continue
            axis_map = _through(own, wanted)
            if axis_map is None or not _is_within(axis_map, self.shape[own.dim], low, high, facts):
                return None
            axis_maps[own.dim] = axis_map
        tied = {w.dim for w in self.view.axis_maps}
        own_dims = tied | {w.dim for w in axis_maps}
        for axis, extent in enumerate(self.shape):
            # All positions of a broadcast axis are alike: those of the region itself, or the first.
            across = AxisMap(axis, 1, ZERO)
            if (
                len(low) == len(self.shape)
                and axis not in own_dims
                and _is_within(across, extent, low, high, facts)
            ):
                axis_maps[axis] = across
            elif axis not in tied and not _is_within(axis_maps[axis], extent, low, high, facts):
                return None  # the axis may be empty, and then it has no first position
        return tuple(axis_maps)


def _through(own: AxisMap, wanted: AxisMap) -> AxisMap | None:
    """Return the axis map on which ``own.start + own.step * i`` visits what ``wanted`` visits."""
    distance = wanted.start - own.start
    if wanted.step % own.step or (distance % own.step).constant != 0:
        return None
    return AxisMap(wanted.dim, wanted.step // own.step, distance // own.step)


def _is_within(axis_map: AxisMap, extent: Term, low: Shape, high: Shape, facts: Facts) -> bool:
    if axis_map.dim is None:
        behind = extent - 1 - axis_map.start
        return facts.is_nonnegative(axis_map.start) and facts.is_nonnegative(behind)
    first = axis_map.start + axis_map.step * low[axis_map.dim]
    end = axis_map.start + axis_map.step * high[axis_map.dim]
    if axis_map.step < 0:
        first, end = end - axis_map.step, first - axis_map.step
    behind = extent - end + abs(axis_map.step) - 1
    return facts.is_nonnegative(first) and facts.is_nonnegative(behind)


_FAR = 1 << 62  # beyond every position


class ExistingViews:
    """The views of each source, with the positions of it between which each of them lies."""

    def __init__(self, by_source: Mapping[ir.Value, Sequence[ExistingView]]) -> None:
        self._by_source = by_source
        self._spans: dict[ir.Value, np.ndarray] = {}

    def around(self, view: View, low: Shape, high: Shape) -> Iterable[ExistingView]:
        """Return the views of a source that may have all positions of a region of it.

        A view is left out if a number says that it starts too late, or ends too early.
        """
        views = self._by_source.get(view.value, ())
        if not views or view.is_reshaped:
            return ()
        if view.value not in self._spans:
            self._spans[view.value] = np.array(
                [_spans(v.view, (ZERO,) * len(v.shape), v.shape, (-_FAR, _FAR)) for v in views]
            )
        spans = self._spans[view.value]
        first, last = _spans(view, low, high, (_FAR, -_FAR)).T
        has_all = (spans[:, :, 0] <= first) & (last <= spans[:, :, 1])
        return compress(views, has_all.all(axis=1))


def _spans(view: View, low: Shape, high: Shape, unknown: tuple[int, int]) -> np.ndarray:
    """Return the first and the last position of each axis of a source, of shape ``[axes, 2]``."""
    spans = []
    for dim, step, start in view.axis_maps:
        known = start.constant
        begin, end = (0, 1) if dim is None else (low[dim].constant, high[dim].constant)
        if known is None or begin is None or end is None or begin >= end:
            spans.append(unknown)
        else:
            ends = known + begin * step, known + (end - 1) * step
            first, last = sorted(min(max(position, -_FAR), _FAR) for position in ends)
            spans.append((first, last))
    return np.array(spans, np.int64).reshape(-1, 2)
