"""Transfer functions of operators whose numbers are not followed, and of NonZero and TopK.

ONNX's own shape inference says the same of many, but takes a hundred times as long for each node.

The positions are known only at run time. They count from the start, so they are not negative. The
first row of those of NonZero never decreases, and neither do the least values that TopK sorts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.broadcast_shapes import broadcast_shapes
from onnx_scatterx.engine.analysis.domain.call import Call, Result, require, required
from onnx_scatterx.engine.analysis.domain.tensor import ElementOf, TensorValue
from onnx_scatterx.engine.terms import (
    Elements,
    Term,
    coord,
    element,
    equals,
    step,
    term,
    where,
)
from onnx_scatterx.operators import described, those


def same_shape(call: Call) -> Result:
    """Return a tensor of the first input's shape; a second output is left to ONNX."""
    x = call.known(0)
    require(len(call.node.outputs) == 1)
    return [TensorValue(ir.DataType.BOOL if described(call.node).tests else x.dtype, x.shape)]


def broadcast(call: Call) -> Result:
    """Return a tensor of the first input's type, in the shape of both inputs together.

    ONNX Runtime's PRelu broadcasts x to the slope as well, not only the slope to x. A SwiGLU has
    inputs of one shape, but ends in a Mul by its definition.
    """
    first, second = call.known(0), call.known(1)
    return [TensorValue(first.dtype, broadcast_shapes([first.dims, second.dims]))]


def group_normalization(call: Call) -> Result:
    """Return a tensor of the first input's shape.

    ONNX Runtime runs a definition. If there are no channels, it broadcasts them to the scale.
    """
    x = call.known(0, 2)
    kept = call.facts.is_nonnegative(x.dims[1] - 1)
    return [TensorValue(x.dtype, x.dims if kept else call.unknown_shape(len(x.dims)))]


OF_SHAPES: dict[str, Callable[[Call], Result]] = {
    **dict.fromkeys(those(lambda row: row.same_shape), same_shape),
    **dict.fromkeys(("Pow", "SwiGLU"), broadcast),
    "GroupNormalization": group_normalization,
}
"""The operators of this file."""


def pad(call: Call) -> Result:
    """Transfer the shape of a Pad, and integers behind or in front of which is one constant."""
    x = call.known(0)
    if call.version < 11:
        amounts = [term(i) for i in call.integers("pads") or []]
    else:
        widths = call.input(1)
        vector = None if widths is None else widths.vector()
        if vector is None:
            return [TensorValue(x.dtype, call.unknown_shape(len(x.dims)))]
        amounts = vector
    axes = list(range(len(x.dims)))
    named = call.input(3) if call.version >= 18 else None
    if named is not None:
        if named.constant is None:
            return [TensorValue(x.dtype, call.unknown_shape(len(x.dims)))]
        axes = [int(a) % len(x.dims) for a in named.constant.ravel().tolist()]
    result = list(x.dims)
    for i, axis in enumerate(axes):
        result[axis] = result[axis] + amounts[i] + amounts[i + len(axes)]
    return [TensorValue(x.dtype, tuple(result), _padded(call, x, axes, amounts))]


def _padded(call: Call, x: TensorValue, axes: Sequence[int], amounts: list[Term]) -> Term | None:
    """Return the elements of a Pad of integers by a constant, along one axis.

    Element ``i`` is ``x[i - before]`` if this lies within ``x``, and the constant otherwise.
    """
    fill = call.input(2) if call.version >= 11 else None
    number = term(0) if fill is None else fill.scalar
    plain = call.version >= 11 and call.string("mode", "constant") == "constant"
    pairs = {d: amounts[i :: len(axes)] for i, d in enumerate(axes)}
    known = {d: [n.constant for n in pair] for d, pair in pairs.items()}
    padded = [d for d, pair in known.items() if pair != [0, 0]]
    if x.index_map is None or number is None or not plain or len(padded) != 1:
        return None
    if len(amounts) != 2 * len(axes):
        return None
    (axis,) = padded
    before, behind = known[axis]
    if before is None or behind is None or min(before, behind) < 0 or len(pairs) != len(axes):
        return None
    at = coord(axis) - before
    inside = step(at) if behind == 0 else step(at) - step(at - x.dims[axis])
    return where(inside, x.index_map.at({axis: at}), number)


_SCALES, _SIZES = 2, 3  # the places of the inputs since operator set 11


