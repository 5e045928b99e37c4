"""Masks: boolean tensors whose true elements a scatter writes, or a node reads, in their order.

A scatter writes by a mask if its indices on some axes are the rows of ``NonZero(mask)``, and all
other axes are written in full. The mask may have another shape than these axes: it is cropped to
them and padded with False. If the model runs, no true element lies outside.

    z[m]    GatherND(z, Transpose(NonZero(m)))
            Gather(Flatten(z, axis=2), NonZero(m)[0] * z.shape[1] + NonZero(m)[1])

The mask may have fewer dims than the tensor: then rows are taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Facts,
    Scatter,
    Shape,
    Symbol,
    TensorValue,
    Term,
    granted,
    made_by,
    only,
    refuse_unless,
)
from onnx_scatterx.rewrites.rows.whole import same_but_ones

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_EXPANDS = 4  # of a mask, one after the other
_ROUNDS = 8  # writes that may replace one by a mask


@dataclass(frozen=True)
class Mask:
    """A boolean (or numeric) tensor of known rank, and how many of its elements are true."""

    value: ir.Value
    abstract: TensorValue
    count: Term

    @property
    def shape(self) -> Shape:
        """The shape of the mask."""
        return self.abstract.dims

    def if_chosen(self, shape: Shape, facts: Facts) -> Shape:
        """Return what a shape is if an element of the mask is true."""
        some = facts.assuming(self.count - 1)
        return tuple(n if n.constant is not None else some.simplify(n) for n in shape)


def before_expands(value: ir.Value) -> ir.Value | None:
    """Return the tensor that one or more Expands broadcast to a value; None if none does.

        Expand(Expand(m, s), t)  =  Expand(m, t)

    PyTorch's exporter broadcasts a mask twice. If others read what is between, no Expand before it
    is looked for.
    """
    source = None
    for _ in range(_EXPANDS):
        node = made_by(value, "Expand")
        if node is None or node.inputs[0] is None:
            break
        source = value = node.inputs[0]
        if any(use.node.op_type != "Expand" for use in value.uses()) or value.is_graph_output():
            break
    return source


@dataclass(frozen=True)
class Masked:
    """A scatter by a mask: ``axes[r]`` is the axis of dim r of the mask.

    It is None for a dim without an axis: its few elements are written one after the other, in
    ``rounds``. ``dim`` counts the true elements in the updates. ``others`` are (axis, dim) pairs of
    the axes that are written in full.
    """

    scatter: Scatter
    mask: Mask
    axes: tuple[int | None, ...]
    dim: int
    others: tuple[tuple[int, int], ...]

    @property
    def beside(self) -> list[int]:
        """The axes over which the mask does not run: the others, and those of one position."""
        return [a for a in range(len(self.scatter.data_shape)) if a not in self.axes]

    @property
    def named(self) -> list[int]:
        """The axes of the mask's dims, in the order of the dims."""
        return [a for a in self.axes if a is not None]

    @property
    def unnamed(self) -> list[int]:
        """The dims of the mask without an axis."""
        return [r for r, a in enumerate(self.axes) if a is None]

    @property
    def rounds(self) -> list[tuple[int, ...]]:
        """The positions on these dims, in the order in which they are written."""
        return list(np.ndindex(*(self.mask.shape[r].constant or 0 for r in self.unnamed)))

    @property
    def sizes(self) -> Shape:
        """The shape that the mask must have."""
        return tuple(
            own if a is None else self.scatter.data_shape[a]
            for own, a in zip(self.mask.shape, self.axes, strict=True)
        )

    @property
    def fits(self) -> bool:
        """Whether the mask is proven to have that shape."""
        pairs = zip(self.mask.shape, self.sizes, strict=True)
        return all(self.scatter.facts.equal(a, b) for a, b in pairs)


def mask_under(rows: Iterable[Row], context: Context) -> Mask:
    """Return the mask that a NonZero counts, given rows of its positions, or refuse.

    All must be rows of one tensor, as it is in one run of a body.
    """
    _, value = only({(row.symbol.origin, row.value) for row in rows})
    return mask_of(made_by(value, "NonZero"), context)


