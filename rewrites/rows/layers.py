"""All rows of layers: normalizations, reductions, convolutions, quantizers.

    Softmax<axis=1>(x[m])      Softmax<axis=2>(x)         if m has two dims

If an operator takes one axis of rows only, as Conv does, several dims of the mask are flattened
before it.
"""

from __future__ import annotations

import math

import numpy as np

from onnx_scatterx.engine.rules import (
    Shape,
    Term,
    described,
    refuse_unless,
    term,
)
from onnx_scatterx.rewrites.rows.arithmetic import work_of_row
from onnx_scatterx.rewrites.rows.part import (
    Part,
    constant,
    indices_of,
    shifted,
)
from onnx_scatterx.rewrites.rows.whole import Whole

_BLOCK = 128  # products that ONNX Runtime adds up in one block, whatever threads do
_ALIGNED = 16  # elements that fill the widest register, or a multiple of it


def batch(part: Part) -> Whole:
    """Conv, pools: each element of the batch alone."""
    refuse_unless(part.axis == 0 and part.value is part.node.outputs[0])
    if part.node.op_type.endswith("Pool"):  # ONNX Runtime: "Only N can be zero."
        sizes = part.choice.shape(part.input(0))[1:]
        refuse_unless(all(part.facts.is_nonnegative(n - 1) for n in sizes))
    x = part.flattened(part.followed(0, 0))
    work: Term | None = None
    if part.node.op_type == "Conv":
        weights = part.choice.shape(part.input(1))
        inner = math.prod(weights[1:], start=term(1))
        # ONNX Runtime does not end with rows and an empty kernel.
        refuse_unless(all(part.facts.is_nonnegative(n - 1) for n in weights))
        refuse_unless(part.context.last_bits or (inner.constant or _BLOCK + 1) <= _BLOCK)
        work = work_of_row(part, inner)
    return part.unflattened(part.of(x, work=work))


def regions(part: Part) -> Whole:
    """RoiAlign: each region alone; the maps are the same for all.

    ONNX Runtime refuses regions that are not finite. Of empty maps it takes no region at all.
    """
    refuse_unless(part.axis == 0)
    maps = part.choice.shape_as_is(part.input(0))
    refuse_unless(all(part.facts.is_nonnegative(n - 1) for n in maps))
    boxes, batch = part.followed(1, 0), indices_of(part, 2, 0)
    refuse_unless(boxes.dims == batch.dims)
    flat = [part.flattened(part.guarded(x)) for x in (boxes, batch)]
    return part.unflattened(part.node_of([part.input(0), *flat], boxes.dims))


def sampled(part: Part) -> Whole:
    """GridSample: each map with the grid of its row; a position that is no number is not read."""
    refuse_unless(part.axis == 0)
    maps, grids = part.together(part.followed(0, 0), part.followed(1, 0))
    flat = [part.flattened(x) for x in (maps, part.guarded(grids))]
    return part.unflattened(part.node_of(flat, maps.dims))


def before(part: Part) -> Whole:
    """LayerNormalization: the axes before ``axis``."""
    refuse_unless(part.value is part.node.outputs[0])
    axis = part.integer("axis", -1, part.rank)
    refuse_unless(part.axis < axis)
    x = part.followed(0, part.axis)
    refuse_unless(all(len(part.choice.shape(v)) <= part.rank - axis for v in part.operands(1)))
    return part.of(x, axis=axis - part.rank)


def apart(part: Part) -> Whole:
    """Softmax: any axis but ``axis``."""
    coerces = part.context.writer.version < 13 and part.node.op_type != "LpNormalization"
    axis = part.integer("axis", 1 if coerces else -1, part.rank)
    refuse_unless(part.axis < axis if coerces else part.axis != axis)
    x = part.followed(0, part.axis)
    return part.of(x, axis=shifted(axis, x))


def running(part: Part) -> Whole:
    """CumSum: any axis but that which is summed."""
    (number,) = part.numbers(1)
    axis = number % part.rank
    refuse_unless(part.axis != axis)
    x = part.followed(0, part.axis)
    return part.node_of([x, constant(part, np.array(shifted(axis, x)))], x.dims)


def reduced(part: Part) -> Whole:
    """Reductions: the axes that are left."""
    source = part.choice.shape(part.input(0))
    rank, keeps = len(source), bool(part.attribute("keepdims", 1))
    if part.node.op_type in ("ArgMax", "ArgMin"):
        axes, by_input = [part.integer("axis", 0, rank)], False
    else:
        by_input = len(part.node.inputs) > 1 and part.node.inputs[1] is not None
        listed = part.numbers(1) if by_input else part.attribute("axes", ())
        axes = sorted(int(d) % rank for d in listed)
    refuse_unless(axes)
    # A reduction of no elements may fail, if there are rows.
    refuse_unless(all(part.facts.is_nonnegative(source[d] - 1) for d in axes))
    left = [d for d in range(rank) if d not in axes]
    axis = part.axis if keeps else left[part.axis]
    refuse_unless(axis not in axes)
    if described(part.node).aligned and part.dtype.is_floating_point():
        refuse_unless(part.context.last_bits or _is_aligned(source, axes))
    x = part.followed(0, axis)
    new = [shifted(d, x) for d in axes]
    if part.node.op_type in ("ArgMax", "ArgMin"):
        return part.node_of([x], x.dims, axis=new[0])
    if by_input:
        return part.node_of([x, constant(part, np.array(new))], x.dims)
    return part.node_of([x], x.dims, axes=new)


def _is_aligned(shape: Shape, axes: list[int]) -> bool:
    """Return whether what is reduced stands side by side, from where the memory is aligned."""
    count = math.prod((shape[d] for d in axes), start=term(1)).constant
    is_last = axes == [*range(len(shape) - len(axes), len(shape))]
    return count == 1 or (is_last and count is not None and count % _ALIGNED == 0)


def quantized(part: Part) -> Whole:
    """Quantizers: scales are numbers, or run along another axis."""
    source = part.input(0)
    rank = len(part.choice.shape(source))
    axis = part.integer("axis", 1, rank)
    single = all(part.choice.shape(v) in ((), (term(1),)) for v in part.operands(1))
    refuse_unless(not part.attribute("block_size", 0) and (single or axis != part.axis))
    x = part.followed(0, part.axis)
    return part.of(x) if single else part.of(x, axis=shifted(axis, x))


def one_hot(part: Part) -> Whole:
    """OneHot: a new axis behind or between those of the indices."""
    axis = part.integer("axis", -1, part.rank)
    refuse_unless(part.axis != axis)
    x = part.followed(0, part.axis - (axis < part.axis))
    place = axis if axis < part.axis else axis + len(x.dims) - 1
    return part.of(x, axis=place)
