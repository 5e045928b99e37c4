"""The effect on mosaics of operators that only move elements, and the values that need a mosaic.

A move returns the mosaics of the node's outputs. If one is not known, None replaces it, or the
result is empty.

If no cell is cut along the axes of a group, and its source runs over them whole and in order, the
same cells cover the new shape, and the source is viewed in another shape.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Call, Shape, axis_groups, cuts_of, require, required
from onnx_scatterx.engine.lift import is_scatter
from onnx_scatterx.engine.mosaic.cells import Cell
from onnx_scatterx.engine.mosaic.mosaic import Mosaic, joined
from onnx_scatterx.engine.mosaic.scattered import gathered
from onnx_scatterx.engine.mosaic.strided_interval import (
    ZERO,
    AxisMap,
    Reduced,
    Source,
    StridedInterval,
    View,
)
from onnx_scatterx.engine.terms import Term, term
from onnx_scatterx.graphs import makers, reached
from onnx_scatterx.operators import READS

if TYPE_CHECKING:
    from onnx_scatterx.engine.mosaic.provenance import Provenance


Groups = Sequence[tuple[range, range]]


@dataclass(frozen=True)
class _Reassociation:
    """A shape whose groups of axes have the elements of the old groups."""

    old: Shape
    new: Shape
    groups: Groups

    def cell(self, cell: Cell) -> Cell | None:
        box: list[StridedInterval] = []
        for before, after in self.groups:
            if len(before) == len(after) == 1:
                box.append(cell.box[before[0]])
                continue
            if any(cell.box[d] != StridedInterval.interval(ZERO, self.old[d]) for d in before):
                return None
            box += [StridedInterval.interval(ZERO, self.new[d]) for d in after]
        source = self.source(cell.source)
        return None if source is None else Cell(tuple(box), source)

    def source(self, source: Source) -> Source | None:
        if isinstance(source, Reduced):
            data, updates = self.source(source.data), self.source(source.updates)
            if data is None or updates is None:
                return None
            return Reduced(source.reduction, data, updates)
        return self.view(source)

    def view(self, view: View) -> View | None:
        axis_maps: list[AxisMap] = []
        extents: list[Term] = []
        new_axis = {b[0]: a[0] for b, a in self.groups if len(b) == len(a) == 1}
        group_of = {d: g for g in self.groups for d in g[0] if d not in new_axis}
        axis, is_reshaped = 0, view.is_reshaped
        while axis < len(view.axis_maps):
            axis_map = view.axis_maps[axis]
            if axis_map.dim is None or axis_map.dim in new_axis:
                dim = None if axis_map.dim is None else new_axis[axis_map.dim]
                axis_maps.append(AxisMap(dim, axis_map.step, axis_map.start))
                extents.append(view.shape[axis])
                axis += 1
                continue
            before, after = group_of[axis_map.dim]
            run = view.axis_maps[axis : axis + len(before)]
            if [w.dim for w in run] != list(before):
                return None
            for d, w, extent in zip(before, run, view.shape[axis:], strict=False):
                if (w.step, w.start.constant) != (1, 0) or extent is not self.old[d]:
                    return None
            axis_maps += [AxisMap(d, 1, ZERO) for d in after]
            extents += [self.new[d] for d in after]
            is_reshaped = True
            axis += len(before)
        return View(view.value, tuple(extents), tuple(axis_maps), is_reshaped)


Move = Callable[["Provenance", Call], "list[Mosaic | None]"]


def _first(provenance: Provenance, call: Call) -> Mosaic:
    return required(provenance.mosaic(required(call.node.inputs[0])))


def _shape(provenance: Provenance, call: Call) -> Shape:
    return required(provenance.abstract(call.node.outputs[0]).shape)


def _identity(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    return [_first(provenance, call)]


def _transpose(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x = _first(provenance, call)
    return [x.transposed(call.integers("perm") or list(range(len(x.shape)))[::-1])]


def _unsqueeze(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x, axes = _first(provenance, call), required(call.numbers(1, "axes"))
    rank = len(x.shape) + len(axes)
    inserted = {a % rank for a in axes}
    require(len(inserted) == len(axes))  # else it cannot run
    return [x.unsqueezed(inserted)]


def _squeeze(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x, axes = _first(provenance, call), call.numbers(1, "axes")
    if axes is None:
        axes = [d for d, n in enumerate(x.shape) if n.constant == 1]
        require(len(_shape(provenance, call)) == len(x.shape) - len(axes))
    return [x.squeezed(a % len(x.shape) for a in axes)]


def _reshape(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    return [reshaped(provenance, call.node, _shape(provenance, call))]


def reshaped(provenance: Provenance, node: ir.Node, shape: Shape) -> Mosaic | None:
    """Return the mosaic of a Reshape's output, which has this shape.

    It adds and drops dims of extent 1, or splits and merges whole axes.
    """
    value = node.inputs[0]
    x = None if value is None else provenance.mosaic(value)
    if x is None:
        return None
    old = [d for d, n in enumerate(x.shape) if n.constant != 1]
    new = [d for d, n in enumerate(shape) if n.constant != 1]
    same = len(old) == len(new) and all(
        provenance.facts.equal(x.shape[a], shape[b]) for a, b in zip(old, new, strict=True)
    )
    if not same:
        # The others are kept, unless the value that they reshape is removed.
        groups = axis_groups(x.shape, shape) if value in provenance.absorbed else None
        if groups is None:
            return None
        return x.each(shape, _Reassociation(x.shape, shape, groups).cell)
    bare = x.squeezed(d for d in range(len(x.shape)) if d not in old)
    return None if bare is None else bare.unsqueezed(d for d in range(len(shape)) if d not in new)


def _expand(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    call.vector(1)  # or it is not known
    return [_first(provenance, call).expanded(_shape(provenance, call))]


def _concat(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    parts = [required(provenance.mosaic(v)) for v in call.node.inputs if v is not None]
    shape = _shape(provenance, call)
    require(any(v in provenance.absorbed for v in call.node.inputs))
    return [joined(parts, call.integer("axis", 1) % len(shape), shape)]


def _slice(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x = _first(provenance, call)
    for cut in cuts_of(call):
        bounds = cut.bounds(x.shape[cut.axis])
        first, count = (provenance.facts.simplify(t) for t in bounds)
        x = required(x.sliced(cut.axis, first, count, cut.step, provenance.facts))
    return [x]


def _split(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    x = _first(provenance, call)
    axis = call.integer("axis", 0) % len(x.shape)
    results: list[Mosaic | None] = []
    start = term(0)
    for value in call.node.outputs:
        shape = required(provenance.abstract(value).shape)
        results.append(x.sliced(axis, start, shape[axis], 1, provenance.facts))
        start = start + shape[axis]
    return results


def _read(provenance: Provenance, call: Call) -> list[Mosaic | None]:
    """A read of boxes is a Slice of each, concatenated."""
    gather = provenance.gather(call.node)
    return [gathered(gather, _first(provenance, call), provenance.facts)]


MOVES: dict[str, Move] = {
    "Concat": _concat,
    "Expand": _expand,
    **dict.fromkeys(sorted(READS), _read),
    "Identity": _identity,
    "Reshape": _reshape,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}


def _moves_all(node: ir.Node) -> bool:
    return node.op_type == "Concat" or is_scatter(node)  # indices too: they do no harm


def moved_inputs(node: ir.Node) -> Iterable[ir.Value]:
    """Return the inputs whose elements an operator that moves elements, or a scatter, moves."""
    moved = node.inputs if _moves_all(node) else node.inputs[:1]
    return [v for v in moved if v is not None]


def connected_moves(graph: ir.Graph, moves: Collection[str]) -> set[ir.Node]:
    """Return the scatters of a graph and the nodes that move the elements that they write or read.

    That is every move before or after them, and every other view of the tensors they start from: no
    plan for a scatter depends on the rest. ``moves`` are the operators that move elements.
    """

    def is_move(node: ir.Node) -> bool:
        return node.op_type in moves and node.domain == "" and node.graph is graph

    seen: set[ir.Value] = set()

    def near(node: ir.Node) -> Iterator[ir.Node]:
        for value in (*moved_inputs(node), *node.outputs):
            if value not in seen:  # once: many nodes may read it
                seen.add(value)
                users = [user for user, index in value.uses() if index == 0 or _moves_all(user)]
                yield from filter(is_move, (*users, *makers([value])))

    return set(reached(filter(is_scatter, graph), near))
