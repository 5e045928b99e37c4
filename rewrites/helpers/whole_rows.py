"""Chosen rows, followed to all the rows that they were chosen from.

A function of each row alone commutes with a choice of rows:

    f(x[m])[k] = f(x)[i]        if m[i] is the k-th true element of m

So the choice sinks through such functions until it meets what is read (``WholeRows``). How a row
runs through an operator is a column of the table of operators (``Rows``), and ``row_functions``
says for each kind what the operator is of whole tensors.

An operand that is not read by the mask may have the rows in the mask's order all the same
(``row_counts``).

A function must not fail on a row that was not chosen: a divisor of integers is 1 there, an index is
0 (``guarded``). What it computes of such a row, NaN too, is never written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Facts,
    MultiplyAdds,
    Refusal,
    Shape,
    Term,
    attempt,
    described,
    granted,
    refuse_unless,
)
from onnx_scatterx.rewrites.helpers.following import Following, is_of_window
from onnx_scatterx.rewrites.helpers.mask_shares import share_of
from onnx_scatterx.rewrites.helpers.masks import (
    Mask,
    as_bools,
    index_map_of,
    is_repeated,
    mask_under,
    repeats,
    row_of,
)
from onnx_scatterx.rewrites.helpers.row_reads import RowRead, as_is, row_read
from onnx_scatterx.rewrites.helpers.whole import Whole

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_SUMMED = (ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.INT32, ir.DataType.INT64)
_NODES = 256  # that are followed for one scatter

Through = Callable[["WholeRows", ir.Node, ir.Value, int, Following], Whole]
"""Returns all rows of an output of a node, along an axis, or refuses (``row_functions``)."""


@dataclass
class WholeRows:
    """Follows values whose rows a mask chooses to tensors of all rows; it refuses what it cannot.

    The dims of the mask have these ``extents`` in the tensors, and ``fitted`` writes the mask with
    them. If ``counts``, an operand may be read by the running count of the mask, beside another
    one. At most one place of the ``merged`` dims is true, wherever it is: what is read there needs
    no such dims.
    """

    mask: Mask
    extents: Shape
    fitted: Callable[[], ir.Value]
    through: Through
    context: Context
    facts: Facts
    counts: bool = False
    merged: tuple[int, ...] = ()
    _read_by: dict[int, Mask] = field(default_factory=dict)
    _seen: dict[tuple[ir.Value, int, Following], Whole | Refusal] = field(default_factory=dict)

    @property
    def rows(self) -> Following:
        """An axis of as many elements as rows are chosen, by all dims of the mask."""
        return Following(len(self.extents))

    def of(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return all rows of a value that has chosen rows along an axis, or refuse."""
        key = value, axis, following
        if key not in self._seen:
            refuse_unless(len(self._seen) < _NODES)
            self.context.charge()
            self._seen[key] = attempt(lambda: self._of(*key))
        return granted(self._seen[key])

    def of_repeated(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return all rows of a value of rows that the last dims of the mask only repeat."""
        refuse_unless(not following.is_windowed)
        whole = self.of(value, axis, following)
        refuse_unless(whole.is_read or repeats(self.mask, following.depth))
        return whole

    def of_window(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return all rows of a value with an element for each place of a window, or refuse.

        The tensor has the dims of the window in full.
        """
        refuse_unless(self.facts.equal(self.shape(value)[axis], self.count(following)))
        whole = self.of(value, axis, following)
        dims = [r for r in self.dims(following) if r in whole.dims or is_of_window(r)]
        return self.everywhere(whole, dims, following)

    def dims(self, following: Following) -> tuple[int, ...]:
        """Return the dims of the mask and of the window, in the order in which they count."""
        return following.dims

    def shape(self, value: ir.Value) -> Shape:
        """Return the shape that a value has if a row is chosen, or refuse.

        If none is chosen, nothing is written. Then a size may be another one: ONNX Runtime reduces
        no negative axis of an empty tensor.
        """
        return self.mask.if_chosen(granted(self.context.known(value).shape), self.facts)

    def shape_as_is(self, value: ir.Value) -> Shape:
        """Return the shape of a value that is read as it is, whether rows are chosen or not."""
        refuse_unless(not self.is_other(value))
        return self.shape(value)

    def is_other(self, value: ir.Value) -> bool:
        """Return whether a value may have another size if no row is chosen, beside the rows."""
        known = granted(self.context.known(value).shape)
        pairs = zip(known, self.shape(value), strict=True)
        count = self.mask.count.leaves()
        return any(a != b and count.isdisjoint(b.leaves()) for a, b in pairs)

    def dtype(self, value: ir.Value) -> ir.DataType:
        """Return the element type of a value, or refuse."""
        return granted(self.context.known(value).dtype or value.dtype)

    def count(self, following: Following) -> Term:
        """Return how long an axis of chosen rows is."""
        return self._read_by.get(following.depth, self.mask).count * following.places

    @property
    def width(self) -> int:
        """How many dims of masks a tensor of all rows may have."""
        return len(self.extents)

    def dim(self, r: int) -> int:
        """Return the dim of a tensor of all rows that a dim of the mask is, or refuse."""
        return r

    def sizes(self, dims: Sequence[int], following: Following) -> Shape:
        """Return the sizes of dims of the mask and of the window."""
        return following.sizes(dims, self.extents)

    def is_fixed(self, value: ir.Value, axis: int) -> bool:
        """Return whether a value is the same for all rows that run along an axis of it."""
        return axis < 0 or self.shape(value)[axis].constant == 1

    def everywhere(self, x: Whole, dims: Sequence[int], following: Following) -> Whole:
        """Return a whole tensor with these dims of the mask, each in its size."""
        if x.dims == tuple(dims):
            return x
        x = x.with_dims(dims)
        sizes, end = self.sizes(dims, following), x.axis + len(dims)
        shape = (*x.sizes[: x.axis], *sizes, *x.sizes[end:])

        def make(made: list[ir.Value]) -> ir.Value:
            to = self.context.numbers.shape(shape)
            return self.context.writer.node("Expand", [made[0], to], x.dtype)

        return Whole.of(make, x.dtype, x.axis, dims, shape, x)

    def work_of(self, each: Term, dims: Sequence[int], following: Following) -> MultiplyAdds:
        """Return the multiply-adds of a tensor with these dims of the mask, so many for a row."""
        others = self.sizes([r for r in self.dims(following) if r not in dims], following)
        chosen = self._share * math.prod(n.constant or 1 for n in others)
        total = math.prod(self.sizes(dims, following), start=each)
        return MultiplyAdds(each * following.places, total, 1 / chosen)

    @cached_property
    def _share(self) -> float:
        """The share of the elements of the mask that are true."""
        return share_of(self.mask, self.context)

    def hit(self, dims: Sequence[int]) -> ir.Value:
        """Write where a row is chosen, over these dims of the mask: at any place of the others."""
        w, own = self.context.writer, [r for r in dims if not is_of_window(r)]
        depth = max(own, default=-1) + 1
        depth = min((d for d in self._read_by if d >= depth), default=len(self.extents))
        gone = [r for r in range(depth) if r not in own]
        x = self._somewhere(self.mask_over(depth), gone, [self.extents[r] for r in gone])
        return w.axes("Unsqueeze", x, _BOOL, [i for i, r in enumerate(dims) if r not in own])

    def _somewhere(self, x: ir.Value, axes: list[int], sizes: Sequence[Term]) -> ir.Value:
        """Write whether booleans are true anywhere along axes of these sizes, which are removed."""
        if not axes:
            return x
        w = self.context.writer
        # Of floats: no term is made of the elements of a mask.
        number = w.cast(x, _BOOL, ir.DataType.FLOAT)
        filled = all(self.facts.is_nonnegative(n - 1) for n in sizes)
        op = "ReduceMax" if filled else "ReduceSum"  # the largest of none is -inf, which is true
        most = w.node(op, [number, w.constant(axes)], ir.DataType.FLOAT, keepdims=0)
        return w.node("Cast", [most], _BOOL, to=_BOOL.value)

    def guarded(
        self,
        x: ir.Value,
        dtype: ir.DataType,
        dims: Sequence[int],
        axis: int,
        number: int,
        rank: int,
    ) -> ir.Value:
        """Write a tensor of a rank with a number at the rows that are not chosen."""
        w = self.context.writer
        others = [d for d in range(rank) if not axis <= d < axis + len(dims)]
        hit = w.axes("Unsqueeze", self.hit(dims), _BOOL, others)
        safe = w.constant(np.array(number, dtype.numpy()), dtype)
        return w.node("Where", [hit, x, safe], dtype)

    def is_whole(self, depth: int) -> bool:
        """Return whether the mask is known over its first dims."""
        return depth == len(self.extents) or depth in self._read_by

    def mask_over(self, depth: int) -> ir.Value:
        """Write the mask over its first dims, which the others repeat."""
        mask = self._read_by.get(depth)
        return self.fitted() if mask is None else as_bools(mask.value, mask, self.context)

    def without_merged(self, whole: Whole, depth: int, *, are_small: bool = False) -> Whole:
        """Return a tensor of rows without the merged dims: the elements where the mask is true.

        ONNX Runtime adds the elements of a ReduceSum as doubles, which hold ``small`` integers.
        """
        gone = [r for r in whole.dims if r in self.merged]
        if not gone:
            return whole
        refuse_unless(whole.dtype in _SUMMED and depth == len(self.extents))
        w, count = self.context.writer, len(self.extents)
        whole = whole.with_dims(range(count))
        axes, rank = [whole.axis + r for r in self.merged], len(whole.order)
        dims = tuple(r for r in range(count) if r not in self.merged)
        shape = [n for d, n in enumerate(whole.sizes) if d not in axes]
        shape[whole.axis : whole.axis + len(dims)] = [self.extents[r] for r in dims]

        def make(made: list[ir.Value]) -> ir.Value:
            x = self.guarded(made[0], whole.dtype, range(count), whole.axis, 0, rank)
            if are_small or whole.dtype != _INT64:
                return w.node("ReduceSum", [x, w.constant(axes)], whole.dtype, keepdims=0)
            for axis in reversed(axes):
                x = w.node("CumSum", [x, w.constant(np.array(axis))], _INT64)
                x = w.node("Gather", [x, w.constant(np.array(-1))], _INT64, axis=axis)
            return x

        return Whole.of(make, whole.dtype, whole.axis, dims, shape, whole, is_read=True)

    def _of(self, value: ir.Value, axis: int, following: Following) -> Whole:
        if self.is_fixed(value, axis):
            shape, kind = self.shape_as_is(value), self.dtype(value)
            order = [d for d in range(len(shape)) if d != axis]
            return Whole.of(partial(as_is, value), kind, axis, (), shape).moved(order, axis)
        depth = following.depth
        if not following.is_windowed:
            place = partial(self._place, value, axis, depth)
            found = attempt(lambda: self.without_merged(place(), depth, are_small=True))
            if isinstance(found, Whole):
                return found
        node = granted(value.producer())
        refuse_unless(node.domain == "" and node.graph is self.context.graph)
        if described(node).reads and not following.is_windowed:
            read = attempt(lambda: self.without_merged(self._read(node, axis, following), depth))
            if isinstance(read, Whole):
                return read
        return self.through(self, node, value, axis, following)

    def _place(self, value: ir.Value, axis: int, depth: int) -> Whole:
        """Return the places at which a mask is true along one of its dims: every place of it."""
        known = self.context.known(value)
        row = granted(row_of(granted(index_map_of(known)), self.context))
        refuse_unless(row.dim == axis and row.row < depth and known.dtype == _INT64)
        refuse_unless(all(d == axis or n.constant == 1 for d, n in enumerate(known.dims)))
        self._note(mask_under([row], self.context), known.dims[axis], depth)
        size, rank = self.extents[row.row], len(known.dims)
        order = [0 if d == axis else None for d in range(rank)]
        make = lambda _: self.context.numbers.positions(size)  # noqa: E731
        return Whole.of(make, _INT64, 0, [row.row], [size], is_read=True).moved(order, axis)

    def _note(self, other: Mask, rows: Term, depth: int) -> None:
        """Refuse a mask unless it is the followed one, or that which its last dims repeat.

        All the rows that it chooses must be there.
        """
        refuse_unless(len(other.shape) == depth and self.facts.equal(rows, other.count))
        refuse_unless(is_repeated(other, self.mask, self.context, self.facts))
        if all(map(self.facts.equal, other.shape, self.extents)):
            self._read_by[depth] = other

    def _read(self, node: ir.Node, axis: int, following: Following) -> Whole:
        """Return the tensor whose rows a node reads by the mask, or refuse."""
        read = row_read(node, axis, self.extents[: following.depth], self.context)
        self._note(mask_under(read.rows, self.context), read.read.shape[axis], following.depth)
        return self._source(read)

    def _source(self, read: RowRead) -> Whole:
        """Return the tensor whose rows are read."""
        return read.source(self.context)
