"""Nodes that read rows of a tensor by a mask: the tensor has all of them.

    GatherND(z, Transpose(NonZero(m)))
    Gather(Flatten(z, axis=2), NonZero(m)[0] * z.shape[1] + NonZero(m)[1])

The first axes of z are those of the mask m.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Context,
    Facts,
    Gather,
    Refusal,
    Shape,
    Term,
    attempt,
    attribute_of,
    described,
    granted,
    made_by,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.rows.masks import Row, row_of
from onnx_scatterx.rewrites.rows.whole import Whole, same_but_ones


@dataclass(frozen=True)
class RowRead:
    """A read of rows along an ``axis`` of the result, which a mask of some extents chooses.

    In the shape ``new``, the data have an axis for each dim of the mask. Axis i of all rows is axis
    ``order[i]`` of it, or a new one of extent 1.
    """

    read: Gather
    axis: int
    rows: tuple[Row, ...]
    old: Shape
    new: Shape
    order: tuple[int | None, ...]
    at: tuple[tuple[int, int], ...] = ()
    """Axes of the data of which one position is read, and the position."""

    @property
    def dims(self) -> tuple[int, ...]:
        """The dims of the mask, ascending."""
        return tuple(sorted(row.row for row in self.rows))

    def source(self, context: Context) -> Whole:
        """Return the tensor of all rows, as it is before nodes that only move its axes."""
        read = self.read
        make = partial(self._cut, context) if self.at else partial(as_is, read.data)
        whole = Whole.of(make, read.dtype, self.axis, self.dims, self.new, is_read=True)
        whole = whole.moved(self.order, self.axis)
        if self.at:
            return whole
        keeps = len(self.old) == len(self.new) and all(map(read.facts.equal, self.old, self.new))
        data = read.data if keeps else in_shape(read.data, self.new, read.facts, context)
        if data is not None:
            return _unmoved(data, whole, context)

        def reshaped(_: list[ir.Value]) -> ir.Value:
            numbers = context.numbers
            return numbers.reshape(read.data, read.dtype, self.old, self.new, read.facts)

        return replace(whole, make=reshaped)

    def _cut(self, context: Context, _: list[ir.Value]) -> ir.Value:
        """Write the data at the positions that are read."""
        w, dtype = context.writer, self.read.dtype
        axes, starts = zip(*self.at, strict=True)
        ends = [i + 1 for i in starts]
        x = w.slice(self.read.data, dtype, axes, starts, ends, [1] * len(axes))
        return context.numbers.reshape(x, dtype, self.old, self.new, self.read.facts)


def row_read(node: ir.Node, axis: int, extents: Shape, context: Context) -> RowRead:
    """Return a node that reads rows by a mask of some extents, or refuse."""
    read = context.access(node)
    refuse_unless(isinstance(read, Gather))
    assert isinstance(read, Gather)
    read, before = _before_reshape(read, axis, context)
    labels: list[tuple[str, int] | None] = []  # of each axis of the source
    old, new, rows = list[Term](), list[Term](), list[Row]()
    at: list[tuple[int, int]] = []
    for c, target, size in read.by_axis():
        if target.constant is not None and size.constant != 1:
            refuse_unless(read.nonnegative[c] and target.constant >= 0)
            refuse_unless(read.facts.is_nonnegative(size - target - 1))
            at.append((c, target.constant))
            target, size = term(0), term(1)  # of what is cut
        old.append(size)
        if axis in target.coords:
            found = _rows(target, size, axis, extents, read.facts, context)
            rows += found
            labels += [("row", row.row) for row in found]
            new += [extents[row.row] for row in found]
            continue
        dim = read.full_dim(c)
        single = target.constant == 0 and size.constant == 1
        refuse_unless(dim is not None or single)
        labels.append(None if dim is None else ("dim", dim))
        new.append(size)
    dims = sorted(row.row for row in rows)
    refuse_unless(len(set(dims)) == len(dims))
    ends = [("dim", d) for d in range(len(read.shape))]
    wanted = [*ends[:axis], *(("row", r) for r in dims), *ends[axis + 1 :]]
    places = {label: i for i, label in enumerate(labels) if label is not None}
    sizes = [*read.shape[:axis], *(extents[r] for r in dims), *read.shape[axis + 1 :]]
    absent = (n for label, n in zip(wanted, sizes, strict=True) if label not in places)
    refuse_unless(all(n.constant == 1 for n in absent))
    order = tuple(map(places.get, wanted))
    refuse_unless(before is None or not at)
    return RowRead(read, axis, tuple(rows), before or tuple(old), tuple(new), order, tuple(at))


def _before_reshape(read: Gather, axis: int, context: Context) -> tuple[Gather, Shape | None]:
    """Return a read of the tensor before a Reshape, and the shape of that, if it has the rows.

    The Reshape may take the number of rows from the run. But if as many elements are before the
    axis of the rows, and behind it, then this axis is as long as the one before the Reshape.
    """
    node, axes = (
        made_by(read.data, "Reshape"),
        [c for c, t, _ in read.by_axis() if axis in t.coords],
    )
    source = None if node is None or node.graph is not context.graph else node.inputs[0]
    own = None if source is None else context.known(source).shape
    if source is None or own is None or len(axes) != 1:
        return read, None
    new, (c,), equal = read.data_shape, axes, read.facts.equal
    filled = all(read.facts.is_nonnegative(n - 1) for n in (*new[:c], *new[c + 1 :]))
    for d, size in enumerate(own):
        parts = (own[:d], new[:c]), (own[d + 1 :], new[c + 1 :])
        if filled and all(equal(*(math.prod(p, start=term(1)) for p in pair)) for pair in parts):
            return replace(read, data=source, data_shape=(*new[:c], size, *new[c + 1 :])), own
    return read, None


def _rows(
    target: Term, size: Term, axis: int, extents: Shape, facts: Facts, context: Context
) -> list[Row]:
    """Return the rows of NonZero that give the position on an axis, the first counts most."""
    atoms = [row_of(term(atom), context) for atom in target.atoms]
    found = [row for row in atoms if row is not None]
    refuse_unless(all(row.dim == axis and row.row < len(extents) for row in found))
    refuse_unless(1 <= len(found) <= 3)
    orders = filter(_gives(target, size, extents, facts), permutations(found))
    return list(granted(next(orders, None)))


def _gives(
    target: Term, size: Term, extents: Shape, facts: Facts
) -> Callable[[tuple[Row, ...]], bool]:
    """Return a test of rows that give a position, row by row, on an axis of a size."""

    def gives(rows: tuple[Row, ...]) -> bool:
        position = term(0)
        for row in rows:
            position = position * extents[row.row] + term(row.symbol)
        whole = math.prod((extents[row.row] for row in rows), start=term(1))
        return facts.equal(position, target) and facts.equal(whole, size)

    return gives


def in_shape(
    value: ir.Value, shape: Sequence[Term], facts: Facts, context: Context
) -> ir.Value | None:
    """Return a tensor of a shape whose elements a value has in their order, or None."""
    while True:
        node = value.producer()
        if node is None or node.graph is not context.graph or not node.inputs:
            return None
        if not described(node).keeps_order or node.inputs[0] is None:
            return None
        value = node.inputs[0]
        own = context.known(value).shape
        if own and len(own) == len(shape) and all(map(facts.equal, own, shape)):
            return value


def _unmoved(value: ir.Value, whole: Whole, context: Context) -> Whole:
    """Return a tensor that a value is, before nodes that only move its axes."""
    while True:
        whole = replace(whole, make=partial(as_is, value))
        before = attempt(partial(axes_moved, value, context))
        if isinstance(before, Refusal):
            return whole
        value, moved = before
        order = tuple(None if d is None else moved[d] for d in whole.order)
        whole = replace(whole, shape=granted(context.known(value).shape), order=order)


def axes_moved(value: ir.Value, context: Context) -> tuple[ir.Value, list[int | None]]:
    """Return what a node moves the axes of, and which axis of it each axis of the value was.

    It is None for a new axis of extent 1. Refuses other nodes.
    """
    node = granted(value.producer())
    moves = node.domain == "" and node.graph is context.graph
    refuse_unless(moves and node.op_type in ("Transpose", "Unsqueeze", "Squeeze", "Identity"))
    source = granted(node.inputs[0])
    old, new = (granted(context.known(v).shape) for v in (source, value))
    if node.op_type == "Transpose":
        perm = attribute_of(node, "perm", list(range(len(old)))[::-1])
        return source, [int(d) for d in granted(perm)]
    return source, list(granted(same_but_ones(old, new, context.facts)))


def as_is(value: ir.Value, _: list[ir.Value]) -> ir.Value:
    """Return a value: that which a whole tensor is, if nothing is computed."""
    return value
