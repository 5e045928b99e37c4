"""Updates that a mask chooses, with their positions, among all updates and positions.

    before   at = NonZero(m)
             y = ScatterND(x, f(Gather(i, at)), g(Gather(u, at)))
    same as  y = ScatterND(x, f(i), g(u)), where only the updates at which m is true are written

The order of the updates is the same. An update that is not chosen has any position, also one beyond
the data, and any number, also NaN: a form that compares positions must compare the mask, too.

Holds if the indices and the updates are rows of tensors that the mask chooses, in its order, or
functions of each of such rows alone (``whole_rows``). What the scatter does with its positions
must not depend on how many rows were chosen before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Scatter,
    Shape,
    Term,
    coord,
    granted,
    made_by,
    reached,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.helpers.masks import Mask, as_bools, mask_of
from onnx_scatterx.rewrites.helpers.row_functions import whole_of
from onnx_scatterx.rewrites.helpers.whole import written
from onnx_scatterx.rewrites.helpers.whole_rows import WholeRows

_BOOL = ir.DataType.BOOL
_VALUES = 256  # at most so many values before the indices are visited


@dataclass(frozen=True)
class ChosenRows:
    """A scatter of all updates, of which those at which the mask is true are written.

    The indices and updates of the ``scatter`` are placeholders: ``prepare`` writes them. The dims
    of the mask are the first dims of the updates. ``context`` knows the placeholders.
    """

    scatter: Scatter
    context: Context
    mask: Mask
    prepare: Callable[[], None]

    @property
    def dims(self) -> range:
        """The dims of the updates over which the mask runs."""
        return range(len(self.mask.shape))

    def write_mask(self, order: list[int]) -> ir.Value:
        """Write the mask over the dims of the updates, in this order."""
        w, perm = self.context.writer, [d for d in order if d in self.dims]
        x = w.transpose(as_bools(self.mask.value, self.mask, self.context), _BOOL, perm)
        return w.axes("Unsqueeze", x, _BOOL, [i for i, d in enumerate(order) if d not in perm])


def chosen_rows(scatter: Scatter, context: Context) -> ChosenRows:
    """Return a scatter as one of all the updates from which a mask chooses, or refuse."""
    indices, known = granted(scatter.indices), context.known
    kind = granted(known(indices).dtype)
    columns = scatter.node.op_type == "ScatterND"
    refuse_unless(columns or scatter.node.op_type in ("Scatter", "ScatterElements"))
    mask = mask_of(_counted(indices), context)
    depth, (_, *more) = len(mask.shape), scatter.index_dims or (0,)
    refuse_unless(scatter.index_dims and depth)
    refuse_unless(scatter.facts.equal(scatter.shape[0], mask.count))
    refuse_unless(columns or depth == 1)

    shape = (*mask.shape, *scatter.shape[1:])
    last = [granted(known(indices).shape)[-1]] if columns else []
    index_shape = (*mask.shape, *(scatter.shape[d] for d in more), *last)
    fitted = partial(as_bools, mask.value, mask, context)
    rows = WholeRows(mask, mask.shape, fitted, whole_of, context, scatter.facts)
    own = _written_as(indices, index_shape, rows, context)
    new = _written_as(scatter.updates, shape, rows, context)
    places, described = context.with_placeholder("all/indices", kind, index_shape)
    values, described = described.with_placeholder("all/updates", scatter.dtype, shape)

    at = [coord(d) for d in range(len(index_shape) - len(last))]
    moved = _behind(depth, len(scatter.shape))
    targets: list[Term] = []
    for c, t in enumerate(scatter.index_exprs):
        if 0 in t.coords:  # a term would need the number of the chosen row
            refuse_unless(c in scatter.named and scatter.affine(c) is None)
            column = [term(c - scatter.named[0])] if columns else []
            targets.append(context.element(places, [*at, *column]))
        else:
            targets.append(t.at(moved))
    given, rank = context.facts, len(at)
    whole = scatter.of_updates(
        values, shape, targets, given, indices=places, index_rank=rank, signed=scatter.named
    )

    def prepare() -> None:
        context.writer.let(places, own())
        context.writer.let(values, new())

    return ChosenRows(whole, described, mask, prepare)


def _behind(depth: int, rank: int) -> dict[int, Term]:
    """Return the coordinates of the dims behind the first, if ``depth`` dims replace the first."""
    return {d: coord(d - 1 + depth) for d in range(1, rank)}


def _counted(indices: ir.Value) -> ir.Node | None:
    """Return the nearest NonZero whose positions are read to compute the indices."""

    def near(value: ir.Value) -> list[ir.Value]:
        node = value.producer()
        if node is None:
            return []
        reads = node.domain == "" and node.op_type in ("Gather", "GatherND")
        return [v for v in (node.inputs[1:] if reads else node.inputs) if v is not None]

    values = islice(reached([indices], near), _VALUES)
    return next((node for v in values if (node := made_by(v, "NonZero")) is not None), None)


def _written_as(
    value: ir.Value, shape: Shape, rows: WholeRows, context: Context
) -> Callable[[], ir.Value]:
    """Return a function that writes chosen rows as a tensor of all rows of a shape, or refuse."""
    whole = rows.of(value, 0).with_dims(range(len(rows.extents)))
    refuse_unless(len(whole.sizes) == len(shape))

    def write() -> ir.Value:
        x = written(whole, context)
        if all(map(context.facts.equal, whole.sizes, shape)):
            return x
        return context.writer.node("Expand", [x, context.numbers.shape(shape)], whole.dtype)

    return write
