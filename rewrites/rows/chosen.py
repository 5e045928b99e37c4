"""Updates that a mask chooses, with their positions, among all updates and positions.

    before   at = NonZero(m)
             y = ScatterND(x, f(Gather(i, at)), g(Gather(u, at)))
    same as  y = ScatterND(x, f(i), g(u)), where only the updates at which m is true are written

The order of the updates is the same. An update that is not chosen has any position, also one beyond
the data, and any number, also NaN: a form that compares positions must compare the mask, too.

An index may be there for each row and each place of a window, in the order of either:

    before   y = ScatterND(x, Reshape(Expand(Gather(i, at)) + o), Reshape(Gather(u, at)))
    same as  y = ScatterND(x, Expand(i) + o, u)             i of shape [n, 1, k], o of [w, k]

Holds if the indices and the updates are rows of tensors that the mask chooses, in its order, or
functions of each of such rows alone (``whole_rows``). What the scatter does with its positions
must not depend on how many rows were chosen before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Scatter,
    Shape,
    Term,
    attempt,
    coord,
    granted,
    made_by,
    reached,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.rows.choice import Choice
from onnx_scatterx.rewrites.rows.dims import MaskDims
from onnx_scatterx.rewrites.rows.functions import whole_of
from onnx_scatterx.rewrites.rows.masks import Mask, as_bools, mask_of
from onnx_scatterx.rewrites.rows.whole import written
from onnx_scatterx.rewrites.rows.whole_rows import WholeRows

_BOOL = ir.DataType.BOOL
_VALUES = 256  # at most so many values before the indices are visited


@dataclass(frozen=True)
class ChosenRows:
    """A scatter of all updates, of which those at which the mask is true are written.

    The indices and updates of the ``scatter`` are placeholders: ``prepare`` writes them. The mask
    runs over these ``dims`` of the updates. ``context`` knows the placeholders.
    """

    scatter: Scatter
    context: Context
    mask: Mask
    dims: range
    prepare: Callable[[], None]

    def write_mask(self, order: list[int]) -> ir.Value:
        """Write the mask over the dims of the updates, in this order."""
        w, perm = self.context.writer, [d - self.dims[0] for d in order if d in self.dims]
        x = w.transpose(as_bools(self.mask.value, self.mask, self.context), _BOOL, perm)
        others = [i for i, d in enumerate(order) if d not in self.dims]
        return w.axes("Unsqueeze", x, _BOOL, others)


def chosen_rows(scatter: Scatter, context: Context) -> ChosenRows:
    """Return a scatter as one of all the updates from which a mask chooses, or refuse."""
    scatter = _with_indices(scatter, context)
    refuse_unless(scatter.node.op_type in ("ScatterND", "Scatter", "ScatterElements"))
    mask = mask_of(_counted(granted(scatter.indices), context), context)
    fitted = partial(as_bools, mask.value, mask, context)
    choice = Choice(mask, mask.shape, fitted, context, scatter.facts)
    rows = WholeRows(choice, MaskDims(choice), whole_of)
    ways = (partial(_of_all, scatter, *way, rows, context) for way in _windows(scatter, mask))
    found = (each for each in map(attempt, ways) if isinstance(each, ChosenRows))
    return granted(next(found, None))


def _with_indices(scatter: Scatter, context: Context) -> Scatter:
    """Return a scatter with its index tensor: that of the node, if it was unflattened."""
    access = scatter if scatter.indices is not None else context.access(scatter.node)
    refuse_unless(isinstance(access, Scatter) and access.data is scatter.data)
    assert isinstance(access, Scatter)
    return access


def _windows(scatter: Scatter, mask: Mask) -> Iterator[tuple[int, Shape]]:
    """Yield the dims of the indices that have an element for each chosen row, with a window.

    The places of the window are beside each row, or the rows beside each place.
    """
    one, count = term(1), mask.count
    for dim in scatter.index_dims:
        size = scatter.shape[dim]
        if scatter.facts.equal(size, count):
            yield dim, (one, one)
        elif count.constant != 0 and (times := size // count) * count is size:
            yield dim, (one, times)
            yield dim, (times, one)


def _of_all(
    scatter: Scatter, dim: int, window: Shape, rows: WholeRows, context: Context
) -> ChosenRows:
    """Return a scatter of all the updates, if a dim of them has the chosen rows, or refuse."""
    indices, known, mask = granted(scatter.indices), context.known, rows.choice.mask
    kind = granted(known(indices).dtype)
    columns = scatter.node.op_type == "ScatterND"
    last = [granted(known(indices).shape)[-1]] if columns else []
    before, behind = ([n] if n.constant != 1 else [] for n in window)
    dims, ends = len(scatter.index_dims), (scatter.shape[:dim], scatter.shape[dim + 1 :])

    def split(own: Shape) -> Shape:
        return (*ends[0], *before, *own, *behind, *ends[1])

    shape = split(mask.shape)
    depth, first = len(mask.shape), dim + len(before)
    more = len(before) + len(behind) + depth - 1
    at = [coord(d) for d in range(dims + more)]
    index_shape = (*shape[: len(at)], *last)
    own = _written_as(indices, index_shape, dim, window, rows)
    new = _written_as(scatter.updates, shape, dim, window, rows)
    places, described = context.with_placeholder("all/indices", kind, index_shape)
    values, described = described.with_placeholder("all/updates", scatter.dtype, shape)

    chosen = split((mask.count,))
    behind_rows = {d: d + depth - 1 for d in range(first + 1, len(chosen))}
    exprs = scatter.index_exprs if chosen == scatter.shape else scatter.targets_in(chosen)
    targets: list[Term] = []
    single = scatter.facts.interval(mask.count)[1] <= 1
    for c, t in enumerate(exprs):
        if t is not None and single and scatter.affine(c) is not None:
            t = t.at({first: 0})
        if t is None or first in t.coords:  # a term would need the number of the chosen row
            refuse_unless(c in scatter.named and scatter.affine(c) is None)
            column = [term(c - scatter.named[0])] if columns else []
            targets.append(context.element(places, [*at, *column]))
        else:
            targets.append(t.at({d: coord(e) for d, e in behind_rows.items()}))
    facts, rank = context.facts, len(at)
    whole = scatter.of_updates(
        values, shape, targets, facts, indices=places, index_rank=rank, signed=scatter.named
    )

    def prepare() -> None:
        context.writer.let(places, own())
        context.writer.let(values, new())

    return ChosenRows(whole, described, mask, range(first, first + depth), prepare)


def _counted(indices: ir.Value, context: Context) -> ir.Node | None:
    """Return the nearest NonZero whose positions are read to compute the indices."""

    def near(value: ir.Value) -> list[ir.Value]:
        node = value.producer()
        if node is None:
            return []
        data, *others = node.inputs or (None,)
        if node.domain == "" and node.op_type in ("Gather", "GatherND"):
            fixed = all(v is None or context.known(v).constant is not None for v in others)
            return [v for v in ([data] if fixed else others) if v is not None]
        return [v for v in node.inputs if v is not None]

    values = islice(reached([indices], near), _VALUES)
    return next((node for v in values if (node := made_by(v, "NonZero")) is not None), None)


def _written_as(
    value: ir.Value, shape: Shape, axis: int, window: Shape, rows: WholeRows
) -> Callable[[], ir.Value]:
    """Return a function that writes chosen rows as a tensor of all rows of a shape, or refuse."""
    context = rows.choice.context
    following = replace(rows.start, window=window)
    whole = rows.of_window(value, axis, following).with_dims(following.dims)
    refuse_unless(len(whole.sizes) == len(shape))

    def write() -> ir.Value:
        x = written(whole, context)
        if all(map(context.facts.equal, whole.sizes, shape)):
            return x
        return context.writer.node("Expand", [x, context.numbers.shape(shape)], whole.dtype)

    return write