def mask_of(node: ir.Node | None, context: Context) -> Mask:
    """Return the mask that a NonZero of the graph counts, or refuse."""
    node = granted(node)
    refuse_unless(node.graph is context.graph)
    mask, known = granted(node.inputs[0]), context.known
    shape = granted(known(node.outputs[0]).shape)
    refuse_unless(known(mask).shape)
    return Mask(mask, known(mask), shape[1])


class Row(NamedTuple):
    """A target that is row ``row`` of a tensor of two dims, at ``x_dim``."""

    symbol: Symbol
    value: ir.Value
    row: int
    dim: int


def row_of(target: Term, context: Context) -> Row | None:
    """Return a target as a row of a tensor at a coordinate, or None."""
    read = context.element_read(target)
    if read is None or len(read[0].parts) != 2:
        return None
    row, dim = read[0].parts[0].constant, read[0].parts[1].dim
    return None if row is None or dim is None else Row(*read, row, dim)


def masked(scatter: Scatter, context: Context) -> Masked:
    """Return a scatter as a write by a mask, or refuse if it is not a write by a mask."""
    rows: dict[int, int] = {}  # dim of the mask -> axis
    found = list[Row]()
    for axis, target, _ in scatter.by_axis():
        row = row_of(target, context)
        if row is not None:
            refuse_unless(row.row not in rows)
            found.append(row)
            rows[row.row] = axis
    dim, mask = only({row.dim for row in found}), mask_under(found, context)
    scatter = replace(scatter, shape=mask.if_chosen(scatter.shape, scatter.facts))
    others = scatter.in_full()
    refuse_unless(others.keys().isdisjoint(rows.values()))
    for axis, target, size in scatter.by_axis():
        single = target.constant == 0 and size.constant == 1
        refuse_unless(single or axis in others or axis in rows.values())
    used = others.values()
    refuse_unless(len({*used, dim}) == len(used) + 1 == len(scatter.shape))
    refuse_unless(max(rows) < len(mask.shape))
    # If an axis is empty, nothing is written.
    facts = scatter.facts.assuming(*(scatter.data_shape[a] - 1 for a in rows.values()))
    # Else these are the first few true elements only.
    refuse_unless(facts.equal(facts.simplify(scatter.shape[dim]), mask.count))
    axes = tuple(rows.get(r) for r in range(len(mask.shape)))
    by_mask = Masked(scatter, mask, axes, dim, tuple(others.items()))
    refuse_unless(1 <= len(by_mask.rounds) <= _ROUNDS)
    return by_mask


def as_bools(x: ir.Value, mask: Mask, context: Context) -> ir.Value:
    """Write a value of the mask's element type as booleans."""
    w, dtype = context.writer, mask.abstract.dtype
    return x if dtype == _BOOL else w.node("Cast", [x], _BOOL, to=_BOOL.value)


def fitting(by_mask: Masked, context: Context) -> ir.Value:
    """Write the mask in its own order of dims, boolean, with the sizes of the data."""
    w, x = context.writer, as_bools(by_mask.mask.value, by_mask.mask, context)
    if by_mask.fits:
        return x
    zeros = w.constant([0] * len(by_mask.axes))
    sizes = context.numbers.shape(by_mask.sizes)
    axes = w.constant(list(range(len(by_mask.axes))))
    x = w.node("Slice", [x, zeros, sizes, axes], _BOOL)
    missing = w.node("Sub", [sizes, w.node("Shape", [x], _INT64)], _INT64)
    no = w.constant(np.array(False), _BOOL)
    return w.pad(x, _BOOL, w.concat([zeros, missing], _INT64, 0), no)