def resize(call: Call) -> Result:
    """Sizes become the dims of their axes, and a scale of float32 is multiplied in float32.

    If the aspect ratio of an image is kept, the result's sizes differ from the given ones. A region
    of interest may change the effect of scales.
    """
    x = call.known(0)
    policy = call.string("keep_aspect_ratio_policy", "stretch")
    mode = call.string("coordinate_transformation_mode", "half_pixel")
    require(call.version >= 11, policy == "stretch", mode != "tf_crop_and_resize")
    rank = len(x.dims)
    axes = [a + rank * (a < 0) for a in call.integers("axes") or range(rank)]
    by_scales, extents = call.input(_SCALES), list[Term | None]()
    if by_scales is None or by_scales.static_shape == (0,):
        extents += call.vector(_SIZES)
    else:
        extents += _scaled(by_scales, [x.dims[a] for a in axes])
    shape, unknown = list(x.dims), call.unknown_shape(rank)
    for axis, extent in zip(axes, extents, strict=True):
        shape[axis] = unknown[axis] if extent is None else extent
    return [TensorValue(x.dtype, tuple(shape))]


def _scaled(scales: TensorValue, extents: list[Term]) -> list[Term | None]:
    """Return the dims of these extents under known scales, None for the others."""
    known = required(scales.constant)
    require(known.size == len(extents), np.isfinite(known).all())
    return [
        None if n.constant is None else term(int(np.float32(scale) * np.float32(n.constant)))
        for scale, n in zip(known.ravel(), extents, strict=True)
    ]


def non_zero(call: Call) -> Result:
    x = call.known(0)
    if x.constant is not None:
        # A scalar counts as one dim.
        return [TensorValue.of(np.array(np.nonzero(np.atleast_1d(x.constant)), dtype=np.int64))]
    rank = max(len(x.dims), 1)
    content = x.content.constant if isinstance(x.content, Term) else _all_or_none(x)
    if content is None or not x.dims:
        count = _promised_count(call, x)
        if rank == 1:
            source = ElementOf(call.scope, call.node.outputs[0])
            call.facts.learn_elements(source, Elements(distinct=True))
        return [TensorValue(ir.DataType.INT64, (term(rank), count), position_of(call, 0, 2))]
    # All or nothing: row d of the result is the d-th digit of the flat position.
    total = math.prod(x.dims, start=term(1)) if content else term(0)
    rows, flat, which = term(0), coord(1), coord(0)
    for d in range(rank):
        stride = math.prod(x.dims[d + 1 :], start=term(1))
        digit = flat // stride
        digit = digit % x.dims[d] if d else digit
        rows = rows + digit * (equals(which, d) if rank > 1 else 1)
    return [TensorValue(ir.DataType.INT64, (term(rank), total), rows)]


def _all_or_none(x: TensorValue) -> int | None:
    """Return 1 if all elements are promised not to be 0, and 0 if all are promised to be 0."""
    count = None if x.chosen is None else x.chosen.number
    if count is None:
        return None
    left = math.prod(x.dims, start=term(1)) - count
    return 1 if left.constant == 0 else 0 if count.constant == 0 else None


def _promised_count(call: Call, x: TensorValue) -> Term:
    """Return how many elements of a tensor are not 0, by a promise; without one, any number."""
    said = x.chosen
    if said is not None and said.number is not None:
        return said.number
    count = call.unknown_size(1)
    if said is not None and said.most is not None:
        call.facts.assume([said.most - count])
    return count


def position_of(call: Call, output: int, rank: int, size: int | None = None) -> Term:
    """Return the elements of an output that holds positions: they count from the start."""
    value = call.node.outputs[output]
    coords = [coord(d) for d in range(rank)]
    high = float("inf") if size is None else max(size - 1, 0)
    return element(ElementOf(call.scope, value), coords, name=value.name or "?", low=0, high=high)


def top_k(call: Call) -> Result:
    """Transfer a TopK: its shapes, and its second output as positions."""
    x = call.known(0, 1)
    axis = call.integer("axis", -1) % len(x.dims)
    if call.version < 10:
        count: Term | None = term(call.integer("k", 0))
    else:
        wanted = call.input(1)
        count = None if wanted is None else wanted.scalar
    if count is None:
        count = call.unknown_size(axis)
    shape_ = tuple(count if d == axis else n for d, n in enumerate(x.dims))
    at = position_of(call, 1, len(shape_), x.dims[axis].constant)
    values = TensorValue(x.dtype, shape_, _chosen(call, x, axis))
    return [values, TensorValue(ir.DataType.INT64, shape_, at)]


def _chosen(call: Call, x: TensorValue, axis: int) -> Term | None:
    """Return the values that a TopK takes: integers between the least and the greatest."""
    if not x.is_integer or x.index_map is None or x.shape is None:
        return None
    value = call.node.outputs[0]
    source, (low, high) = ElementOf(call.scope, value), x.index_map.interval()
    coords = [coord(d) for d in range(len(x.shape))]
    return element(source, coords, name=value.name or "?", low=low, high=high)
