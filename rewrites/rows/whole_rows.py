"""Chosen rows, followed to all the rows that they were chosen from.

A function of each row alone commutes with a choice of rows:

    f(x[m])[k] = f(x)[i]        if m[i] is the k-th true element of m

So the choice sinks through such functions until it meets what is read (``WholeRows``). How a row
runs through an operator is a column of the table of operators (``Rows``), and ``functions`` says
for each kind what the operator is of whole tensors.

An operand that is not read by the mask may have the rows in the mask's order all the same
(``counts``).

A function must not fail on a row that was not chosen: a divisor of integers is 1 there, an index is
0 (``guarded``). What it computes of such a row, NaN too, is never written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import Refusal, Shape, attempt, described, granted, refuse_unless
from onnx_scatterx.rewrites.rows.choice import Choice
from onnx_scatterx.rewrites.rows.dims import Dims
from onnx_scatterx.rewrites.rows.following import Following, is_of_window
from onnx_scatterx.rewrites.rows.masks import index_map_of, mask_under, repeats, row_of
from onnx_scatterx.rewrites.rows.reads import as_is, row_read
from onnx_scatterx.rewrites.rows.whole import Make, Whole

_BOOL, _INT64 = ir.DataType.BOOL, ir.DataType.INT64
_SUMMED = (ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.INT32, ir.DataType.INT64)
_NODES = 256  # that are followed for one scatter

Through = Callable[["WholeRows", ir.Node, ir.Value, int, Following], Whole]
"""Returns all rows of an output of a node, along an axis, or refuses (``functions``)."""


@dataclass
class WholeRows:
    """Follows values whose rows are chosen to tensors of all rows; it refuses what it cannot.

    These have the ``dims``. If ``counts``, an operand may be read by the running count of the mask,
    beside another one. At most one place of the ``merged`` dims is true, wherever it is: what is
    read there needs no such dims.
    """

    choice: Choice
    dims: Dims
    through: Through
    counts: bool = False
    merged: tuple[int, ...] = ()
    _seen: dict[tuple[ir.Value, int, Following], Whole | Refusal] = field(default_factory=dict)

    @property
    def start(self) -> Following:
        """An axis with an element for each chosen row."""
        return Following(len(self.choice.extents))

    @property
    def width(self) -> int:
        """How many dims of masks a tensor of all rows may have."""
        return self.dims.dim(len(self.choice.extents))

    def of(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return all rows of a value that has chosen rows along an axis, or refuse."""
        key = value, axis, following
        if key not in self._seen:
            refuse_unless(len(self._seen) < _NODES)
            self.choice.context.charge()
            self._seen[key] = attempt(lambda: self._of(*key))
        return granted(self._seen[key])

    def of_repeated(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return all rows of a value of rows that the last dims of the mask only repeat."""
        refuse_unless(not following.is_windowed)
        whole = self.of(value, axis, following)
        refuse_unless(whole.is_read or repeats(self.choice.mask, following.depth))
        return whole

    def of_window(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return all rows of a value with an element for each place of a window, or refuse.

        The tensor has the dims of the window in full.
        """
        choice = self.choice
        refuse_unless(not self.dims.is_among)
        refuse_unless(choice.facts.equal(choice.shape(value)[axis], choice.count(following)))
        whole = self.of(value, axis, following)
        dims = [r for r in self.dims.of(following) if r in whole.dims or is_of_window(r)]
        return self.everywhere(whole, dims, following)

    def counted(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return the rows of a value that has them in the mask's order, or one for all, or refuse.

        A row that is not chosen is any of them.
        """
        return self._without_merged(self.dims.counted(value, axis, following), following)

    def everywhere(self, x: Whole, dims: Sequence[int], following: Following) -> Whole:
        """Return a whole tensor with these dims, each in its size."""
        if x.dims == tuple(dims):
            return x
        x = x.with_dims(dims)
        sizes, end = self.dims.sizes(dims, following), x.axis + len(dims)
        shape = (*x.sizes[: x.axis], *sizes, *x.sizes[end:])
        return Whole.of(self.expand(x.dtype, shape), x.dtype, x.axis, dims, shape, x)

    def expand(self, dtype: ir.DataType, shape: Shape) -> Make:
        """Return what writes a tensor that is broadcast to a shape."""
        w, numbers = self.choice.context.writer, self.choice.context.numbers
        return lambda made: w.node("Expand", [made[0], numbers.shape(shape)], dtype)

    def guarded(self, x: Whole, number: int, following: Following) -> Whole:
        """Return a tensor of all rows with a number at those that are not chosen."""
        axis, end, w = x.axis, x.axis + len(x.dims), self.choice.context.writer
        shape = (*x.sizes[:axis], *self.dims.sizes(x.dims, following), *x.sizes[end:])

        def make(made: list[ir.Value]) -> ir.Value:
            others = [d for d in range(len(shape)) if not axis <= d < end]
            hit = w.axes("Unsqueeze", self.dims.hit(x.dims), _BOOL, others)
            safe = w.constant(np.array(number, x.dtype.numpy()), x.dtype)
            return w.node("Where", [hit, made[0], safe], x.dtype)

        return Whole.of(make, x.dtype, axis, x.dims, shape, x)

    def _without_merged(self, x: Whole, following: Following, *, small: bool = False) -> Whole:
        """Return a tensor of rows without the merged dims: the elements where the mask is true.

        ONNX Runtime adds the elements of a ReduceSum as doubles, which hold ``small`` integers.
        """
        if not any(r in self.merged for r in x.dims):
            return x
        w, all_dims, dtype = self.choice.context.writer, self.dims.of(self.start), x.dtype
        refuse_unless(dtype in _SUMMED and following.depth == len(all_dims))
        safe = self.guarded(x.with_dims(all_dims), 0, following)
        axes = [safe.axis + r for r in self.merged]
        shape = [n for d, n in enumerate(safe.sizes) if d not in axes]

        def make(made: list[ir.Value]) -> ir.Value:
            (total,) = made
            if small or dtype != _INT64:
                return w.node("ReduceSum", [total, w.constant(axes)], dtype, keepdims=0)
            for axis in reversed(axes):
                total = w.node("CumSum", [total, w.constant(np.array(axis))], _INT64)
                total = w.node("Gather", [total, w.constant(np.array(-1))], _INT64, axis=axis)
            return total

        dims = [r for r in all_dims if r not in self.merged]
        return Whole.of(make, dtype, x.axis, dims, shape, safe, is_read=True)

    def _of(self, value: ir.Value, axis: int, following: Following) -> Whole:
        whole = attempt(partial(self._followed, value, axis, following))
        if isinstance(whole, Refusal) and self.dims.is_among and self.counts:
            return self.counted(value, axis, following)
        return granted(whole)

    def _followed(self, value: ir.Value, axis: int, following: Following) -> Whole:
        choice = self.choice
        if choice.is_fixed(value, axis):
            shape, kind = choice.shape_as_is(value), choice.dtype(value)
            order = [d for d in range(len(shape)) if d != axis]
            return Whole.of(partial(as_is, value), kind, axis, (), shape).moved(order, axis)
        for way in (self._place, self._read):
            whole = attempt(partial(way, value, axis, following))
            if isinstance(whole, Whole):
                return whole
        node = granted(value.producer())
        refuse_unless(node.domain == "" and node.graph is choice.context.graph)
        return self.through(self, node, value, axis, following)

    def _place(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return the places at which a mask is true along one of its dims: every place of it."""
        context, known = self.choice.context, self.choice.context.known(value)
        refuse_unless(not self.dims.is_among and not following.is_windowed)
        row = granted(row_of(granted(index_map_of(known)), context))
        refuse_unless(row.dim == axis and row.row < following.depth and known.dtype == _INT64)
        refuse_unless(all(d == axis or n.constant == 1 for d, n in enumerate(known.dims)))
        self.choice.note(mask_under([row], context), known.dims[axis], following.depth)
        size, rank = self.choice.extents[row.row], len(known.dims)
        order = [0 if d == axis else None for d in range(rank)]
        make = lambda _: context.numbers.positions(size)  # noqa: E731
        whole = Whole.of(make, _INT64, 0, [row.row], [size], is_read=True).moved(order, axis)
        return self._without_merged(whole, following, small=True)

    def _read(self, value: ir.Value, axis: int, following: Following) -> Whole:
        """Return the tensor whose rows a node reads by the mask, or refuse."""
        context, node = self.choice.context, granted(value.producer())
        refuse_unless(node.domain == "" and node.graph is context.graph)
        refuse_unless(described(node).reads and not following.is_windowed)
        read = row_read(node, axis, self.choice.extents[: following.depth], context)
        mask = mask_under(read.rows, context)
        self.choice.note(mask, read.read.shape[axis], following.depth)
        return self._without_merged(self.dims.source(read), following)
