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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Scatter,
    Shape,
    Symbol,
    TensorValue,
    Term,
    attribute_of,
    granted,
    made_by,
    only,
    refuse_unless,
    term,
)

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
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
    found, others = list[Row](), scatter.in_full()
    for axis, target, _ in scatter.by_axis():
        if axis not in others:
            found.append(granted(row_of(target, context)))
            refuse_unless(found[-1].row not in rows)
            rows[found[-1].row] = axis
    used = others.values()
    dim = only({row.dim for row in found})
    refuse_unless(len({*used, dim}) == len(used) + 1 == len(scatter.shape))
    mask = mask_under(found, context)
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
    order = sorted(range(len(by_mask.named)), key=lambda i: by_mask.named[i])
    return w.axes("Unsqueeze", w.transpose(x, dtype, order), dtype, list(added))


_Read = tuple[ir.Value, list[Row]]
"""A tensor, and the rows of a NonZero by which it is read, in the order of its leading axes."""


def read_by_mask(
    node: ir.Node, shape: Shape, scatter: Scatter, mask: Mask, context: Context
) -> ir.Value:
    """Return the tensor of a shape that a node reads where the mask of a scatter is true.

    It is read by this mask, or by one that this mask repeats over more axes. Refuses any other
    node.
    """
    indices, equal = granted(node.inputs[1]), scatter.facts.equal
    rows = context.known(indices)
    refuse_unless(rows.shape is not None)
    read = _by_position if node.op_type == "Gather" else _by_rows
    source, parts = read(node, rows, scatter, context)
    own = granted(context.known(source).shape)
    refuse_unless(len(own) == len(shape) and all(map(equal, own, shape)))
    other = mask_under(parts, context)
    refuse_unless(len(other.shape) == len(parts) and equal(rows.dims[0], other.count))
    refuse_unless(_is_repeated(other, mask, scatter))
    return source


def _by_rows(node: ir.Node, rows: TensorValue, scatter: Scatter, context: Context) -> _Read:
    """Return what a GatherND reads."""
    source = granted(node.inputs[0])
    refuse_unless(attribute_of(node, "batch_dims", 0) == 0 and len(rows.dims) == 2)
    columns, index_map = granted(rows.dims[1].constant), granted(rows.index_map)
    refuse_unless(1 <= columns <= len(scatter.data_shape))
    parts = [granted(row_of(index_map.at({1: c}), context)) for c in range(columns)]
    refuse_unless(all((row.row, row.dim) == (c, 0) for c, row in enumerate(parts)))
    return source, parts


def _by_position(node: ir.Node, rows: TensorValue, scatter: Scatter, context: Context) -> _Read:
    """Return what a Gather reads by positions in its leading axes, which were flattened.

    The position of element (a, b, c) of axes of A, B and C elements is (a * B + b) * C + c.
    """
    source, equal = granted(node.inputs[0]), scatter.facts.equal
    refuse_unless(attribute_of(node, "axis", 0) == 0)
    index_map, known = granted(rows.index_map), context.known
    given = [row_of(term(atom), context) for atom in index_map.atoms]
    parts = sorted((row for row in given if row is not None), key=lambda row: row.row)
    refuse_unless(parts and all((row.row, row.dim) == (r, 0) for r, row in enumerate(parts)))
    flat = made_by(source, "Flatten", "Reshape") if len(parts) > 1 else None
    whole = source if flat is None else granted(flat.inputs[0])
    shape, lines = granted(known(whole).shape), granted(known(source).shape)
    refuse_unless(len(lines) + len(parts) == len(shape) + 1)
    position = term(0)
    for row in parts:
        position = position * shape[row.row] + term(row.symbol)
    refuse_unless(all(map(equal, lines[1:], shape[len(parts) :])) and equal(position, index_map))
    return whole, parts


def _is_repeated(other: Mask, mask: Mask, scatter: Scatter) -> bool:
    """Return whether a mask is another one, repeated over the other axes of the data.

    Then its true elements are those of the other one, each repeated for all the data behind it.
    """
    if other.value is mask.value:
        return True
    depth, equal = len(other.shape), scatter.facts.equal
    if depth > len(mask.shape) or not all(map(equal, other.shape, mask.shape)):
        return False
    repeated, data = range(depth, len(mask.shape)), scatter.data_shape
    whole = all(equal(mask.shape[d], data[d]) for d in repeated)
    return whole and _has_elements_of(mask.abstract, other.abstract, repeated)


def _has_elements_of(mask: TensorValue, other: TensorValue, repeated: range) -> bool:
    """Return whether a mask's elements are those of another one, at any place in some dims."""
    index_map, table, rows = mask.index_map, mask.element_exprs, other.element_exprs
    if index_map is not None and index_map is other.index_map:
        return index_map.coords.isdisjoint(repeated)
    if table is None or rows is None:
        return False
    # A table of few elements; as an index map, it may depend on all coordinates.
    rows = rows.reshape(rows.shape + (1,) * len(repeated))
    return all(a is b for a, b in np.broadcast(table, rows))
