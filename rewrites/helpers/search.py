"""A search: every position, also one known only at run time, looks for its update among all.

The data's positions P lie on one axis, and so do the N updates. The rules differ in how a position
finds its update: by comparing all (``dense_``...), or by sorting.

A position that all updates of a row share is an element of a tensor, which is read directly (a
scalar, one number per row), or one number for all rows, which is computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Detail,
    Facts,
    Gather,
    Reason,
    Reducer,
    Refusal,
    Scatter,
    Symbol,
    Term,
    attempt,
    granted,
    is_lacked,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.helpers.arrangement import Arrangement, arranged
from onnx_scatterx.rewrites.helpers.update_positions import (
    UpdatePositions,
    index_tensor,
    positions_of,
)
from onnx_scatterx.rewrites.rows import chosen_rows


@dataclass(frozen=True)
class Positions:
    """The tensor, with the axis of the data for each of its dims, ascending."""

    dtype: ir.DataType
    axes: tuple[int, ...]
    write: Callable[[], ir.Value]

    def added(self, rank: int) -> list[int]:
        """Return the axes to add to the tensor: it then broadcasts to the data."""
        first = min(self.axes, default=rank)
        return [d - first for d in range(first, rank) if d not in self.axes]


def positions(
    target: Term, axis: int, along: Mapping[int, int], access: Scatter | Gather, context: Context
) -> Positions:
    """Return a target on an axis as a tensor, if dims of what is moved run ``along`` axes."""
    looked_up = _looked_up(target, along, access, context)
    if looked_up is None and target.offset and target.coords:
        looked_up = granted(_looked_up(target - target.offset, along, access, context))
        return _moved(looked_up, target.offset, context)
    if looked_up is None and not target.coords and target.constant is None:
        context.numbers.cost(target)  # or refuse
        return Positions(_INT64, (axis,), lambda: context.numbers.vector(target))
    return granted(looked_up)


def _looked_up(
    target: Term, along: Mapping[int, int], access: Scatter | Gather, context: Context
) -> Positions | None:
    read = index_tensor(target, context)
    if read is None:
        return None
    atom, value, dtype, shape = read
    axes = _axes(atom, along, shape, access)
    return None if axes is None else Positions(dtype, axes, lambda: value)


def _moved(tensor: Positions, offset: int, context: Context) -> Positions:
    w = context.writer

    def write() -> ir.Value:
        at = w.cast(tensor.write(), tensor.dtype, _INT64)
        return w.node("Add", [at, w.constant(np.array(offset))], _INT64)

    return Positions(_INT64, tensor.axes, write)


def _axes(
    atom: Symbol, along: Mapping[int, int], shape: tuple[Term, ...], access: Scatter | Gather
) -> tuple[int, ...] | None:
    """Return the axis of the data for each dim of the index tensor, ascending, or None.

    A dim of extent 1 may belong to any axis: it takes the next one. The others must be read whole:
    the tensor may be longer than the part that the indices read.
    """
    rank, dims = len(access.data_shape), access.dims_read(atom.parts, shape)
    if dims is None:
        return None
    axes = [-1 if dim is None else along[dim] for dim in dims]
    for i in reversed(range(len(axes))):
        if axes[i] < 0:
            axes[i] = (axes[i + 1] if i + 1 < len(axes) else rank) - 1
    if sorted(set(axes)) != axes or (axes and axes[0] < 0):
        return None
    return tuple(axes)


_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_FEW = 8  # positions, or updates, that are compared with all of the others
_SHARE = 16  # of the elements that move anyway, every target may compare one in so many
SMALL = 1 << 14  # elements of the largest tensor of a comparison that every target may make


@dataclass(frozen=True)
class Search:
    """A scatter with its positions on one axis, and the positions of its updates.

    If it ``is_chosen``, some updates have a position that is none of the data, and are not written.
    """

    layout: Arrangement
    positions: UpdatePositions
    context: Context
    is_chosen: bool = False

    @property
    def scatter(self) -> Scatter:
        """The scatter."""
        return self.layout.scatter

    @property
    def ahead(self) -> int:
        """The axes before the positions, if rows of the data do not share their indices."""
        return 0 if self.positions.shared else self.layout.middle

    @property
    def behind(self) -> int:
        """The axes after the positions, if rows of the data do not share their indices."""
        return 0 if self.positions.shared else len(self.layout.right)

    def vector(self, x: ir.Value) -> ir.Value:
        """Write the positions of updates as a vector, if all rows of the data share them."""
        others = [d for d in range(len(self.positions.shape)) if d != self.layout.middle]
        return self.context.writer.axes("Squeeze", x, _INT64, others)

    @property
    def padded(self) -> bool:
        """Whether there may be no updates: then one without a target is added, for ReduceMax."""
        return not self.scatter.facts.is_nonnegative(self.layout.updates - 1)

    @property
    def compared(self) -> Term:
        """How many comparisons there are."""
        count = self.layout.updates + self.padded
        others = (n for d, n in enumerate(self.positions.shape) if d != self.layout.middle)
        return math.prod(others, start=self.layout.positions * count)


def search_of(scatter: Scatter, context: Context, *, behind: bool = False) -> Search:
    """Return a scatter as a search, or refuse if its indices cannot be read.

    If a mask chooses the updates and their positions, all of them are searched. Then the position
    of an update that is not chosen is -1, or, if ``behind``, that behind the last.
    """
    chosen = attempt(lambda: _search_of_all(scatter, context, behind=behind))
    return search_of_own(scatter, context) if isinstance(chosen, Refusal) else chosen


def search_of_own(scatter: Scatter, context: Context) -> Search:
    """Return a scatter as a search among its own updates, or refuse."""
    layout = arranged(scatter, apart=False)
    return Search(layout, positions_of(layout, context), context)


def _search_of_all(scatter: Scatter, context: Context, *, behind: bool) -> Search:
    rows = chosen_rows(scatter, context)
    layout = arranged(rows.scatter, apart=False)
    nowhere = layout.positions if behind else term(-1)
    positions = positions_of(layout, rows.context, rows, nowhere)
    return Search(layout, positions, rows.context, is_chosen=True)


def number_of(scatter: Scatter, context: Context) -> np.ndarray | None:
    """Return the number that all updates have, if writing it more than once changes nothing."""
    if scatter.reduction not in ("none", "min", "max"):
        return None
    return context.constants.splat(scatter.updates)


def is_small(elements: Term, search: Search) -> bool:
    """Return whether a number of elements is negligible, and at most what the target allows."""
    limit = search.context.target.dense_limit
    most = SMALL if limit is None else min(SMALL, limit)
    return search.scatter.facts.interval(elements)[1] <= most


def allow(elements: Term, search: Search) -> Term | None:
    """Return the elements of the largest tensor if the form is dense; refuse too large ones.

    A form is not dense if it compares few elements, absolutely or beside those that the scatter
    moves anyway, or if there are few positions or updates. A size that is not known counts as its
    upper bound.
    """
    scatter, limit = search.scatter, search.context.target.dense_limit
    moved = math.prod(scatter.data_shape, start=term(1)) + math.prod(scatter.shape, start=term(1))
    if _has_few(search) or scatter.facts.is_nonnegative(moved - _SHARE * elements):
        return None
    if is_small(elements, search):
        return None
    refuse_beyond(granted(limit), elements, scatter.facts)
    return elements


def refuse_beyond(allowed: float, elements: Term, facts: Facts) -> None:
    """Refuse a comparison, unless it has at most so many elements at all sizes."""
    _, most = facts.interval(elements)
    bound = " without a known bound" if math.isinf(most) else f", at most {most}"
    shown = "" if elements.constant is not None else bound
    size = Detail("{} elements{}, the target allows {}", elements, shown, allowed)
    refuse_unless(most <= allowed, Reason.TOO_LARGE, size)


def _has_few(search: Search) -> bool:
    """Return whether a comparison is cheap: few positions; or few updates, if no scatter does it.

    A scatter looks at each update, as a comparison with few positions does. But it copies the other
    data a hundred times as fast as anything compares their positions with few updates.
    """
    target, is_nonnegative = search.context.target, search.scatter.facts.is_nonnegative
    if is_nonnegative(_FEW - search.layout.positions):
        return True
    wanted = target.dense_limit is not None or is_lacked(search.scatter.node, target)
    return wanted and is_nonnegative(_FEW - search.layout.updates)


def matches(search: Search, *, padded: bool) -> tuple[ir.Value, ir.Value]:
    """Write which update has which position, [l..., P, N, r...], and the positions, [P, 1, ...]."""
    w, numbers, layout = search.context.writer, search.context.numbers, search.layout
    at, ahead, behind = search.positions.write(), search.ahead, search.behind
    if search.positions.shared:
        at = search.vector(at)
    if padded:
        pads = [0] * (2 * (ahead + 1 + behind))
        pads[ahead + 1 + behind + ahead] = 1
        nowhere = w.constant(np.array(-1))
        at = w.pad(at, _INT64, w.constant(pads), nowhere)
    at = w.axes("Unsqueeze", at, _INT64, [ahead])
    if search.positions.inside:
        w.note_index(at, layout.positions, from_zero=not (padded or search.is_chosen))
    line = numbers.positions(layout.positions)
    line = w.axes("Unsqueeze", line, _INT64, [1 + d for d in range(1 + behind)])
    return w.node("Equal", [at, line], _BOOL), line


def filled(search: Search, hit: ir.Value, number: np.ndarray) -> ir.Value:
    """Write one number to the positions that have an update.

    ``hit`` says which; its shape is [P] if all rows of the data share their indices, else
    [l..., P, r...].
    """
    w, layout, dtype = search.context.writer, search.layout, search.scatter.dtype
    if search.positions.shared:
        hit = w.axes("Unsqueeze", hit, _BOOL, [1 + d for d in range(len(layout.right))])
    x, new = layout.data(search.context), w.constant(number, dtype)
    x = Reducer(w, search.scatter.reduction, dtype).where(hit, x, new)
    return layout.back(x, search.context)


def taken(search: Search, row: ir.Value) -> ir.Value:
    """Write the data where ``row`` is its position, and the update where it is P + the update.

    The shape of ``row`` is that of ``hit`` in ``filled``.
    """
    w, layout, dtype = search.context.writer, search.layout, search.scatter.dtype
    parts = [layout.data(search.context), layout.update(search.context)]
    both = w.concat(parts, dtype, layout.middle)
    shape = None if search.positions.shared else layout.shape
    x = search.context.numbers.take(both, row, dtype, layout.middle, shape)
    return layout.back(x, search.context)