def placed(
    x: ir.Value,
    dtype: ir.DataType,
    by_mask: Masked,
    context: Context,
    added: Iterable[int],
    at: tuple[int, ...] = (),
) -> ir.Value:
    """Write a tensor over the mask's dims as one over their axes, ascending.

    ``at`` is the position on the dims without an axis, ``added`` are axes of extent 1 to add.
    """
    w = context.writer
    if len(by_mask.rounds) == 1:
        x = w.axes("Squeeze", x, dtype, by_mask.unnamed)
    else:
        for r, i in reversed(list(zip(by_mask.unnamed, at, strict=True))):
            x = w.node("Gather", [x, w.constant(np.array(i))], dtype, axis=r)
    return over_axes(x, dtype, by_mask, context, added)


def over_axes(
    x: ir.Value, dtype: ir.DataType, by_mask: Masked, context: Context, added: Iterable[int]
) -> ir.Value:
    """Write a tensor over the mask's dims that have an axis as one over these axes, ascending."""
    w, order = context.writer, sorted(range(len(by_mask.named)), key=lambda i: by_mask.named[i])
    return w.axes("Unsqueeze", w.transpose(x, dtype, order), dtype, list(added))


def is_repeated(other: Mask, mask: Mask, context: Context, facts: Facts) -> bool:
    """Return whether a mask is another one, repeated over more dims behind its own.

    Then its true elements are those of the other one, each repeated for all of these dims.
    """
    if other.value is mask.value:
        return True
    depth = len(other.shape)
    if depth > len(mask.shape) or not all(map(facts.equal, other.shape, mask.shape)):
        return False
    repeated = range(depth, len(mask.shape))
    return _is_expanded(mask, other, context) or _has_elements_of(
        mask.abstract, other.abstract, repeated
    )


def _is_expanded(mask: Mask, other: Mask, context: Context) -> bool:
    """Return whether a mask is another one to which axes were added behind, and then broadcast."""
    value = mask.value
    kept = list(range(len(mask.shape)))  # for each axis of the value, the axis of the mask
    while value is not other.value:
        node = made_by(value, "Expand", "Unsqueeze", "Identity")
        shape = (
            None if node is None or node.inputs[0] is None else context.known(node.inputs[0]).shape
        )
        if node is None or node.graph is not context.graph or shape is None:
            return False
        value = granted(node.inputs[0])
        if node.op_type == "Expand":
            kept = kept[len(kept) - len(shape) :]
        elif node.op_type == "Unsqueeze":
            new = context.known(node.outputs[0]).shape
            places = None if new is None else same_but_ones(shape, new, context.facts)
            if places is None:
                return False
            at = {d: axis for d, axis in zip(places, kept, strict=True) if d is not None}
            kept = [at.get(d, -1) for d in range(len(shape))]
    ones = [n.constant == 1 for n in other.shape]
    return all(k == d or one for d, (k, one) in enumerate(zip(kept, ones, strict=True)))


def repeats(mask: Mask, depth: int) -> bool:
    """Return whether a mask is the same at any place of its dims behind the first ones."""
    index_map, table = index_map_of(mask.abstract), mask.abstract.element_exprs
    if index_map is not None and index_map.coords.isdisjoint(range(depth, len(mask.shape))):
        return True
    if table is None or not table.size:
        return False
    lines = table.reshape((*table.shape[:depth], -1))
    return all(a is b for a, b in np.broadcast(lines, lines[..., :1]))


def index_map_of(value: TensorValue) -> Term | None:
    """Return the elements of a tensor as a term without coordinates along dims of extent 1."""
    if value.index_map is None:
        return None
    return value.index_map.at({d: 0 for d, n in enumerate(value.dims) if n.constant == 1})


def _has_elements_of(mask: TensorValue, other: TensorValue, repeated: range) -> bool:
    """Return whether a mask's elements are those of another one, at any place in some dims."""
    index_map, own = (index_map_of(value) for value in (mask, other))
    table, rows = mask.element_exprs, other.element_exprs
    if index_map is not None and index_map is own:
        return index_map.coords.isdisjoint(repeated)
    if table is None or rows is None:
        return False
    # A table of few elements; as an index map, it may depend on all coordinates.
    rows = rows.reshape(rows.shape + (1,) * len(repeated))
    return all(a is b for a, b in np.broadcast(table, rows))
