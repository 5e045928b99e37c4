"""All rows of operators that move elements.

    Transpose(x[m])           Transpose(x)              the dims of the mask stay together
    Reshape(x[m], [-1, 4])    Reshape(x, [..., 4])      if as many elements are before the rows
    Reshape(x[m], [-1])       x                         if the mask repeats each row for all of it
    Reshape(x[m], [-1, 4])    Reshape(x, [..., 3, 4])   if each row becomes 3: the dim of a window

Axes that only change places are not written here: a ``Whole`` keeps their order until it is read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.rules import (
    Shape,
    Term,
    attempt,
    granted,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.rows.following import Has, is_of_window
from onnx_scatterx.rewrites.rows.part import (
    Part,
    constant,
    indices_of,
    shifted,
    value_of,
)
from onnx_scatterx.rewrites.rows.whole import Whole, same_but_ones


def in_order(part: Part) -> Whole:
    """Reshape, Flatten, Squeeze, Unsqueeze, Identity: the elements in their order."""
    places = range(len(part.choice.shape(part.input(0))))
    found = [partial(way, part, at) for way in (_from_axis, _windowed) for at in places]
    return granted(next((x for each in found if (x := each()) is not None), None))


def _from_axis(part: Part, at: int) -> Whole | None:
    """Return all rows of a tensor in another shape, if they run along an axis of the input."""
    old, axis, facts = part.choice.shape(part.input(0)), part.axis, part.facts
    before, behind = _count(part.shape[:axis]), _count(part.shape[axis + 1 :])
    if not facts.equal(_count(old[:at]), before):
        return None
    if facts.equal(_count(old[at + 1 :]), behind):
        x = attempt(partial(part.followed, 0, at))
        if isinstance(x, Whole):
            return _shaped(part, x)
    repeated = _repeated(part, old, at, behind)
    if not repeated:
        return None
    depth = part.following.depth - repeated
    following = replace(part.following, depth=depth)
    x = attempt(partial(part.rows.of_repeated, part.input(0), at, following))
    if not isinstance(x, Whole):
        return None
    first = x.axis + len(x.dims)
    if x.narrow is not None:
        pairs = zip(x.sizes[first:], x.narrow.sizes[first:], strict=True)
        # A size that may be 1 does not say whether the dim is there.
        if all(own.constant == 1 or facts.equal(full, own) for full, own in pairs):
            x = x.narrow
    more = [d for d in range(repeated) if x.sizes[first + d].constant != 1]
    kept = [*range(first), *(first + d for d in more), *range(first + repeated, len(x.order))]
    dims = (*x.dims, *(part.rows.dims.dim(depth + d) for d in more))
    return _shaped(part, replace(x.moved(kept, x.axis), dims=dims, narrow=None))


def _count(sizes: Sequence[Term]) -> Term:
    return math.prod(sizes, start=term(1))


def _repeated(part: Part, old: Shape, at: int, behind: Term) -> int:
    """Return how many of the last dims of the mask are axes behind the rows that are merged."""
    depth, equal, mask = part.following.depth, part.facts.equal, part.choice.mask
    for count in range(1, depth + 1):
        own, last = old[at + 1 : at + 1 + count], slice(depth - count, depth)
        shapes = mask.shape[last], part.choice.extents[last]
        fits = len(own) == count and all(all(map(equal, own, shape)) for shape in shapes)
        if fits and equal(_count(old[at + 1 + count :]), behind):
            return count
    return 0


def _windowed(part: Part, at: int) -> Whole | None:
    """Return all rows of a tensor in another shape, which merges them with other axes, or splits.

    Before the rows, and behind them, are as many elements in both shapes. Those that are not on
    other axes of the input are the window of its axis of rows.
    """
    old, axis = part.choice.shape(part.input(0)), part.axis
    window = part.following.window
    before = _quotient(window[0] * _count(part.shape[:axis]), _count(old[:at]))
    behind = _quotient(window[1] * _count(part.shape[axis + 1 :]), _count(old[at + 1 :]))
    if before is None or behind is None or (before, behind) == window:
        return None
    following = replace(part.following, window=(before, behind))
    x = attempt(partial(part.rows.of_window, part.input(0), at, following))
    if not isinstance(x, Whole):
        return None
    dims = part.rows.dims.of(part.following)
    return _shaped(part, x, [r for r in dims if r in x.dims or is_of_window(r)])


def _quotient(a: Term, b: Term) -> Term | None:
    """Return how many times as large a size is as another one; None if it is not known."""
    if b.constant == 0:
        return None
    times = a // b
    return times if times * b is a else None


def _shaped(part: Part, x: Whole, dims: Sequence[int] | None = None) -> Whole:
    """Return a whole tensor in the shape of all rows of the output, with dims of the mask."""
    dims = x.dims if dims is None else tuple(dims)
    new, kept = part.whole_shape(dims), [r for r in x.dims if not is_of_window(r)]
    first = x.axis + (x.dims.index(kept[0]) if kept else 0)
    order = same_but_ones(x.sizes, new, part.facts, kept=range(first, first + len(kept)))
    if order is not None:
        moved = x.moved(order, part.axis)
        return moved if dims == x.dims else replace(moved, dims=dims, narrow=None)
    return part.whole(part.reshape(x.dtype, x.sizes, new), [x], dims)


def transposed(part: Part) -> Whole:
    """Transpose: the dims of the mask stay together."""
    perm = [int(d) for d in part.attribute("perm", list(range(part.rank))[::-1])]
    x = part.followed(0, perm[part.axis])
    order: list[int | None] = []
    for d in perm:
        order += range(x.axis, x.axis + len(x.dims)) if d == x.axis else [shifted(d, x)]
    return x.moved(order, part.axis)


def expanded(part: Part) -> Whole:
    """Expand: of rows, or of one row that is repeated."""
    source = part.input(0)
    own = part.choice.shape(source)
    at = part.axis - part.rank + len(own)
    if at < 0:
        x = value_of(part, source)
    else:
        as_many = part.facts.equal(own[at], part.shape[part.axis])
        as_many |= part.choice.is_fixed(source, at)
        x = part.rows_of(source, at, part.following.has if as_many else Has.FEWER)
    new = part.whole_shape(x.dims)
    x = x.of_rank(len(new), part.axis)
    pairs = zip(x.sizes, new, strict=True)
    if all(part.facts.equal(a, b) for a, b in pairs):
        return x
    make = part.rows.expand(part.dtype, new)
    return replace(part.whole(make, [x], x.dims), narrow=x)


def filled(part: Part) -> Whole:
    """ConstantOfShape: the same number everywhere."""
    number = granted(part.context.constants.splat(part.value))
    w = part.context.writer
    array = np.array(number, part.dtype.numpy())
    one = Whole.of(lambda _: w.constant(array, part.dtype), part.dtype, 0, (), ())
    return part.whole(part.rows.expand(part.dtype, part.whole_shape(())), [one], ())


def joined(part: Part) -> Whole:
    """Concat: along another axis than that of the rows."""
    axis = part.integer("axis", 0, part.rank)
    refuse_unless(axis != part.axis)
    inputs = range(len(part.node.inputs))
    wholes = part.together(*(part.followed(i, part.axis) for i in inputs))
    return part.node_of(wholes, wholes[0].dims, axis=shifted(axis, wholes[0]))


def cut(part: Part) -> Whole:
    """Slice: along other axes; of rows, the first, if there are more than are chosen."""
    source = part.choice.shape(part.input(0))
    rank, known = len(source), part.context.known
    starts = part.numbers(1)
    count = len(starts)
    axes = part.numbers(3) if len(part.node.inputs) > 3 and part.node.inputs[3] else range(count)
    steps = part.numbers(4) if len(part.node.inputs) > 4 and part.node.inputs[4] else [1] * count
    axes = [int(d) % rank for d in axes]
    if part.axis in axes:
        i = axes.index(part.axis)
        refuse_unless(count == 1 and starts[i] == 0 and steps[i] == 1)
        return part.rows_of(part.input(0), part.axis, part.following.has.of_more())
    x = part.followed(0, part.axis)
    ends = known(part.input(2)).constant
    refuse_unless(ends is not None)
    moved = [shifted(d, x) for d in axes]
    ends_at: list[Whole | ir.Value | None] = [x, part.input(1), part.input(2)]
    ends_at.append(constant(part, np.array(moved)))
    if any(s != 1 for s in steps):
        ends_at.append(part.input(4))
    return part.node_of(ends_at, x.dims)


def split(part: Part) -> Whole:
    """Split: along another axis than that of the rows, where the sizes are known."""
    axis = part.integer("axis", 0, part.rank)
    refuse_unless(axis != part.axis)
    outputs = list(part.node.outputs)
    sizes = [granted(part.choice.shape(v)[axis].constant) for v in outputs]
    at = outputs.index(part.value)
    x = part.followed(0, part.axis)
    low = sum(sizes[:at])
    w, place = part.context.writer, shifted(axis, x)

    def make(made: list[ir.Value]) -> ir.Value:
        return w.slice(made[0], part.dtype, [place], [low], [low + sizes[at]], [1])

    return part.whole(make, [x], x.dims)


def padded(part: Part) -> Whole:
    """Pad: other axes than that of the rows."""
    refuse_unless(len(part.node.inputs) < 4 or part.node.inputs[3] is None)
    amounts = part.numbers(1)
    refuse_unless(amounts[part.axis] == amounts[part.axis + part.rank] == 0)
    x = part.followed(0, part.axis)
    more = len(x.dims) - 1

    def side(pads: list[int]) -> list[int]:
        return [*pads[: part.axis], *[0] * (more + 1), *pads[part.axis + 1 :]]

    new = side(amounts[: part.rank]) + side(amounts[part.rank :])
    rest = part.operands(2)
    return part.node_of([x, constant(part, np.array(new)), *rest], x.dims)


def taken(part: Part) -> Whole:
    """Gather: of rows along another axis, or rows of a table."""
    table, at = part.input(0), part.input(1)
    shape, indices = part.choice.shape(table), part.choice.shape(at)
    axis = part.integer("axis", 0, len(shape))
    if axis <= part.axis < axis + len(indices):
        x = indices_of(part, 1, part.axis - axis)
        refuse_unless(part.facts.is_nonnegative(shape[axis] - 1))
        return part.node_of([table, part.guarded(x)], x.dims, axis=axis)
    own = part.axis if part.axis < axis else part.axis - len(indices) + 1
    x = part.followed(0, own)
    return part.node_of([x, at], x.dims, axis=shifted(axis, x))


def taken_at(part: Part) -> Whole:
    """GatherND: elements of a table, rows run along an axis of the indices before the last.

    Index 0 is read where no row is chosen, so the table must have one. It is the same for all rows.
    A tuple of one index is read by a Gather.
    """
    table, at = part.input(0), part.input(1)
    shape, indices = part.choice.shape_as_is(table), part.choice.shape(at)
    last = len(indices) - 1
    refuse_unless(part.attribute("batch_dims", 0) == 0 and part.axis < last)
    length = granted(indices[last].constant)
    x, facts = indices_of(part, 1, part.axis), part.facts
    rows = part.sizes(x.dims)
    for n in shape[:length]:  # as many as rows: if there are none, no index is read
        refuse_unless(facts.is_nonnegative(n - 1) or any(facts.equal(n, m) for m in rows))
    if length > 1:
        return part.node_of([table, part.guarded(x)], x.dims)
    x = x.moved(range(len(x.order) - 1), x.axis)

    def make(made: list[ir.Value]) -> ir.Value:
        return part.context.writer.node("Gather", [table, made[0]], part.dtype, axis=0)

    return part.whole(make, [part.guarded(x)], x.dims)


def taken_along(part: Part) -> Whole:
    """GatherElements: along another axis than that of the rows, which both have."""
    axis = part.integer("axis", 0, part.rank)
    refuse_unless(axis != part.axis)
    source, at = part.input(0), part.input(1)
    both = [part.choice.shape(v)[part.axis] for v in (source, at)]
    refuse_unless(part.facts.equal(*both))
    refuse_unless(part.facts.is_nonnegative(part.choice.shape(source)[axis] - 1))
    x, i = part.together(part.followed(0, part.axis), part.followed(1, part.axis))
    return part.node_of([x, part.guarded(i)], x.dims, axis=shifted(axis, x))


def top_elements(part: Part) -> Whole:
    """TopK: any axis but that which is sorted."""
    axis = part.integer("axis", -1, part.rank)
    refuse_unless(axis != part.axis and bool(part.attribute("sorted", 1)))
    x = part.followed(0, part.axis)
    largest, place = bool(part.attribute("largest", 1)), shifted(axis, x)
    at = list(part.node.outputs).index(part.value)
    count, context = part.input(1), part.context

    def make(made: list[ir.Value]) -> ir.Value:
        return context.numbers.top(made[0], x.dtype, count, place, largest=largest)[at]

    return part.whole(make, [x], x.dims)
